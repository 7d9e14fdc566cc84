import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ProviderObservation, StoredCheck } from '#src/fsp/indexer/observation-model.ts'
import type { WholeRound } from '#src/fsp/protocol/other-providers.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { currentData, dataAtEnd } from '../../current-data.ts'
import { foldWatch } from '../../evaluate/evaluate.ts'
import type { EvaluatedWatch } from '../../model.ts'
import { providerFsp } from './index.ts'

/** What alerts about duties say of the other providers and of the cost, through the evaluator of all watches. */

const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
const FIRST = 1_519_400
const OTHERS = 10
const EARNINGS = {
  roundsPerEpoch: 3360,
  newest: { rewardEpoch: 451, amountWei: '1680000000000000000000', weightRatio: 1 },
}

const WATCH: EvaluatedWatch = {
  id: 1,
  wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
  label: 'Alpha',
  settings: {},
  signals: providerFsp.signals.map(({ id }) => ({ id, enabled: id === 'ftso-commit' })),
  recipientIds: null,
  minSeverity: 'info',
  cooldownSeconds: 0,
  mutedUntil: null,
  states: [],
}

const letters = (isBad: boolean) =>
  ROUND_CHECKS.map((name) => (name === 'commit' && isBad ? 'b' : 'g')).join('')

function wholeRound(round: number, isBad: boolean, failed: number): WholeRound {
  const others = Array.from(
    { length: OTHERS },
    (_, place) => [`0x${place}`, { letters: letters(place < failed) }] as const,
  )
  return { round, providers: new Map([[PROVIDER, { letters: letters(isBad) }], ...others]) }
}

type Judged = Pick<ReturnType<typeof foldWatch>, 'candidates' | 'states'>

/** As a backtest does. */
function judgeAtOnce(observations: readonly ProviderObservation[]): Judged {
  return foldWatch(providerFsp, { provider: PROVIDER }, WATCH, observations)
}

/** As a watch does: its states are stored as JSON after each round. */
function judgeEach(observations: readonly ProviderObservation[]): Judged {
  let states: EvaluatedWatch['states'] = []
  const candidates = observations.flatMap((observation) => {
    const stored = states.map((state) => ({
      ...state,
      state: JSON.parse(JSON.stringify(state.state)),
    }))
    const watch = { ...WATCH, states: stored }
    const outcome = foldWatch(providerFsp, { provider: PROVIDER }, watch, [observation])
    states = outcome.states
    return outcome.candidates.map((candidate) => ({ ...candidate, watch: WATCH }))
  })
  return { candidates, states }
}

/**
 * Folds rounds. Each is the number of others that failed it, or undefined if nothing is known of them; `ok` is a round in
 * which the provider did not fail, and `usual` others did.
 */
function play(
  failures: readonly (number | undefined | 'ok')[],
  earnings: ProviderObservation['earnings'] = EARNINGS,
  judge: typeof judgeAtOnce = judgeAtOnce,
  usual = 0,
) {
  const whole = failures.map((failed, index) =>
    wholeRound(FIRST + index, failed !== 'ok', typeof failed === 'number' ? failed : usual),
  )
  const observations = failures.map((failed, index): ProviderObservation => {
    const startsAt = 1_763_640_000 + index * 90
    const isBad = failed !== 'ok'
    const missed = { verdict: 'bad', values: { reason: 'late', tx: null } } as const
    const good = { verdict: 'good' } as const
    const checks = z
      .record(z.enum(ROUND_CHECKS), z.custom<StoredCheck>())
      .parse(
        Object.fromEntries(
          ROUND_CHECKS.map((name) => [name, isBad && name === 'commit' ? missed : good]),
        ),
      )
    return {
      position: 100 + index,
      at: new Date((startsAt + 180) * 1000),
      provider: PROVIDER,
      round: FIRST + index,
      startsAt,
      rewardEpoch: 452,
      addresses: null,
      checks,
      ...{ anchors: null, policy: null, registration: null, fastUpdates: null, balances: null },
      ...{ transactions: [], nodes: null, rewards: null, earnings },
      ...(typeof failed === 'number' && {
        compared: whole.slice(Math.max(0, index - 19), index + 1).toReversed(),
      }),
    }
  })
  const { candidates, states } = judge(observations)
  const state = states.find(({ signal }) => signal === 'ftso-commit')?.state
  return {
    raised: candidates.map(
      ({ position, event, severity }) =>
        `${position - 100} ${event.endsWith('.recovered') ? 'recovered' : severity}`,
    ),
    data: candidates.map(({ data }) => data),
    state,
  }
}

const othersOf = ({ others }: JsonObject) => others

