import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { runs } from '../../../test/support/runs.ts'
import type { WatchType } from '../define.ts'
import { type AlertCandidate, evaluateWatch } from '../evaluate/evaluate.ts'
import type { EvaluatedWatch, StoredState } from '../model.ts'
import type { Observed } from '../signal.ts'
import { getWatchType, REGISTRY } from '../types/index.ts'
import { startReplay } from './replay.ts'

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const START_MS = Date.parse('2026-11-13T00:00:00Z')
const MINUTE_MS = 60_000
/** Number of random histories of each type. */
const HISTORIES = runs(200)

interface Case {
  readonly target: unknown
  readonly settings: unknown
  /** An observation, encoded, without position and time. */
  readonly observation: fc.Arbitrary<object>
}

const time = fc
  .integer({ min: -600, max: 3000 })
  .map((minutes) => new Date(START_MS + minutes * MINUTE_MS).toISOString())
const point = fc.record({
  value: fc.integer({ min: 80, max: 130 }).map(String),
  decimals: fc.constant(2),
})
const vote = fc.record({
  openedAt: fc.option(time),
  concludedAt: fc.option(time),
  isConcluded: fc.boolean(),
  signedAt: fc.option(time),
  firstSignedAt: fc.option(time),
  signedOther: fc.boolean(),
  isKnown: fc.boolean(),
  weightSigned: fc.constant(null),
})
const verdict = fc.record({
  verdict: fc.constantFrom('good', 'good', 'bad', 'unknown', 'not-applicable'),
})

const CASES: Readonly<Record<string, Case>> = {
  'wallet-balance': {
    target: { address: PROVIDER, asset: 'FLR' },
    settings: { threshold: '2', floor: '3', ceiling: '7', daysLeft: 3 },
    observation: fc.record({
      balanceUnits: fc.integer({ min: 0, max: 9 }).map((units) => String(units)),
      symbol: fc.constant('FLR'),
      decimals: fc.constant(0),
      movement: fc.constant(null),
    }),
  },
  'feed-move': {
    target: { feed: 'FLR/USD' },
    settings: { percent: 5, windowSeconds: 600, below: '0.9', above: '1.2' },
    observation: fc.record({
      feed: fc.constant('FLR/USD'),
      feedId: fc.constant('0x01464c522f55534400000000000000000000000000'),
      price: point,
      updatedAt: time,
      oldest: fc.record({ value: fc.constant('100'), decimals: fc.constant(2), at: time }),
    }),
  },
  'provider-eligibility': {
    target: { provider: PROVIDER },
    settings: {},
    observation: fc.record({
      provider: fc.constant(PROVIDER),
      name: fc.constant(null),
      rewardEpochId: fc.constant(453),
      registered: fc.boolean(),
      eligible: fc.option(fc.boolean()),
      eligibilityEpochId: fc.constant(451),
      passes: fc.constant(2),
      failures: fc.constant([]),
    }),
  },
  'credits-balance': {
    target: {},
    settings: { limit: 500 },
    observation: fc.record({
      entry: fc.nat(),
      balanceCredits: fc.integer({ min: 0, max: 1000 }),
      nextRenewal: fc.constant(null),
    }),
  },
  'reward-signing': {
    target: { provider: PROVIDER },
    settings: {},
    observation: fc.record({
      provider: fc.constant(PROVIDER),
      rewardEpochId: fc.constant(453),
      epochs: fc.array(
        fc.record({
          rewardEpochId: fc.constantFrom(451, 452),
          endedAt: time,
          publishedAt: fc.option(time),
          uptime: vote,
          rewards: vote,
        }),
        { maxLength: 2 },
      ),
    }),
  },
  'provider-fsp': {
    target: { provider: PROVIDER },
    settings: {},
    observation: fc.record({
      provider: fc.constant(PROVIDER),
      round: fc.nat({ max: 1_000_000 }),
      startsAt: fc.constant(START_MS / 1000),
      rewardEpoch: fc.constant(453),
      addresses: fc.constant(null),
      checks: fc.option(
        fc.record(Object.fromEntries(ROUND_CHECKS.map((check) => [check, verdict]))),
      ),
      anchors: fc.constant({ hits: 3, possible: 4 }),
      epoch: fc.record({
        ...{ firstRound: fc.constant(0), endRound: fc.constant(1_000_000) },
        judged: fc.constant(1000),
        anchors: fc.record({
          done: fc.integer({ min: 600, max: 1000 }),
          ...{ possible: fc.constant(1000), rounds: fc.constantFrom(500, 1000, 500_000) },
        }),
        fdc: fc.record({
          done: fc.integer({ min: 300, max: 1000 }),
          ...{ possible: fc.constant(1000), rounds: fc.constantFrom(1000, 1_000_000) },
        }),
        updates: fc.integer({ min: 6000, max: 11_000 }),
        ...{ updatesOfAll: fc.constant(500_000), weightShare: fc.constant(0.02) },
      }),
      policy: fc.constant(null),
      registration: fc.constant(null),
      fastUpdates: fc.constant(null),
      transactions: fc.constant([]),
      balances: fc.option(
        fc.tuple(
          fc.record({
            role: fc.constant('submit'),
            address: fc.constant(PROVIDER),
            balanceWei: fc.constantFrom('1', '900000000000000000000'),
          }),
        ),
      ),
      nodes: fc.constant(null),
      rewards: fc.constant(null),
      earnings: fc.option(
        fc.record({
          roundsPerEpoch: fc.constant(3360),
          newest: fc.constantFrom(null, { rewardEpoch: 452, amountWei: '7', weightRatio: null }),
        }),
      ),
    }),
  },
}

