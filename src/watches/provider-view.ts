import { z } from 'zod'
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import {
  countOthers,
  failedRounds,
  judgeByChecks,
  usualFailers,
} from '#src/fsp/protocol/other-providers.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { OtherProviders } from '#src/kernel/outage-figures.ts'
import { Address, Instant, Units } from '#src/kernel/units.ts'
import {
  DUTY_RESULTS,
  dutyResultsOf,
  goodShareOf,
  minimalConditionsOf,
  newestOf,
} from './provider-rounds.ts'
import {
  type ProviderSnapshot,
  readPastSnapshot,
  readSnapshot,
  type SnapshotDeps,
} from './provider-snapshot.ts'
import { CONDITION_ROUNDS } from './types/provider-fsp/conditions.ts'

const DutyResult = z.enum(DUTY_RESULTS).meta({ description: 'operations:field.roundCell' })

const ConditionStatus = z
  .object({
    rate: z.number().meta({ description: 'operations:field.rate' }),
    minimum: z.number().meta({ description: 'operations:field.protocolMinimum' }),
    used: z.number().meta({ description: 'operations:field.budgetUsed' }),
    roundsToMiss: z.int().meta({ description: 'operations:field.roundsToMiss' }),
    roundsLeft: z.int().meta({ description: 'operations:field.roundsLeft' }),
    epochEndsAt: Instant.meta({ description: 'operations:field.epochEndsAt' }),
    budgetEndsAt: Instant.nullable().meta({ description: 'operations:field.budgetEndsAt' }),
  })
  .nullable()
  .meta({ description: 'operations:field.conditionRate' })

/** Response of `GET /provider-fsp`. */
export const ProviderView = z
  .object({
    provider: Address.meta({ description: 'operations:field.providerIdentity' }),
    addresses: z
      .object({ submit: Address, submitSignatures: Address, signingPolicy: Address })
      .nullable()
      .meta({ description: 'operations:field.providerAddresses' }),
    rewardEpoch: z.int().nullable().meta({ description: 'operations:field.rewardEpoch' }),
    registered: z.boolean().nullable().meta({ description: 'operations:field.registered' }),
    registeredNext: z.boolean().nullable().meta({ description: 'operations:field.registeredNext' }),
    registrationOpensAt: Instant.nullable().meta({
      description: 'operations:field.registrationOpensAt',
    }),
    inPolicy: z.boolean().nullable().meta({ description: 'operations:field.inPolicy' }),
    weight: z.number().nullable().meta({ description: 'operations:field.weight' }),
    currentRound: z.int().nullable().meta({ description: 'operations:field.currentRound' }),
    rounds: z
      .array(
        z.object({
          id: z.int().meta({ description: 'operations:field.roundNumber' }),
          startsAt: Instant.meta({ description: 'operations:field.roundStart' }),
          ftso: z
            .object({ commit: DutyResult, reveal: DutyResult, signature: DutyResult })
            .meta({ description: 'operations:field.ftsoDuties' }),
          fdc: z
            .object({ bitvote: DutyResult, signature: DutyResult })
            .meta({ description: 'operations:field.fdcDuties' }),
        }),
      )
      .meta({ description: 'operations:field.newestFirst' }),
    last30Days: z
      .object({
        days: z.int().meta({ description: 'operations:field.daysCounted' }),
        rounds: z.int().meta({ description: 'operations:field.roundsCounted' }),
        badRounds: z.int().meta({ description: 'operations:field.badRounds' }),
        rate: z.number().meta({ description: 'operations:field.goodRoundsRate' }),
      })
      .nullable()
      .meta({ description: 'operations:field.last30Days' }),
    others: OtherProviders.nullable().meta({ description: 'operations:field.others' }),
    fastUpdates: z
      .object({
        lastUpdateBlock: z
          .int()
          .nullable()
          .meta({ description: 'operations:field.lastUpdateBlock' }),
        blocksSinceUpdate: z.int().meta({ description: 'operations:field.blocksSinceUpdate' }),
        probabilityOfSilence: z
          .number()
          .meta({ description: 'operations:field.silenceProbability' }),
      })
      .nullable()
      .meta({ description: 'operations:field.fastUpdates' }),
    minimalConditions: z
      .object({
        anchor: ConditionStatus,
        fdc: ConditionStatus,
        uptime: ConditionStatus,
        fastUpdates: ConditionStatus,
      })
      .meta({ description: 'operations:field.minimalConditions' }),
    validators: z
      .array(
        z.object({
          nodeId: z.string().meta({ description: 'operations:field.nodeId' }),
          listed: z.boolean().meta({ description: 'operations:field.nodeListed' }),
        }),
      )
      .nullable()
      .meta({ description: 'operations:field.validators' }),
    balances: z
      .array(
        z.object({
          role: z.string().meta({ description: 'operations:field.balanceRole' }),
          address: Address,
          balanceWei: Units.meta({ description: 'operations:field.balanceWei' }),
        }),
      )
      .meta({ description: 'operations:field.providerBalances' }),
    asOf: Instant.nullable().meta({ description: 'operations:field.asOf' }),
    stale: z.boolean().meta({ description: 'operations:field.stale' }),
  })
  .meta({ id: 'ProviderView' })
export type ProviderView = z.output<typeof ProviderView>

/** Probability below which chance does not explain that a provider sends no fast updates. */
const SILENCE_CHANCE = 1e-7

