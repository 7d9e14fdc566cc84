/** The report of a provider's reward epoch: duties, punctuality, rank, rewards, and what to mend. */
import { z } from 'zod'
import type { StoredEpoch } from '#src/fsp/indexer/epoch-facts.ts'
import type { RoundCheck } from '#src/fsp/protocol/verdict.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { createSharedCache, type SharedCache } from '#src/kernel/shared-cache.ts'
import { Address, Units } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import { DUTIES, type Duty, goodShareOf, minimalConditionsOf } from './provider-rounds.ts'
import { CONDITION_ROUNDS } from './types/provider-fsp/conditions.ts'

const Count = z.int().min(0)

const Margin = z
  .object({
    rounds: Count.meta({ description: 'operations:field.marginRounds' }),
    medianSeconds: z.int().meta({ description: 'operations:field.marginMedian' }),
    leastSeconds: z.int().meta({ description: 'operations:field.marginLeast' }),
    driftSeconds: z.int().nullable().meta({ description: 'operations:field.marginDrift' }),
  })
  .nullable()
  .meta({ description: 'operations:field.margin' })

const Condition = z
  .object({
    rate: z.number().meta({ description: 'operations:field.rate' }),
    minimum: z.number().meta({ description: 'operations:field.protocolMinimum' }),
    used: z.number().meta({ description: 'operations:field.budgetUsed' }),
  })
  .nullable()
  .meta({ description: 'operations:field.conditionAtEnd' })

/** Response of `GET /providers/{provider}/epochs/{epoch}`. What is not known is null. */
export const EpochReport = z
  .object({
    provider: Address.meta({ description: 'operations:field.providerIdentity' }),
    name: z.string().nullable().meta({ description: 'operations:field.providerName' }),
    rewardEpoch: Count.meta({ description: 'operations:field.epochOfReport' }),
    isOver: z.boolean().meta({ description: 'operations:field.epochIsOver' }),
    firstDay: z.iso.date().meta({ description: 'operations:field.epochFirstDay' }),
    lastDay: z.iso.date().meta({ description: 'operations:field.epochLastDay' }),
    rounds: Count.meta({ description: 'operations:field.roundsCounted' }),
    badRounds: Count.meta({ description: 'operations:field.badRounds' }),
    rate: z.number().nullable().meta({ description: 'operations:field.goodRoundsRate' }),
    rank: z
      .object({
        place: z.int().min(1).meta({ description: 'operations:field.rankPlace' }),
        of: z.int().min(1).meta({ description: 'operations:field.rankOf' }),
      })
      .nullable()
      .meta({ description: 'operations:field.rank' }),
    duties: z
      .array(
        z.object({
          duty: z.enum(DUTIES).meta({ description: 'operations:field.reportDuty' }),
          rounds: Count.meta({ description: 'operations:field.dutyRounds' }),
          missed: Count.meta({ description: 'operations:field.dutyMissed' }),
          margin: Margin,
        }),
      )
      .meta({ description: 'operations:field.reportDuties' }),
    minimalConditions: z
      .object({ anchor: Condition, fdc: Condition, uptime: Condition, fastUpdates: Condition })
      .meta({ description: 'operations:field.conditionsAtEnd' }),
    eligible: z.boolean().nullable().meta({ description: 'operations:field.eligibleInEpoch' }),
    passes: z.number().nullable().meta({ description: 'operations:field.passesInEpoch' }),
    failures: z.array(z.string()).meta({ description: 'operations:field.failuresInEpoch' }),
    rewards: z
      .object({
        state: z
          .enum(['published', 'not-published', 'not-read'])
          .meta({ description: 'operations:field.rewardsState' }),
        amountWei: Units.nullable().meta({ description: 'operations:field.rewardsOfEpoch' }),
      })
      .meta({ description: 'operations:field.epochRewards' }),
    mend: z
      .array(
        z.object({
          signal: z.string().meta({ description: 'operations:field.mendSignal' }),
          rounds: Count.nullable().meta({ description: 'operations:field.mendRounds' }),
        }),
      )
      .meta({ description: 'operations:field.mend' }),
  })
  .meta({ id: 'EpochReport' })
