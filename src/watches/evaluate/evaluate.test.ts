import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Severity } from '#src/kernel/display-values.ts'
import { defineWatchType } from '../define.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import { defineSignal, type Firing, type Observed } from '../signal.ts'
import { evaluateWatch, foldWatch, startFolding } from './evaluate.ts'

/** A level signal: bad while `level` is above 0, critical above 1; `null` is missing evidence. */
interface Level extends Observed {
  readonly level: number
  /** Start of the outage, where the data says it. */
  readonly since?: string
}

const level = defineSignal<unknown, unknown, Level, { seen: number }>({
  id: 'level',
  group: 'alerts',
  events: { alerts: ['level.bad'], recovery: 'level.good' },
  state: z.object({ seen: z.int() }),
  data: z.object({}),
  initial: { seen: 0 },
  evaluate: (previous, { level, since }) => {
    const severity: Severity = level > 1 ? 'critical' : 'warning'
    const firing: Firing =
      level > 0
        ? { event: 'level.bad', severity, data: since === undefined ? {} : { since } }
        : { event: 'level.good', severity: 'info', data: {} }
    const state = { seen: previous.seen + 1 }
    return { state, phase: level > 0 ? 'firing' : 'ok', firings: [firing] }
  },
  present: () => ({ facts: {}, fields: [] }),
  examples: {},
})

const type = defineWatchType<unknown, unknown, Level>({
  name: 'test',
  target: z.unknown(),
  settings: z.unknown(),
  observation: z.custom<Level>(),
  observe: async () => [],
  check: async () => [],
  defaultLabel: () => 'test',
  form: { icon: '🧪', target: [], settings: [], facts: () => ({}) },
  history: { keeps: 'each', async *read() {} },
  isSame: (a, b) => a.level === b.level,
  signals: [level],
})

const watch: EvaluatedWatch = {
  id: 1,
  wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  label: 'Test',
  settings: {},
  signals: [],
  recipientIds: null,
  minSeverity: 'info',
  cooldownSeconds: 0,
  mutedUntil: null,
  states: [],
}

/** Folds levels, one block and one second each; returns the alerts in order. */
function fold(levels: readonly number[], over: Partial<EvaluatedWatch> = {}, start = 0) {
  let states: readonly StoredState[] = over.states ?? []
  const candidates = levels.flatMap((value, index) => {
    const position = start + index + 1
    const observation = { level: value, position, at: new Date(position * 1000) }
    const outcome = evaluateWatch(type, {}, { ...watch, ...over, states }, observation)
    states = outcome.states
    return outcome.candidates.map(({ event, severity, isNotified }) => ({
      event,
      severity,
      isNotified,
    }))
  })
  return { candidates, states }
}

const events = (levels: readonly number[], over: Partial<EvaluatedWatch> = {}) =>
  fold(levels, over).candidates.map(({ event, severity }) => `${event} ${severity}`)

