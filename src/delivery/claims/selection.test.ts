import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { PLACES_PER_LOWER } from '../rules.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DueDelivery } from './head-store.ts'
import { idsOfDeliveries, selectDeliveries } from './selection.ts'

const CAPACITY = 80
/** Recipients without history may take three quarters of the capacity. */
const PLACES = 60

function candidate(number: number, over: Partial<DueDelivery> = {}): DueDelivery {
  return {
    id: `id ${number}`,
    recipientId: number,
    partitionKey: `host ${number}`,
    orderKey: `key ${number}`,
    urgency: 1,
    firedAt: new Date(number),
    position: 0,
    attempts: 0,
    ...over,
  }
}

const many = Array.from({ length: 256 }, (_, number) => candidate(number))

function newLimiter() {
  return createConcurrencyLimiter({ capacity: CAPACITY, initialLimit: 8, limitMax: PLACES })
}

/** What a process with nothing in progress selects. */
function select(due: readonly DueDelivery[], limiter = newLimiter()) {
  const state = { claimedIds: new Set<string>(), isSentSeparately: true, placesGiven: 0 }
  return selectDeliveries(due, { limiter, ...state })
}

const chosenOf = (due: readonly DueDelivery[]) => idsOfDeliveries(select(due).selected)

describe('a selection', () => {
  test('takes deliveries in the order in which they were read, as far as there are places', () => {
    expect(chosenOf(many)).toEqual(idsOfDeliveries(many.slice(0, PLACES)))
    expect(select(many).isSomeLeft).toBe(true)
    expect(select(many.slice(0, PLACES)).isSomeLeft).toBe(false)
  })

  test('takes the most urgent ones first', () => {
    const urgent = Array.from({ length: 10 }, (_, number) =>
      candidate(300 + number, { urgency: 2 }),
    )
    const chosen = chosenOf([...many, ...urgent])
    expect(chosen.slice(0, 7)).toEqual(idsOfDeliveries(urgent.slice(0, 7)))
    // The eighth place is for the others.
    expect(chosen.slice(7, 11)).toEqual(['id 0', ...idsOfDeliveries(urgent.slice(7))])
  })

  test('gives each urgency places while others last, however few are free at a time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 2, max: 12 }), { minLength: 60, maxLength: 60 }),
        fc.uniqueArray(fc.constantFrom(0, 1, 2), { minLength: 2, maxLength: 3 }),
        (places, urgencies) => {
          const given = new Map<number, number>(urgencies.map((urgency) => [urgency, 0]))
          let placesGiven = 0
          for (const capacity of places) {
            const due = urgencies.flatMap((urgency) =>
              Array.from({ length: 20 }, (_, n) => candidate(100 * urgency + n, { urgency })),
            )
            const limiter = createConcurrencyLimiter({ capacity, initialLimit: 8, limitMax: 8 })
            const state = { claimedIds: new Set<string>(), isSentSeparately: true, placesGiven }
            const { selected } = selectDeliveries(due, { limiter, ...state })
            for (const { urgency } of selected) given.set(urgency, (given.get(urgency) ?? 0) + 1)
            placesGiven += selected.length
          }
          const least = Math.floor(placesGiven / (PLACES_PER_LOWER * (urgencies.length - 1))) - 1
          expect(Math.min(...given.values())).toBeGreaterThanOrEqual(least)
          expect(given.get(Math.max(...urgencies))).toBeGreaterThan(0.8 * placesGiven)
        },
      ),
      { numRuns: runs(30) },
    )
  })

  test('takes one of each recipient before the second of another', () => {
    const flood = Array.from({ length: 100 }, (_, number) =>
      candidate(300 + number, { recipientId: 300, partitionKey: 'flood' }),
    )
    const few = many.slice(0, 20)
    expect(chosenOf([...flood, ...few]).slice(0, 21)).toEqual(
      expect.arrayContaining([...idsOfDeliveries(few)]),
    )
  })

  test('takes only the first delivery of a key', () => {
    const keyed = many.map((delivery, number) => ({ ...delivery, orderKey: `key ${number % 8}` }))
    expect(chosenOf(keyed).toSorted()).toEqual(idsOfDeliveries(keyed.slice(0, 8)).toSorted())
    expect(select(keyed).behind).toHaveLength(keyed.length - 8)
  })

  test('names the recipients that get none of the places that are left for others', () => {
    const { selected, refused } = select(many)
    const chosen = new Set(selected.map(({ recipientId }) => recipientId))
    const others = many.map(({ recipientId }) => recipientId).filter((id) => !chosen.has(id))
    expect([...refused]).toEqual(others)
  })

  test('tries nothing new of a recipient that pauses, but what was tried before', () => {
    const limiter = newLimiter()
    const { recipientId, partitionKey } = candidate(1)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      limiter.acquire({ recipientId, partitionKey, wasTried: false }).release('none')
    }
    const due = [candidate(1), candidate(2, { recipientId, attempts: 1 })]
    expect(idsOfDeliveries(select(due, limiter).selected)).toEqual(['id 2'])
    expect(idsOfDeliveries(select(due.slice(0, 1), limiter).selected)).toEqual([])
  })
})