export type EpochReport = z.output<typeof EpochReport>

/** The provider and reward epoch of a report. */
export const EpochReportPath = z.strictObject({
  provider: Address.meta({ description: 'operations:field.providerIdentity' }),
  epoch: z.coerce
    .number()
    .pipe(z.int32().min(0))
    .meta({ description: 'operations:field.epochOfReport' }),
})
export type EpochReportPath = z.output<typeof EpochReportPath>

/** The check that says whether a duty was fulfilled. */
const CHECK_OF = {
  commit: 'commit',
  reveal: 'reveal',
  signature: 'signature',
  bitvote: 'bitVote',
  fdcSignature: 'fdcSignature',
} as const satisfies Record<Duty, RoundCheck>

/** The signal that judges each check, whose help says what to do. */
export const SIGNAL_OF = {
  commit: 'ftso-commit',
  reveal: 'ftso-reveal',
  feedValues: 'ftso-reveal',
  revealOffence: 'reveal-offence',
  signature: 'ftso-signature',
  mismatch: 'signature-mismatch',
  fdcMismatch: 'signature-mismatch',
  grace: 'signature-grace',
  fdcGrace: 'signature-grace',
  bitVote: 'fdc-bitvote',
  bitVoteLength: 'fdc-bitvote-length',
  consensus: 'fdc-consensus',
  fdcSignature: 'fdc-signature',
  fdcOffence: 'fdc-reveal-offence',
  strayCommit: 'fdc-submit1',
} as const satisfies Record<RoundCheck, string>

const SIGNAL_OF_CONDITION = {
  anchor: 'mc-anchor',
  fdc: 'mc-fdc',
  uptime: 'mc-uptime',
  fastUpdates: 'mc-fast-updates',
} as const

/** Rounds that the first and the last third of an epoch need each, before their medians are compared. */
const THIRD_MIN = 30

type Conditions = ReturnType<typeof minimalConditionsOf>

/**
 * The report of what is stored. Pure.
 *
 * @param conditions of the last stored round of the epoch; null where they are not known
 */
export function reportOf(
  stored: StoredEpoch,
  { name, conditions }: { readonly name: string | null; readonly conditions: Conditions },
): EpochReport {
  const { provider, rewardEpoch, isOver, counts, margins, rewards, eligibility } = stored
  const own = counts.get(provider)
  if (own === undefined) throw new Error('a report needs counted rounds')
  const { firstDay, lastDay, rounds, badRounds, checks } = own
  const minimalConditions = {
    anchor: conditionOf(conditions.anchor),
    fdc: conditionOf(conditions.fdc),
    uptime: conditionOf(conditions.uptime),
    fastUpdates: conditionOf(conditions.fastUpdates),
  }
  return {
    ...{ provider, name, rewardEpoch, isOver, firstDay, lastDay, rounds, badRounds },
    rate: rounds === 0 ? null : goodShareOf({ days: 0, rounds, badRounds }),
    rank: rankOf(stored),
    duties: DUTIES.map((duty) => {
      const check = CHECK_OF[duty]
      const { known, bad } = checks[check]
      return { duty, rounds: known, missed: bad, margin: marginOf(margins[check]) }
    }),
    minimalConditions,
    eligible: eligibility?.isEligible ?? null,
    passes: eligibility?.passes ?? null,
    failures: [...(eligibility?.failures ?? [])],
    rewards: {
      state: rewards.state,
      amountWei: rewards.state === 'published' ? rewards.amountWei : null,
    },
    mend: [...conditionsToMend(minimalConditions), ...checksToMend(checks)],
  }
}

function conditionOf(status: Conditions[keyof Conditions]): z.output<typeof Condition> {
  return status && { rate: status.rate, minimum: status.minimum, used: status.used }
}

