import { describe, expect, test } from 'vitest'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DueDelivery } from './due-store.ts'
import { idsOfDeliveries, selectDeliveries } from './selection.ts'

const CAPACITY = 80
/** Recipients without history may take three quarters of the capacity. */
const PLACES = 60
const WINDOW = 256

function candidate(number: number, over: Partial<DueDelivery> = {}): DueDelivery {
  return {
    id: `id ${number}`,
    recipientId: number,
    partitionKey: `host ${number}`,
    orderKey: `key ${number}`,
    urgency: 1,
    firedAt: new Date(number),
    position: 0,
    backlog: false,
    ...over,
  }
}

const window = Array.from({ length: WINDOW }, (_, number) => candidate(number))

/** Ids that a process with nothing in progress takes. */
function choose(
  front: readonly DueDelivery[],
  {
    areOthersClaiming = false,
    newest = [],
  }: { readonly areOthersClaiming?: boolean; readonly newest?: readonly DueDelivery[] } = {},
): readonly string[] {
  const limits = { capacity: CAPACITY, initialLimit: 8, limitMax: PLACES }
  const options = {
    limiter: createConcurrencyLimiter(limits),
    claimedIds: new Set<string>(),
    isSentSeparately: true,
  }
  return idsOfDeliveries(
    selectDeliveries({ front, newest, backlog: [] }, { ...options, areOthersClaiming }).selected,
  )
}

describe('a process that claims alone', () => {
  test('takes the oldest deliveries', () => {
    expect(choose(window)).toEqual(idsOfDeliveries(window.slice(0, PLACES)))
  })

  test('takes the newest of a long queue with a part of its places, and the oldest with the others', () => {
    const newest = Array.from({ length: PLACES }, (_, number) => candidate(WINDOW + number))
    const chosen = choose(window, { newest })
    const ofNewest = chosen.filter((id) => idsOfDeliveries(newest).includes(id))
    expect(ofNewest).toEqual(idsOfDeliveries(newest.slice(0, CAPACITY / 4)))
    expect(chosen).toHaveLength(PLACES)
    expect(chosen.slice(ofNewest.length)).toEqual(
      idsOfDeliveries(window.slice(0, PLACES - ofNewest.length)),
    )
  })
})

describe('processes that claim at the same time', () => {
  test('choose different ones of the deliveries that all of them read', () => {
    const chosen = [1, 2, 3, 4].map(() => choose(window, { areOthersClaiming: true }))
    expect(chosen.map(({ length }) => length)).toEqual([PLACES, PLACES, PLACES, PLACES])
    // By chance 168; without the order at random 64.
    expect(new Set(chosen.flat()).size).toBeGreaterThan(2 * PLACES)
  })

  test('take the most urgent ones first', () => {
    const urgent = Array.from({ length: 10 }, (_, number) =>
      candidate(WINDOW + number, { urgency: 2 }),
    )
    const chosen = choose([...window, ...urgent], { areOthersClaiming: true })
    expect(chosen.slice(0, 10).toSorted()).toEqual(idsOfDeliveries(urgent).toSorted())
  })

  test('take one of each recipient before the second of another', () => {
    const few = window.slice(0, 20)
    const many = Array.from({ length: 100 }, (_, number) =>
      candidate(WINDOW + number, { recipientId: WINDOW, partitionKey: 'flood' }),
    )
    const chosen = choose([...many, ...few], { areOthersClaiming: true })
    expect(chosen.slice(0, 21)).toEqual(expect.arrayContaining([...idsOfDeliveries(few)]))
  })

  test('take only the first delivery of a key', () => {
    const keyed = window.map((candidate, number) => ({
      ...candidate,
      orderKey: `key ${number % 8}`,
    }))
    const chosen = choose(keyed, { areOthersClaiming: true })
    expect(chosen.toSorted()).toEqual(idsOfDeliveries(keyed.slice(0, 8)).toSorted())
  })
})