describe('an alert about a duty', () => {
  test('says how many others failed in each of the rounds that it needs', () => {
    expect(play([1, 2]).data.map(othersOf)).toEqual([{ total: 10, failed: 1 }])
  })

  test('has a severity one step lower when 30 % of the others failed as well', () => {
    expect(play([2, 2]).raised).toEqual(['1 warning'])
    expect(play([3, 3]).raised).toEqual(['1 info'])
    expect(play([2, 2, 2, 2]).raised).toEqual(['1 warning', '3 critical'])
    expect(play([3, 3, 3, 3]).raised).toEqual(['1 info', '3 warning'])
  })

  test('is not lowered by others that failed only after the provider did', () => {
    expect(play([0, 10]).raised).toEqual(['1 warning'])
  })

  test('rises when the others are well again and the provider still fails', () => {
    expect(play([9, 9, 0]).raised).toEqual(['1 info', '2 warning'])
    expect(play([9, 9, 9, 9, 0]).raised).toEqual(['1 info', '3 warning', '4 critical'])
  })

  test('is not repeated or lowered when others begin to fail later', () => {
    expect(play([0, 0, 9, 9, 9]).raised).toEqual(['1 warning'])
  })

  test('does not count others that failed in all rounds before', () => {
    const before = Array.from({ length: 10 }, () => 'ok' as const)
    const long = Array.from({ length: 20 }, () => 4)
    const [alert] = play([...before, ...long], EARNINGS, judgeAtOnce, 4).data
    expect(alert?.['others']).toEqual({ total: 6, failed: 0 })
    expect(play([...before, 4, 4, 4, 4], EARNINGS, judgeAtOnce, 4).raised).toEqual([
      '11 warning',
      '13 critical',
    ])
    // After a long time the rounds before the outage are no longer read.
    const { state } = play([...before, ...long], EARNINGS, judgeAtOnce, 4)
    expect(currentData('fsp.ftso-commit', alert ?? {}, state)['others']).toEqual({
      total: 6,
      failed: 0,
    })
  })

  test('says nothing of the others while nothing is known of them, and keeps its severity', () => {
    const { raised, data } = play([undefined, undefined])
    expect(raised).toEqual(['1 warning'])
    expect(data[0]).not.toHaveProperty('others')
  })
})

test('a backtest says the same of the others and of the cost as a watch, and never more than the rounds show', () => {
  const round = fc.oneof(
    fc.integer({ min: 0, max: OTHERS }),
    fc.constantFrom('ok' as const, undefined),
  )
  fc.assert(
    fc.property(fc.array(round, { maxLength: 12 }), (failures) => {
      const whole = play(failures)
      const live = play(failures, EARNINGS, judgeEach)
      expect([whole.raised, whole.data]).toEqual([live.raised, live.data])
      for (const { votingRoundId, others, missedRounds } of whole.data) {
        if (missedRounds !== undefined || others === undefined) continue
        const last = Number(votingRoundId) - FIRST
        const counts = failures
          .slice(last - 1, last + 1)
          .map((failed) => (typeof failed === 'number' ? failed : 0))
        expect(others).toEqual({ total: OTHERS, failed: Math.min(...counts) })
      }
    }),
  )
})

describe('an alert that goes on', () => {
  test('has the others and the cost of now, and those of its last round when it is over', () => {
    const alert = play([1, 1]).data[0] ?? {}
    const { state } = play([1, 1, 4, 4])
    expect(currentData('fsp.ftso-commit', alert, state)).toMatchObject({
      streak: 4,
      others: { total: 10, failed: 4 },
      cost: { rounds: 4, amountWei: '2000000000000000000' },
    })
    const [, recovery] = play([1, 1, 4, 4, 'ok']).data
    expect(dataAtEnd('fsp.ftso-commit', alert, recovery)).toMatchObject({
      streak: 4,
      others: { total: 10, failed: 4 },
      cost: { rounds: 4, ofRounds: 3360 },
    })
  })

  test('no longer says what is not known any more', () => {
    const alert = play([1, 1]).data[0] ?? {}
    const { state } = play([1, 1, undefined])
    expect(currentData('fsp.ftso-commit', alert, state)).not.toHaveProperty('others')
  })
})

describe('the cost of an outage', () => {
  test('is the part of the published rewards that falls on its rounds, with their source', () => {
    const [alert, recovery] = play([0, 0, 0, 'ok']).data
    expect(alert?.['cost']).toEqual({
      rounds: 2,
      ofRounds: 3360,
      amountWei: '1000000000000000000',
      symbol: 'FLR',
      source: { rewardEpochId: 451, amountWei: '1680000000000000000000', weightRatio: 1 },
    })
    expect(recovery?.['cost']).toMatchObject({ rounds: 3, amountWei: '1500000000000000000' })
  })

  test('follows the weight of the provider since the reward epoch of its rewards, where that is known', () => {
    const amount = (weightRatio: number | null) => {
      const newest = { ...EARNINGS.newest, weightRatio }
      return play([0, 0], { ...EARNINGS, newest }).data[0]?.['cost']
    }
    expect(amount(1.05)).toMatchObject({ amountWei: '1050000000000000000' })
    expect(amount(0.5)).toMatchObject({ amountWei: '500000000000000000' })
    expect(amount(null)).toMatchObject({ amountWei: '1000000000000000000' })
  })

  test('has rounds only where no rewards are published, and is absent where their number is unknown', () => {
    const [alert] = play([0, 0], { roundsPerEpoch: 3360, newest: null }).data
    expect(alert?.['cost']).toMatchObject({ rounds: 2, amountWei: null, source: null })
    expect(play([0, 0], null).data[0]).not.toHaveProperty('cost')
  })
})