/** Whether a provider has sent no fast update for longer than chance explains. */
export function isSilentByFastUpdates({
  probabilityOfSilence,
}: NonNullable<ProviderView['fastUpdates']>): boolean {
  return probabilityOfSilence <= SILENCE_CHANCE
}

/** Identity address of a provider, and number of rounds. */
export const ProviderQuery = z.strictObject({
  provider: Address.meta({ description: 'operations:field.providerAsked' }),
  rounds: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(20)
    .meta({ description: 'operations:field.roundsAsked' }),
})
export type ProviderQuery = z.output<typeof ProviderQuery>

const STALE_MS = 300_000

/**
 * A provider at a past time, from the voting rounds stored for it up to then: for the page of an alert that is over,
 * and for the picture of a message. The chain is not asked, and the view is never stale.
 *
 * @param query `until`: the time, or the last round
 */
export async function getPastProvider(
  deps: Pick<SnapshotDeps, 'facts'>,
  query: ProviderQuery & { readonly until: Date | number },
): Promise<ProviderView> {
  const rounds = Math.max(query.rounds, CONDITION_ROUNDS)
  const snapshot = await readPastSnapshot(deps, { ...query, rounds })
  return { ...viewOf(snapshot, query.rounds), stale: false }
}

/**
 * A provider as pages, chats and programs see it: its last rounds and current state. Also works for a
 * provider that is not registered. If the chain does not answer, the view contains stored data only. It is stale if the
 * chain does not answer, if the newest stored round is older than five minutes, or if no round was stored yet. Unknown
 * values are null.
 */
export async function getProviderView(
  deps: SnapshotDeps & { readonly clock: Clock },
  query: ProviderQuery,
  signal?: AbortSignal,
): Promise<ProviderView> {
  const rounds = Math.max(query.rounds, CONDITION_ROUNDS)
  const { isAnswered, ...snapshot } = await readSnapshot(deps, { ...query, rounds }, signal)
  const view = viewOf(snapshot, query.rounds)
  const isOld = view.asOf === null || deps.clock.now().getTime() - view.asOf.getTime() > STALE_MS
  return { ...view, stale: isOld || !isAnswered }
}

/** The view of a snapshot with its `shown` newest rounds. */
function viewOf(
  { provider, rounds, days, live }: ProviderSnapshot,
  shown: number,
): Omit<ProviderView, 'stale'> {
  const [last] = rounds
  // True or null, never false: a stored round without checks proves neither that the provider is not registered now nor
  // that the address is the identity of a provider.
  const wasMember = last?.checks != null || null
  const nodes = newestOf(rounds, (round) => round.nodes)
  const silence = newestOf(rounds, (round) => round.fastUpdates)
  return {
    provider,
    addresses: live?.addresses ?? last?.addresses ?? null,
    rewardEpoch: live?.rewardEpoch ?? last?.rewardEpoch ?? null,
    registered: live?.isMember ?? wasMember,
    registeredNext: live?.isRegisteredNext ?? null,
    registrationOpensAt: live?.registrationOpensAt ?? null,
    inPolicy: live?.isMember ?? wasMember,
    weight: live?.weight ?? silence?.weightShare ?? null,
    currentRound: live?.currentRound ?? null,
    rounds: rounds.slice(0, shown).map((round) => ({
      id: round.round,
      startsAt: new Date(round.startsAt * 1000),
      ...dutyResultsOf(round),
    })),
    last30Days: days ? { ...days, rate: goodShareOf(days) } : null,
    others: othersOf(last),
    fastUpdates:
      silence == null
        ? null
        : {
            lastUpdateBlock: silence.lastUpdateBlock,
            blocksSinceUpdate: silence.blocksSinceUpdate,
            probabilityOfSilence: Math.exp(-silence.exponent),
          },
    minimalConditions: minimalConditionsOf(rounds),
    validators: nodes?.map(({ nodeId, isListed: listed }) => ({ nodeId, listed })) ?? null,
    balances: live?.balances ?? balancesOf(last),
    asOf: last?.at ?? null,
  }
}

/** Checks of the duties of a round. */
const DUTY_CHECKS = ['commit', 'reveal', 'signature', 'bitVote', 'fdcSignature'] as const

/** The others that failed the duties of a provider in a round: by the duty that the fewest of them failed. */
function othersOf(round: ProviderObservation | undefined): ProviderView['others'] {
  if (round === undefined) return null
  const { provider, compared = [] } = round
  const counts = DUTY_CHECKS.flatMap((check) => {
    if (checkOf(round, check).verdict !== 'bad') return []
    const judge = judgeByChecks([check])
    const without = usualFailers(compared, { provider, judge }) ?? []
    const failed = failedRounds(compared, { provider, judge, streak: 1 })
    return countOthers(failed, { provider, judge, without }) ?? []
  })
  return counts.toSorted((a, b) => a.failed * b.total - b.failed * a.total)[0] ?? null
}

/**
 * Whether there is evidence that the address belongs to a provider: a stored round with a result of an FTSO duty, a
 * registration, or a place in the signing policy.
 */
export function isKnownProvider({ rounds, ...view }: ProviderView): boolean {
  const isSeen = rounds.some(({ ftso }) => Object.values(ftso).some((cell) => cell !== 'unknown'))
  return (
    isSeen || view.registered === true || view.inPolicy === true || view.registeredNext === true
  )
}

function balancesOf(last: ProviderObservation | undefined): ProviderView['balances'] {
  return (last?.balances ?? []).map((balance) => ({
    ...balance,
    balanceWei: BigInt(balance.balanceWei),
  }))
}
