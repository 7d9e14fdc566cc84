import { z } from 'zod'
import type { FspChain } from '#src/fsp/chain.ts'
import { checkOf, type ProviderObservation } from '#src/fsp/indexer/provider-observation.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { Address, Instant, Units } from '#src/kernel/units.ts'
import type { WatchFacts } from './facts.ts'
import { type LiveProviderFields, readLiveProvider } from './provider-live.ts'
import {
  ANCHOR,
  CONDITION_WINDOW_ROUNDS,
  fulfilledShare,
  PARTICIPATION,
  type RateCondition,
  ROUNDS_MIN,
  UPTIME_MINIMUM,
} from './types/provider-fsp/conditions.ts'
import { undefinedIfUnavailable } from './unavailable.ts'

/** Result of one duty in a round. */
export const ROUND_CELLS = [
  'ok',
  'late',
  'early',
  'missing',
  'mismatch',
  'offence',
  'unknown',
] as const
export type RoundCell = (typeof ROUND_CELLS)[number]
/** Duties of a provider in a round, as rows: those of the FTSO, then those of the FDC. */
export const DUTIES = ['commit', 'reveal', 'signature', 'bitvote', 'fdcSignature'] as const
export type Duty = (typeof DUTIES)[number]
const Cell = z.enum(ROUND_CELLS).meta({ description: 'operations:field.roundCell' })

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
            .object({ commit: Cell, reveal: Cell, signature: Cell })
            .meta({ description: 'operations:field.ftsoDuties' }),
          fdc: z
            .object({ bitvote: Cell, signature: Cell })
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

/** Whether a provider sends no fast updates for longer than chance explains. */
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
  readonly facts: WatchFacts
  readonly clock: Clock
  readonly confirmations: number
}

/**
 * A provider as it was stored when its voting rounds up to a time were over: for the page of a past outage, whose
 * rounds never change.
 */
export async function getPastProvider(
  { facts }: Pick<Deps, 'facts'>,
  { provider, rounds, until }: ProviderQuery & { readonly until: Date },
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
 * provider that is not registered. If the chain does not answer, the view contains stored data and is
 * marked stale. A chain without rounds yet is not stale. Unknown values are null.
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
  const progress = await facts.rounds.progress()
  const view = viewOf(provider, { rounds, shown: query.rounds, live })
  // Without a stored round nothing is out of date.
  const isOld = view.asOf !== null && clock.now().getTime() - view.asOf.getTime() > STALE_MS
  return { ...view, stale: isOld || answer === undefined || progress?.failingSince != null }
}

/** The view of a provider's rounds, newest first, with what was read from the chain. */
function viewOf(
  provider: Address,
  of: {
    readonly rounds: readonly ProviderObservation[]
    /** Number of rounds in the view. */
    readonly shown: number
    readonly live?: LiveProviderFields | undefined
  },
): Omit<ProviderView, 'stale'> {
  const { rounds, shown, live } = of
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
    registered: live?.isRegistered ?? wasMember,
    registeredNext: live?.isRegisteredNext ?? null,
    registrationOpensAt: live?.registrationOpensAt ?? null,
    inPolicy: live?.isMember ?? wasMember,
    weight: live?.weight ?? silence?.weightShare ?? null,
    currentRound: live?.currentRound ?? null,
    rounds: rounds.slice(0, shown).map((round) => ({
      id: round.round,
      startsAt: new Date(round.startsAt * 1000),
      ...roundCellsOf(round),
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
export function roundCellOf({ ftso, fdc }: ProviderView['rounds'][number], duty: Duty): RoundCell {
  if (duty === 'bitvote') return fdc.bitvote
  return duty === 'fdcSignature' ? fdc.signature : ftso[duty]
}

/** Whether a duty was missed or fulfilled wrongly. */
export function isBadCell(cell: RoundCell): boolean {
  return cell !== 'ok' && cell !== 'unknown'
}

/**
 * Whether there is evidence that the address belongs to a provider: rounds in which it took part, or a
 * registration.
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
export function roundCellsOf(
  observation: Pick<ProviderObservation, 'checks'>,
): Pick<ProviderView['rounds'][number], 'ftso' | 'fdc'> {
  const is = (name: Parameters<typeof checkOf>[1], verdict: string) =>
    checkOf(observation, name).verdict === verdict
  const plain = (name: Parameters<typeof checkOf>[1]): RoundCell => {
    const { verdict, values } = checkOf(observation, name)
    if (verdict !== 'bad') return verdict === 'good' ? 'ok' : 'unknown'
    const reason = values?.['reason']
    return reason === 'late' || reason === 'early' ? reason : 'missing'
  }
  return {
    ftso: {
      commit: plain('commit'),
      reveal: is('revealOffence', 'bad') ? 'offence' : plain('reveal'),
      signature: is('mismatch', 'bad')
        ? 'mismatch'
        : is('grace', 'bad')
          ? 'late'
          : plain('signature'),
    },
    fdc: {
      bitvote: is('consensus', 'bad') || is('bitVoteLength', 'bad') ? 'mismatch' : plain('bitVote'),
      signature: is('fdcMismatch', 'bad')
        ? 'mismatch'
        : is('fdcOffence', 'bad')
          ? 'offence'
          : is('fdcGrace', 'bad')
            ? 'late'
            : plain('fdcSignature'),
    },
  }
}

/** The minimal conditions over these rounds, where there is enough evidence. */
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
    anchor: rateOf(ANCHOR),
    fdc: rateOf(PARTICIPATION),
    uptime: polls.length === 0 ? null : { rate: fulfilledShare(polls), minimum: UPTIME_MINIMUM },
  }
}