/** A wallet with two assets of changing value. */
const ALL_ASSETS: Case = {
  target: { address: PROVIDER, asset: '*' },
  settings: { threshold: '3', floor: '5', ceiling: '16' },
  observation: fc
    .record({
      first: fc.nat({ max: 9 }),
      second: fc.nat({ max: 9 }),
      cents: fc.constantFrom(99, 100, 101),
    })
    .map(({ first, second, cents }) => ({
      balanceUnits: String(first * cents + second * 100),
      ...{ symbol: 'USD', decimals: 2, movement: null },
      holdings: [
        { units: first, asset: 'FLR', price: cents },
        { units: second, asset: PROVIDER, price: 100 },
      ].map(({ units, asset, price }) => ({
        ...{ asset, symbol: 'S', decimals: 0, balanceUnits: String(units), movement: null },
        usdPrice: { value: String(price), decimals: 2 },
      })),
    })),
}

/** A random history, a cooldown, and how many observations the replay takes at a time. */
function historyOf({ observation }: Case, type: WatchType) {
  const step = fc.record({
    seen: observation,
    // Ticks are a minute apart, and so is the end of every cooldown.
    minutes: fc.integer({ min: 1, max: 90 }),
  })
  return fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 60 }).map((steps) => {
      let ms = START_MS
      return steps.map(({ seen, minutes }, index) => {
        ms += minutes * MINUTE_MS
        const at = new Date(ms).toISOString()
        return z.decode(type.observation, { ...seen, position: index + 1, at } as never)
      })
    }),
    cooldownSeconds: fc.constantFrom(0, 600, 7200),
    chunk: fc.integer({ min: 1, max: 60 }),
    tailMinutes: fc.integer({ min: 0, max: 200 }),
  })
}

/**
 * The live path: one observation at a time, with states that went through the database as JSON. Between
 * changes it looks again every minute at a watch whose cooldown is over.
 */