/** The place by the share of good rounds; equal shares have the same place. */
function rankOf({ provider, counts }: StoredEpoch): EpochReport['rank'] {
  const ranked = [...counts.values()].filter(({ rounds }) => rounds > 0)
  const own = counts.get(provider)
  if (own === undefined || own.rounds === 0) return null
  const better = ranked.filter((one) => one.badRounds * own.rounds < own.badRounds * one.rounds)
  return { place: better.length + 1, of: ranked.length }
}

/** @param seconds that were left in each round, oldest first */
export function marginOf(seconds: readonly number[]): z.output<typeof Margin> {
  if (seconds.length === 0) return null
  const third = Math.floor(seconds.length / 3)
  return {
    rounds: seconds.length,
    medianSeconds: medianOf(seconds),
    leastSeconds: seconds.reduce((least, value) => Math.min(least, value), Number.MAX_SAFE_INTEGER),
    driftSeconds:
      third < THIRD_MIN
        ? null
        : medianOf(seconds.slice(-third)) - medianOf(seconds.slice(0, third)),
  }
}

/** The lower of both middle values, so that it is one that happened. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** Conditions whose error budget was spent. */
function conditionsToMend(conditions: EpochReport['minimalConditions']): EpochReport['mend'] {
  return (['anchor', 'fdc', 'fastUpdates', 'uptime'] as const).flatMap((name) => {
    const condition = conditions[name]
    if (condition === null || condition.used < 1) return []
    return [{ signal: SIGNAL_OF_CONDITION[name], rounds: null }]
  })
}

/** Signals whose checks were bad, the one with the most rounds first; of two checks the one with more. */
function checksToMend(checks: Readonly<Record<RoundCheck, { bad: number }>>): EpochReport['mend'] {
  const rounds = new Map<string, number>()
  for (const [check, { bad }] of Object.entries(checks)) {
    const signal = SIGNAL_OF[check as RoundCheck]
    if (bad > 0) rounds.set(signal, Math.max(rounds.get(signal) ?? 0, bad))
  }
  return [...rounds]
    .toSorted(([, a], [, b]) => b - a)
    .map(([signal, count]) => ({ signal, rounds: count }))
}

interface Deps {
  readonly facts: Pick<WatchTypeFacts, 'epochs' | 'rounds' | 'providerNames'>
}

/** The report of a provider's reward epoch; undefined if no round of it was counted. */
export async function readEpochReport(
  { facts }: Deps,
  { provider, epoch }: EpochReportPath,
): Promise<EpochReport | undefined> {
  const stored = await facts.epochs.of(provider, epoch)
  if (stored === undefined) return undefined
  const { lastRound } = stored
  const [names, rounds] = await Promise.all([
    facts.providerNames(),
    lastRound === undefined ? [] : facts.rounds.newest(provider, CONDITION_ROUNDS, lastRound),
  ])
  const name = names.get(provider) ?? null
  return reportOf(stored, { name, conditions: minimalConditionsOf(rounds) })
}

/** Time for which a report is cached: the rounds of an epoch are read for it. */
const FRESH_MS = MINUTE_MS
const KEPT_MAX = 500

type Cache = SharedCache<string, EpochReport | undefined>
const caches = new WeakMap<Deps['facts'], Cache>()

/**
 * The report of a provider's reward epoch, at most a minute old.
 *
 * @throws AppError not_found `not_found` if no round of it was counted
 */
export async function getEpochReport(
  { facts, clock }: Deps & { readonly clock: Clock },
  { provider, epoch }: EpochReportPath,
): Promise<EpochReport> {
  const cache: Cache =
    caches.get(facts) ?? createSharedCache(clock, { max: KEPT_MAX, freshMs: () => FRESH_MS })
  caches.set(facts, cache)
  const report = await cache.get(`${provider} ${epoch}`, () =>
    readEpochReport({ facts }, { provider, epoch }),
  )
  if (report === undefined) throw new AppError('not_found', 'not_found')
  return report
}
