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

describe('a signal that changes often', () => {
  const MINUTE = 60
  /** A notified change: *bad* or *good* with the second; of an alert also that until which it imposes a cooldown. */
  interface Sent {
    readonly at: number
    readonly event: string
    readonly until: number | undefined
  }

  /**
   * Judges levels from given seconds on, and again at the end of each cooldown that defers an alert, as the service does.
   * `check` is called after each step.
   */
  function live(
    changes: readonly { readonly at: number; readonly level: number }[],
    over: Partial<EvaluatedWatch> = {},
    check: (step: {
      readonly at: number
      readonly level: number
      readonly sent: readonly Sent[]
      readonly recheckAt: Date | null
    }) => void = () => {},
  ): readonly Sent[] {
    const sent: Sent[] = []
    let states: readonly StoredState[] = []
    let recheckAt: Date | null = null
    const judge = (at: number, value: number) => {
      const observation = { level: value, position: at, at: new Date(at * 1000) } as Level
      const outcome = evaluateWatch(type, {}, { ...watch, ...over, states }, observation)
      states = outcome.states
      recheckAt = outcome.recheckAt
      for (const { event, cooldownUntil } of outcome.candidates) {
        sent.push({ at, event, until: cooldownUntil && cooldownUntil.getTime() / 1000 })
      }
      check({ at, level: value, sent, recheckAt })
    }
    for (const [index, { at, level }] of changes.entries()) {
      judge(at, level)
      const next = changes[index + 1]?.at ?? Number.POSITIVE_INFINITY
      for (let end = secondsOf(recheckAt); end < next; end = secondsOf(recheckAt)) judge(end, level)
    }
    return sent
  }
  const secondsOf = (at: Date | null) =>
    at === null ? Number.POSITIVE_INFINITY : at.getTime() / 1000
  /** Changes each minute, from bad to good and back, beginning with bad. */
  const everyMinute = (count: number) =>
    Array.from({ length: count }, (_, minute) => ({ at: minute * MINUTE, level: (minute + 1) % 2 }))
  const minutesOf = (sent: readonly Sent[]) =>
    sent.map(
      ({ at, event, until }) => `${at / MINUTE} ${event}${until ? ` ${until / MINUTE}` : ''}`,
    )

  test('imposes a cooldown of 30 minutes with the alert that follows its fifth change in 30 minutes, and again while it goes on', () => {
    expect(minutesOf(live(everyMinute(80)))).toEqual([
      ...[
        '0 level.bad',
        '1 level.good',
        '2 level.bad',
        '3 level.good',
        '4 level.bad',
        '5 level.good',
      ],
      ...[
        '6 level.bad 36',
        '7 level.good',
        '36 level.bad 66',
        '37 level.good',
        '66 level.bad 96',
        '67 level.good',
      ],
    ])
  })

  test('has no cooldown after five changes in 30 minutes, or six in more', () => {
    const after = (minutes: readonly number[]) =>
      live(minutes.map((minute, index) => ({ at: minute * MINUTE, level: (index + 1) % 2 })))
    for (const minutes of [
      [0, 1, 2, 3, 4, 35],
      [0, 6, 12, 18, 24, 30, 36, 42],
    ]) {
      const sent = after(minutes)
      expect(sent.map(({ at }) => at / MINUTE)).toEqual(minutes)
      expect(sent.every(({ until }) => until === undefined)).toBe(true)
    }
  })

  test('keeps the own cooldown of its watch if that is as long', () => {
    const sent = live(everyMinute(80), { cooldownSeconds: 30 * MINUTE })
    expect(minutesOf(sent)).toEqual([
      ...[
        '0 level.bad',
        '1 level.good',
        '30 level.bad',
        '31 level.good',
        '60 level.bad',
        '61 level.good',
      ],
    ])
  })

  test('that still fires at the end of the cooldown is told then, also if it was bad all the time', () => {
    const sent = live([...everyMinute(8), { at: 9 * MINUTE, level: 1 }])
    expect(minutesOf(sent).slice(-2)).toEqual(['7 level.good', '36 level.bad'])
  })

  test('tells a higher severity of an open alert also in the cooldown', () => {
    const sent = live([...everyMinute(7), { at: 8 * MINUTE, level: 2 }])
    expect(minutesOf(sent).slice(-2)).toEqual(['6 level.bad 36', '8 level.bad'])
  })

  /** Changes after gaps in seconds, beginning with bad. */
  const changesOf = (gaps: readonly number[]) => {
    let at = 0
    return gaps.map((gap, index) => {
      at += gap
      return { at, level: (index + 1) % 2 }
    })
  }
  const gaps = fc.array(fc.integer({ min: 1, max: 20 * MINUTE }), { minLength: 1, maxLength: 60 })

  test('loses no change: what is told is what holds, at once or at the end of the cooldown', () => {
    fc.assert(
      fc.property(gaps, fc.constantFrom(0, 5 * MINUTE), (all, cooldownSeconds) => {
        const changes = changesOf(all)
        const sent = live(changes, { cooldownSeconds }, ({ level, sent, recheckAt, ...step }) => {
          const isTold = sent.at(-1)?.event === 'level.bad'
          // An alert is withheld only until a time at which it is judged again, at most half an hour later.
          if (isTold !== level > 0) {
            expect(level).toBe(1)
            expect(secondsOf(recheckAt)).toBeGreaterThan(step.at)
            expect(secondsOf(recheckAt) - step.at).toBeLessThanOrEqual(30 * MINUTE)
          }
        })
        // Alerts and recoveries alternate, and the last is what holds.
        expect(
          sent.every(({ event }, index) => event === (index % 2 ? 'level.good' : 'level.bad')),
        ).toBe(true)
        expect(sent.at(-1)?.event).toBe(changes.at(-1)?.level === 1 ? 'level.bad' : 'level.good')
        for (const [index, { until = 0 }] of sent.entries()) {
          const next = sent.slice(index + 1).find(({ event }) => event === 'level.bad')
          expect(next?.at ?? until).toBeGreaterThanOrEqual(until)
        }
      }),
    )
  })

  test('tells every change while there are at most five in 30 minutes', () => {
    const slow = fc.array(fc.integer({ min: 6 * MINUTE, max: 20 * MINUTE }), { maxLength: 40 })
    fc.assert(
      fc.property(slow, (all) => {
        const changes = changesOf(all)
        expect(live(changes).map((one) => one.at)).toEqual(changes.map((one) => one.at))
      }),
    )
  })
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
