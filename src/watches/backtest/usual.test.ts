import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import type { BacktestOutcome, Backtests, PastIncident } from './backtest.ts'
import { createUsualBacktests } from './usual.ts'

const START = new Date('2026-11-20T12:00:00Z')
const provider = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as Address

function outcome(
  alerts: number,
  days: number,
  rest: Partial<BacktestOutcome> = {},
): BacktestOutcome {
  return {
    covered: { from: new Date(START.getTime() - days * 86_400_000), to: START },
    observations: 1,
    counts: { critical: alerts, warning: 0, info: 0, recovery: 9 },
    ...{ perDay: [], incidentCounts: { critical: 0, warning: 0, info: 0 }, incidents: [] },
    ...{ alerts: [], gaps: [] },
    ...rest,
  }
}

/** Results that are given one after the other, and what was asked. */
function world(resultOf: () => BacktestOutcome) {
  let now = START
  let [running, most, asked] = [0, 0, 0]
  const backtests: Backtests = {
    async run() {
      asked += 1
      running += 1
      most = Math.max(most, running)
      await nextTurn()
      running -= 1
      return resultOf()
    },
  }
  const usual = createUsualBacktests({ backtests, clock: { now: () => now }, log: silentLogger })
  const settle = async () => {
    for (let turn = 0; turn < 200; turn += 1) await nextTurn()
  }
  const later = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }
  return { usual, settle, later, counts: () => ({ most, asked }) }
}

test('no reader waits: the first one learns nothing, the next ones the result, which is made once', async () => {
  const { usual, settle, later, counts } = world(() => outcome(3, 7))
  expect(usual.find(provider(1))).toBeUndefined()
  expect(usual.find(provider(1))).toBeUndefined()
  await settle()
  expect(usual.find(provider(1))).toEqual({ alerts: 3, days: 7 })
  expect(counts().asked).toBe(1)
  later(6 * HOUR_MS)
  expect(usual.find(provider(1))).toEqual({ alerts: 3, days: 7 })
  await settle()
  expect(counts().asked).toBe(2)
})

test('providers are replayed one at a time, and no more than twenty wait', async () => {
  const { usual, settle, counts } = world(() => outcome(0, 7))
  for (let n = 1; n <= 50; n += 1) usual.find(provider(n))
  await settle()
  expect(counts()).toEqual({ most: 1, asked: 20 })
})

test('less than a day says nothing, and a failure is tried again', async () => {
  let isFailing = false
  const { usual, settle, counts } = world(() => {
    if (isFailing) throw new Error('the database is away')
    return outcome(1, 0.5)
  })
  usual.find(provider(1))
  await settle()
  expect(usual.find(provider(1))).toBeUndefined()
  isFailing = true
  usual.find(provider(2))
  await settle()
  usual.find(provider(2))
  await settle()
  expect(counts().asked).toBe(3)
})

const incident = (hoursAgo: number): PastIncident => ({
  ...{ severity: 'critical', endedAt: null, parts: [], count: 1 },
  startedAt: new Date(START.getTime() - hoursAgo * HOUR_MS),
})

test('a reader of incidents waits for the first ones, and for new ones after an hour', async () => {
  const incidents = [incident(2)]
  const { usual, later, counts } = world(() => outcome(1, 7, { incidents }))
  expect(await usual.incidents(provider(1))).toEqual(incidents)
  expect(await usual.incidents(provider(1))).toEqual(incidents)
  expect(counts().asked).toBe(1)
  later(HOUR_MS)
  await usual.incidents(provider(1))
  expect(counts().asked).toBe(2)
})

test('an incident that began before the days is left out: its beginning would move with them', async () => {
  const incidents = [incident(2), incident(6 * 24 - 1), incident(6 * 24 + 1), incident(7 * 24)]
  const whole = world(() => outcome(4, 7, { incidents }))
  expect(await whole.usual.incidents(provider(1))).toEqual(incidents.slice(0, 2))
  // The stored rounds begin in the middle of the days, and always with the same one.
  const later = world(() => outcome(4, 7, { incidents, gaps: ['starts_later'] }))
  expect(await later.usual.incidents(provider(1))).toEqual(incidents)
})

test('a failure gives no incidents rather than none', async () => {
  const { usual } = world(() => {
    throw new Error('the database is away')
  })
  expect(await usual.incidents(provider(1))).toBeUndefined()
})