describe('evaluating a watch', () => {
  test('opens one episode for any number of bad observations', () => {
    expect(events([0, 1, 1, 1])).toEqual(['level.bad warning'])
  })

  test('alerts again inside an episode only when the severity rises', () => {
    expect(events([1, 1, 2, 1, 2])).toEqual(['level.bad warning', 'level.bad critical'])
  })

  test('recovers once, and only after an alert', () => {
    expect(events([0, 0, 1, 0, 0])).toEqual(['level.bad warning', 'level.good info'])
  })

  test('closes an episode without a notification if recoveries are off', () => {
    const signals = [{ id: 'level', recovery: { enabled: false } }]
    expect(fold([1, 0], { signals }).candidates.map(({ isNotified }) => isNotified)).toEqual([
      true,
      false,
    ])
  })

  test('skips signals that are switched off', () => {
    expect(events([1, 2, 0], { signals: [{ id: 'level', enabled: false }] })).toEqual([])
  })

  test('keeps the cooldown between two alerts, and never defers a recovery', () => {
    expect(events([1, 0, 1, 0, 1], { cooldownSeconds: 4 })).toEqual([
      'level.bad warning',
      'level.good info',
      'level.bad warning',
    ])
  })

  test('reports no recovery without an earlier alert', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 })),
        fc.integer({ min: 0, max: 5 }),
        (levels, cooldownSeconds) => {
          let isOpen = false
          for (const { event } of fold(levels, { cooldownSeconds }).candidates) {
            if (event === 'level.good') expect(isOpen).toBe(true)
            isOpen = event === 'level.bad'
          }
        },
      ),
    )
  })

  test('gives equal results with a restart at any point', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 })),
        fc.nat({ max: 20 }),
        fc.integer({ min: 0, max: 5 }),
        (levels, cut, cooldownSeconds) => {
          const whole = fold(levels, { cooldownSeconds })
          const first = fold(levels.slice(0, cut), { cooldownSeconds })
          const second = fold(
            levels.slice(cut),
            { cooldownSeconds, states: first.states },
            Math.min(cut, levels.length),
          )
          expect([...first.candidates, ...second.candidates]).toEqual(whole.candidates)
        },
      ),
    )
  })
})

test('a recovery has the worst severity of its episode, from the state', () => {
  const look = (position: number, states: readonly StoredState[]) =>
    evaluateWatch(type, {}, { ...watch, states }, {
      position,
      at: new Date(position * 1000),
      level: [1, 2, 1, 0][position - 1] ?? 0,
    } as Level)
  let states: readonly StoredState[] = []
  for (const position of [1, 2, 3]) states = look(position, states).states
  expect(look(4, states).candidates).toMatchObject([
    { event: 'level.good', isRecovery: true, episodeSeverity: 'critical' },
  ])
})

test('an open episode counts from the start of its outage, a later alert does not change it', () => {
  let states: readonly StoredState[] = []
  const look = (second: number, seen: Partial<Level>) => {
    const at = new Date(second * 1000)
    const observed = { position: second, at, level: 1, ...seen } as Level
    states = evaluateWatch(type, {}, { ...watch, states }, observed).states
    return states[0]?.since.getTime()
  }
  const since = (second: number) => new Date(second * 1000).toISOString()
  expect(look(400, { since: since(100) })).toBe(100_000)
  expect(look(500, { since: since(100) })).toBe(100_000)
  expect(look(600, { level: 2, since: since(50) })).toBe(100_000)
  expect(look(700, { level: 0 })).toBe(700_000)
  // Not a time, in the future, or missing: the time of the observation.
  for (const [index, wrong] of ['soon', since(9000)].entries()) {
    expect(look(800 + index * 200, { since: wrong })).toBe((800 + index * 200) * 1000)
    expect(look(900 + index * 200, { level: 0 })).toBe((900 + index * 200) * 1000)
  }
  expect(look(1300, {})).toBe(1_300_000)
})

describe('watches that are folded together', () => {
  const observationsOf = (levels: readonly number[], start: number) =>
    levels.map((value, index): Level => {
      const position = start + index + 1
      return { level: value, position, at: new Date(position * 1000) }
    })
  const levels = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 5 })
  const before = fc.record({
    levels,
    cooldownSeconds: fc.constantFrom(0, 2, 60),
    recovers: fc.boolean(),
    enabled: fc.boolean(),
  })

  test('have the outcomes of each folded alone', () => {
    fc.assert(
      fc.property(fc.array(before, { minLength: 2, maxLength: 8 }), levels, (watches, next) => {
        const observations = observationsOf(next, 5)
        const foldTogether = startFolding(type, {}, observations)
        for (const { levels: past, cooldownSeconds, recovers, enabled } of watches) {
          const signals = [{ id: 'level', enabled, recovery: { enabled: recovers } }]
          const over = { cooldownSeconds, signals }
          const changedWatch = { ...watch, ...over, states: fold(past, over).states }
          expect(foldTogether(changedWatch)).toEqual(
            foldWatch(type, {}, changedWatch, observations),
          )
        }
      }),
    )
  })
})