function live(
  type: WatchType,
  target: unknown,
  watch: EvaluatedWatch,
  steps: readonly Observed[],
  end: number,
) {
  const candidates: AlertCandidate[] = []
  let states: readonly StoredState[] = []
  let recheckAt: Date | null = null
  let position = 0
  const judge = (observation: Observed) => {
    position += 1
    const stored = states.map((state) => ({
      ...state,
      state: JSON.parse(JSON.stringify(state.state)),
    }))
    const outcome = evaluateWatch(
      type,
      target,
      { ...watch, states: stored },
      { ...observation, position },
    )
    states = outcome.states
    recheckAt = outcome.recheckAt
    candidates.push(...outcome.candidates)
  }
  for (const [index, observation] of steps.entries()) {
    judge(observation)
    if (type.history.keeps === 'each') continue
    const next = steps[index + 1]?.at.getTime() ?? end + 1
    for (let ms = observation.at.getTime() + MINUTE_MS; ms < next; ms += MINUTE_MS) {
      const due: Date | null = recheckAt
      if (due !== null && (due as Date).getTime() <= ms) judge({ ...observation, at: new Date(ms) })
    }
  }
  return candidates.filter(({ isNotified }) => isNotified)
}

function shown({ event, severity, firedAt, signal, data }: AlertCandidate) {
  return { event, severity, at: firedAt.toISOString(), signal, data }
}

describe('a backtest', () => {
  test.each([
    ...REGISTRY.map((type) => [type.name, type, CASES[type.name]] as const),
    ['all assets', getWatchType('wallet-balance'), ALL_ASSETS] as const,
  ])('of %s gives the same alerts as live evaluation of the same history', (name, type, cases) => {
    if (cases === undefined) throw new Error(`no histories of ${name}`)
    let alerts = 0
    const property = fc.property(historyOf(cases, type), (history) => {
      const { steps, cooldownSeconds, chunk, tailMinutes } = history
      const watch: EvaluatedWatch = {
        id: 0,
        wallet: PROVIDER,
        label: '',
        settings: cases.settings,
        signals: type.signals.map(({ id }) => ({ id, enabled: true })),
        recipientIds: null,
        minSeverity: 'info',
        cooldownSeconds,
        mutedUntil: null,
        states: [],
      }
      const end = (steps.at(-1)?.at.getTime() ?? START_MS) + tailMinutes * MINUTE_MS
      const expected = live(type, cases.target, watch, steps, end)
      const replay = startReplay(type, cases.target, watch, 1000)
      for (let start = 0; start < steps.length; start += chunk) {
        replay.add(steps.slice(start, start + chunk))
      }
      replay.end(new Date(end))
      expect(replay.newest().toReversed().map(shown)).toEqual(expected.map(shown))
      const counts = replay.counts()
      expect(counts.recovery).toBe(expected.filter(({ isRecovery }) => isRecovery).length)
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(expected.length)
      alerts += expected.length
    })
    fc.assert(property, { numRuns: HISTORIES })
    expect(alerts).toBeGreaterThan(HISTORIES / 10)
  })
})

test('a backtest keeps only the newest alerts, and counts all', () => {
  const type = REGISTRY.find(({ name }) => name === 'wallet-balance') as WatchType
  const watch: EvaluatedWatch = {
    id: 0,
    wallet: PROVIDER,
    label: '',
    settings: { threshold: '1' },
    signals: [],
    recipientIds: null,
    minSeverity: 'info',
    cooldownSeconds: 0,
    mutedUntil: null,
    states: [],
  }
  const replay = startReplay(type, CASES['wallet-balance']?.target, watch, 3)
  const all = Array.from({ length: 21 }, (_, index) =>
    z.decode(type.observation, {
      position: index + 1,
      at: new Date(START_MS + index * MINUTE_MS).toISOString(),
      balanceUnits: String(index % 2 === 0 ? 0 : 5),
      symbol: 'FLR',
      decimals: 0,
      movement: null,
    } as never),
  )
  for (const observation of all) replay.add([observation])
  expect(replay.newest().map(({ position }) => position)).toEqual([21, 20, 19])
  expect(replay.counts()).toEqual({ info: 10, warning: 10, critical: 0, recovery: 0 })
})
