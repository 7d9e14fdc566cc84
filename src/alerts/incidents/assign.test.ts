import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Severity } from '#src/kernel/display-values.ts'
import { findEventSource } from '#src/watches/events.ts'
import { runs } from '../../../test/support/runs.ts'
import { assignIncidents, type FiredPart, type OpenPart } from './assign.ts'
import { causeOf } from './cause.ts'

const COMMIT = 'fsp.ftso-commit'
const BITVOTE = 'fsp.fdc-bitvote'
const LOW = 'fsp.balance-low'
const FAILED = 'fsp.tx-failed'
const over = (event: string) => `${event}.recovered`

function fired(event: string, position: number, more: Partial<FiredPart> = {}): FiredPart {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const { signal, isRecovery } = source
  const about = { watchId: 1, signal: signal.id, group: signal.group, event, data: {} }
  return { ...about, severity: 'warning', position, isRecovery, ...more }
}

/** Numbers the incidents of firings in the order in which they appear, above those that are stored. */
function numbered(all: readonly FiredPart[], open: readonly OpenPart[] = []): readonly number[] {
  const places = assignIncidents(all, open)
  const known = new Map<unknown, number>()
  return all.map((part) => {
    const incident = places.get(part)?.incident
    if (incident === undefined) throw new Error('a firing without an incident')
    if (incident.id !== undefined) return incident.id
    known.set(incident, known.get(incident) ?? 100 + known.size)
    return known.get(incident) ?? 0
  })
}

describe('an alert', () => {
  test('joins the incident of its watch and cause until the last recovery', () => {
    const course = [
      fired(COMMIT, 1),
      fired(BITVOTE, 2),
      fired(COMMIT, 3, { severity: 'critical' }),
      fired(over(COMMIT), 4),
      fired(FAILED, 5),
      fired(over(BITVOTE), 6),
      fired(over(FAILED), 7),
      fired(COMMIT, 8),
    ]
    expect(numbered(course)).toEqual([100, 100, 100, 100, 100, 100, 100, 101])
  })

  test('joins the stored incident that is open', () => {
    const open = [{ ...fired(COMMIT, 1), incidentId: 31 }]
    expect(numbered([fired(BITVOTE, 2), fired(over(COMMIT), 3)], open)).toEqual([31, 31])
  })

  test('of another cause or watch opens another incident', () => {
    const course = [fired(COMMIT, 1), fired(LOW, 1), fired(COMMIT, 1, { watchId: 2 })]
    expect(numbered(course)).toEqual([100, 101, 102])
  })

  test('that nothing ends shares the incident of its observation only', () => {
    const moved = 'wallet-balance.moved'
    expect(numbered([fired(moved, 1), fired(moved, 1), fired(moved, 2)])).toEqual([100, 100, 101])
  })

  test('that begins again although it never recovered opens another incident', () => {
    const open = [{ ...fired(COMMIT, 1), incidentId: 31 }]
    expect(numbered([fired(COMMIT, 9)], open)).toEqual([100])
  })

  test('of an observation that is judged again stays in its incident', () => {
    const stored = [fired(COMMIT, 1), fired(BITVOTE, 1)]
    const open = stored.map((part) => ({ ...part, incidentId: 31 }))
    expect(numbered(stored, open)).toEqual([31, 31])
  })
})

test('whatever fires in whatever order: an incident has one watch and cause, and its alerts overlap', () => {
  const events = [COMMIT, BITVOTE, LOW, over(COMMIT), over(BITVOTE), over(LOW)]
  const step = fc.record({
    event: fc.constantFrom(...events),
    watchId: fc.constantFrom(1, 2),
    severity: fc.constantFrom<Severity>('warning', 'critical'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(40), (steps, cut) => {
      const all = steps.map(({ event, ...more }, index) => fired(event, index + 1, more))
      const numbers = numbered(all)
      const open = new Map<string, Set<string>>()
      const last = new Map<string, number>()
      for (const [index, part] of all.entries()) {
        const key = `${part.watchId} ${causeOf(part)}`
        const others = open.get(key) ?? new Set()
        const isFirst = others.size === 0 || (others.size === 1 && others.has(`${part.signal}`))
        // It continues while another alert of the cause is open.
        if (!isFirst) expect(numbers[index]).toBe(last.get(key))
        if (part.isRecovery) others.delete(`${part.signal}`)
        else others.add(`${part.signal}`)
        open.set(key, others)
        last.set(key, numbers[index] ?? 0)
      }
      const keys = Map.groupBy(all.keys(), (index) => numbers[index])
      for (const indexes of keys.values()) {
        const parts = indexes.map((index) => all[index]).filter((part) => part !== undefined)
        expect(new Set(parts.map((part) => `${part.watchId} ${causeOf(part)}`)).size).toBe(1)
      }
      // What is recorded in two transactions is numbered as in one.
      const before = all.slice(0, cut)
      expect(numbered(all).slice(0, before.length)).toEqual(numbered(before))
    }),
    { numRuns: runs(400) },
  )
})
