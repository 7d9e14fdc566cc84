import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EpochCounts } from '#src/fsp/indexer/daily-counts.ts'
import type { StoredEpoch } from '#src/fsp/indexer/epoch-facts.ts'
import { ROUND_CHECKS } from '#src/fsp/protocol/verdict.ts'
import { Address } from '#src/kernel/units.ts'
import { runs } from '../../test/support/runs.ts'
import { marginOf, reportOf } from './epoch-report.ts'
import { minimalConditionsOf } from './provider-rounds.ts'

const OWN = Address.parse('0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE')
const OTHER = Address.parse('0xc4a19715F3Dd209F01E84ABe65De7c2E9C8b6269')

function countsOf(
  rounds: number,
  badRounds: number,
  bad: Partial<Record<(typeof ROUND_CHECKS)[number], number>> = {},
): EpochCounts {
  const checks = ROUND_CHECKS.map((name) => [name, { known: rounds, bad: bad[name] ?? 0 }] as const)
  return {
    ...{ firstDay: '2026-11-16', lastDay: '2026-11-20', rounds, badRounds },
    checks: Object.fromEntries(checks) as EpochCounts['checks'],
  }
}

function storedOf(over: Partial<StoredEpoch> = {}): StoredEpoch {
  return {
    ...{ provider: OWN, rewardEpoch: 451, isOver: true, lastRound: undefined },
    counts: new Map([[OWN, countsOf(100, 3)]]),
    margins: { commit: [], reveal: [], signature: [], bitVote: [], fdcSignature: [] },
    rewards: { state: 'not-published' },
    eligibility: null,
    ...over,
  }
}

const UNKNOWN = { name: null, conditions: minimalConditionsOf([]) }

describe('a report', () => {
  test('never shows an unknown value as none', () => {
    const report = reportOf(storedOf(), UNKNOWN)
    expect(report).toMatchObject({
      rewards: { state: 'not-published', amountWei: null },
      eligible: null,
      passes: null,
      minimalConditions: { anchor: null, fdc: null, uptime: null, fastUpdates: null },
    })
    expect(report.duties.map(({ margin }) => margin)).toEqual([null, null, null, null, null])
  })

  test('of a provider without a known round has no share and no rank', () => {
    const counts = new Map([
      [OWN, countsOf(0, 0)],
      [OTHER, countsOf(10, 1)],
    ])
    expect(reportOf(storedOf({ counts }), UNKNOWN)).toMatchObject({ rate: null, rank: null })
  })

  test('gives equal providers the same place, and does not count those without a known round', () => {
    const counts = new Map([
      [OWN, countsOf(100, 2)],
      [OTHER, countsOf(50, 1)],
      [Address.parse('0x73b05377E4057c76878f5F97D33792807baE171b'), countsOf(90, 0)],
      [Address.parse('0x84824513537A6d24cfcEDdc1Ab8f4079a6Bd4CFb'), countsOf(0, 0)],
    ])
    for (const provider of [OWN, OTHER]) {
      expect(reportOf(storedOf({ counts, provider }), UNKNOWN).rank).toEqual({ place: 2, of: 3 })
    }
  })

  test('names what went wrong by its signal, worst first, two checks of a signal once', () => {
    const bad = { commit: 2, grace: 3, fdcGrace: 9, feedValues: 1 }
    const counts = new Map([[OWN, countsOf(100, 9, bad)]])
    expect(reportOf(storedOf({ counts }), UNKNOWN).mend).toEqual([
      { signal: 'signature-grace', rounds: 9 },
      { signal: 'ftso-commit', rounds: 2 },
      { signal: 'ftso-reveal', rounds: 1 },
    ])
  })

  test('has a spent error budget first', () => {
    const spent = {
      ...{ rate: 0.5, minimum: 0.8, used: 1.2, roundsToMiss: 0, roundsLeft: 0 },
      ...{ epochEndsAt: new Date(0), budgetEndsAt: null },
    }
    const conditions = { ...UNKNOWN.conditions, anchor: spent, fdc: { ...spent, used: 0.99 } }
    const counts = new Map([[OWN, countsOf(100, 9, { commit: 2 })]])
    expect(reportOf(storedOf({ counts }), { name: null, conditions }).mend).toEqual([
      { signal: 'mc-anchor', rounds: null },
      { signal: 'ftso-commit', rounds: 2 },
    ])
  })
})

describe('the margin of a duty', () => {
  const any = fc.array(fc.integer({ min: -30, max: 90 }), { minLength: 1, maxLength: 400 })

  test('has the least and a median that happened, with as many rounds above as below', () =>
    fc.assert(
      fc.property(any, (seconds) => {
        const margin = marginOf(seconds)
        const median = margin?.medianSeconds ?? Number.NaN
        expect(margin?.leastSeconds).toBe(Math.min(...seconds))
        expect(seconds).toContain(median)
        const half = seconds.length / 2
        expect(seconds.filter((one) => one < median).length).toBeLessThanOrEqual(half)
        expect(seconds.filter((one) => one > median).length).toBeLessThanOrEqual(half)
      }),
      { numRuns: runs(100) },
    ))

  test('drifts by what the end is later than the start, and is silent about few rounds', () => {
    const falling = Array.from({ length: 90 }, (_, index) => 60 - Math.floor(index / 30) * 10)
    expect(marginOf(falling)?.driftSeconds).toBe(-20)
    expect(marginOf(falling.toReversed())?.driftSeconds).toBe(20)
    expect(marginOf(falling.slice(1))?.driftSeconds).toBeNull()
    expect(marginOf([])).toBeNull()
  })
})
