import { z } from 'zod'
import type { FspChain } from '#src/fsp/chain.ts'
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/observation-model.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { Address, Instant, Units } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import { type LiveProviderFields, readLiveProvider } from './provider-live.ts'
import {
  ANCHOR_CONDITION,
  CONDITION_WINDOW_ROUNDS,
  fulfilledShare,
  PARTICIPATION_CONDITION,
  type RateCondition,
  ROUNDS_MIN,
  UPTIME_MINIMUM,
} from './types/provider-fsp/conditions.ts'
import { undefinedIfUnavailable } from './unavailable.ts'

/** Result of one duty in a round. */
export const DUTY_RESULTS = [
  'ok',
  'late',
  'early',
  'missing',
  'mismatch',
  'offence',
  'unknown',
] as const
export type DutyResult = (typeof DUTY_RESULTS)[number]
/** Duties of a provider in a round, as rows: those of the FTSO, then those of the FDC. */
export const DUTIES = ['commit', 'reveal', 'signature', 'bitvote', 'fdcSignature'] as const
export type Duty = (typeof DUTIES)[number]
const DutyResult = z.enum(DUTY_RESULTS).meta({ description: 'operations:field.roundCell' })

const Rate = z
  .object({
    rate: z.number().meta({ description: 'operations:field.rate' }),
    minimum: z.number().meta({ description: 'operations:field.protocolMinimum' }),
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
      .object({ anchor: Rate, fdc: Rate, uptime: Rate })
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

interface Deps {
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly clock: Clock
  readonly confirmations: number
}

/**
 * A provider at a past time, from the voting rounds stored for it up to then: for the page of an alert that is over,
 * and for the picture of a message. The chain is not asked, and the view is never stale.
 *
 * @param query `until`: the time, or the last round
 */
export async function getPastProvider(
  { facts }: Pick<Deps, 'facts'>,
  { provider, rounds, until }: ProviderQuery & { readonly until: Date | number },
): Promise<ProviderView> {
  const stored = await facts.rounds.newest(
    provider,
    Math.max(rounds, CONDITION_WINDOW_ROUNDS),
    until,
  )
  return { ...viewOf(provider, { rounds: stored, shown: rounds }), stale: false }
}

/**
 * A provider as pages, chats and programs see it: its last rounds and current state. Also works for a
 * provider that is not registered. If the chain does not answer, the view contains stored data only. It is stale if the
 * chain does not answer, if the newest stored round is older than five minutes, or if no round was stored yet. Unknown
 * values are null.
 */
export async function getProviderView(
  deps: Deps,
  query: ProviderQuery,
  signal?: AbortSignal,
): Promise<ProviderView> {
  const { facts, clock } = deps
  const answer = await undefinedIfUnavailable(
    async () => ({ live: await readLiveProvider(deps, query.provider, signal) }),
    signal,
  )
  const live = answer?.live
  const provider = live?.provider ?? query.provider
  const rounds = await facts.rounds.newest(
    provider,
    Math.max(query.rounds, CONDITION_WINDOW_ROUNDS),
  )
  const view = viewOf(provider, { rounds, shown: query.rounds, live })
  const isOld = view.asOf === null || clock.now().getTime() - view.asOf.getTime() > STALE_MS
  return { ...view, stale: isOld || answer === undefined }
}

/** The view of a provider's rounds, newest first, with what was read from the chain. */
function viewOf(
  provider: Address,
  sources: {
    readonly rounds: readonly ProviderObservation[]
    /** Number of rounds in the view. */
    readonly shown: number
    readonly live?: LiveProviderFields | undefined
  },
): Omit<ProviderView, 'stale'> {
  const { rounds, shown, live } = sources
  const [last] = rounds
  // True or null, never false: a stored round without checks proves neither that the provider is not registered now nor
  // that the address is the identity of a provider.
  const wasMember = last?.checks != null || null
  const nodes = rounds.find(({ nodes }) => nodes !== null)?.nodes
  const silence = rounds.find(({ fastUpdates }) => fastUpdates !== null)?.fastUpdates
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
    fastUpdates:
      silence == null
        ? null
        : {
            lastUpdateBlock: silence.lastUpdateBlock,
            blocksSinceUpdate: silence.blocksSinceUpdate,
            probabilityOfSilence: Math.exp(-silence.exponent),
          },
    minimalConditions: minimalConditionsOf(rounds.slice(0, CONDITION_WINDOW_ROUNDS)),
    validators: nodes?.map(({ nodeId, isListed: listed }) => ({ nodeId, listed })) ?? null,
    balances: live?.balances ?? balancesOf(last),
    asOf: last?.at ?? null,
  }
}

/** Result of a duty in a round. */
export function dutyResultOf(
  { ftso, fdc }: ProviderView['rounds'][number],
  duty: Duty,
): DutyResult {
  if (duty === 'bitvote') return fdc.bitvote
  return duty === 'fdcSignature' ? fdc.signature : ftso[duty]
}

/** Whether a duty was missed or fulfilled wrongly. */
export function isBadResult(cell: DutyResult): boolean {
  return cell !== 'ok' && cell !== 'unknown'
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

/** Duties of a round, each with its worst verdict. */
export function dutyResultsOf(
  observation: Pick<ProviderObservation, 'checks'>,
): Pick<ProviderView['rounds'][number], 'ftso' | 'fdc'> {
  const hasVerdict = (name: Parameters<typeof checkOf>[1], verdict: string) =>
    checkOf(observation, name).verdict === verdict
  const resultOfCheck = (name: Parameters<typeof checkOf>[1]): DutyResult => {
    const { verdict, values } = checkOf(observation, name)
    if (verdict !== 'bad') return verdict === 'good' ? 'ok' : 'unknown'
    const reason = values?.['reason']
    return reason === 'late' || reason === 'early' ? reason : 'missing'
  }
  return {
    ftso: {
      commit: resultOfCheck('commit'),
      reveal: hasVerdict('revealOffence', 'bad') ? 'offence' : resultOfCheck('reveal'),
      signature: hasVerdict('mismatch', 'bad')
        ? 'mismatch'
        : hasVerdict('grace', 'bad')
          ? 'late'
          : resultOfCheck('signature'),
    },
    fdc: {
      bitvote:
        hasVerdict('consensus', 'bad') || hasVerdict('bitVoteLength', 'bad')
          ? 'mismatch'
          : resultOfCheck('bitVote'),
      signature: hasVerdict('fdcMismatch', 'bad')
        ? 'mismatch'
        : hasVerdict('fdcOffence', 'bad')
          ? 'offence'
          : hasVerdict('fdcGrace', 'bad')
            ? 'late'
            : resultOfCheck('fdcSignature'),
    },
  }
}

/** Rates of the minimal conditions over these rounds; null with less than ROUNDS_MIN of them, for uptime without polls. */
export function minimalConditionsOf(
  rounds: readonly ProviderObservation[],
): ProviderView['minimalConditions'] {
  const rateOf = ({ count, protocolMinimum: minimum }: RateCondition) => {
    const counts = rounds.flatMap((round) => {
      const counted = count(round)
      return counted === undefined ? [] : [counted]
    })
    return counts.length < ROUNDS_MIN ? null : { rate: fulfilledShare(counts), minimum }
  }
  const polls = rounds
    .flatMap(({ nodes }) => nodes ?? [])
    .flatMap(({ connectedPolls, polls }) => (polls > 0 ? [[connectedPolls, polls] as const] : []))
  return {
    anchor: rateOf(ANCHOR_CONDITION),
    fdc: rateOf(PARTICIPATION_CONDITION),
    uptime: polls.length === 0 ? null : { rate: fulfilledShare(polls), minimum: UPTIME_MINIMUM },
  }
}
