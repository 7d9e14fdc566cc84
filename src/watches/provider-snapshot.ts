/**
 * What the service knows of data providers: their stored voting rounds, and their state at the newest confirmed block.
 * The view, the list, look-ups and metrics are functions of it.
 */
import type { FspChain } from '#src/fsp/chain.ts'
import type { DailyCounts } from '#src/fsp/indexer/daily-counts.ts'
import type { ProviderObservation, VotingAddresses } from '#src/fsp/indexer/observation-model.ts'
import { expectedEpochStart } from '#src/fsp/protocol/epochs.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import { DAYS_COUNTED } from './provider-rounds.ts'
import { undefinedIfUnavailable } from './unavailable.ts'

export interface SnapshotDeps {
  readonly chain: FspChain
  readonly facts: Pick<WatchTypeFacts, 'rounds'>
  readonly confirmations: number
}

/** One provider. */
export interface ProviderSnapshot {
  /** Its identity. */
  readonly provider: Address
  /** Stored rounds, newest first. */
  readonly rounds: readonly ProviderObservation[]
  /** Counts of the last days; undefined without a known round, and as of an earlier time. */
  readonly days: DailyCounts | undefined
  /** Undefined if it was not read, the chain did not answer, or has no such protocol. */
  readonly live: LiveProvider | undefined
}

/** State of a provider at the newest confirmed block. */
export interface LiveProvider {
  readonly provider: Address
  readonly addresses: VotingAddresses | null
  readonly weight: number | null
  readonly balances: { role: string; address: Address; balanceWei: bigint }[]
  readonly rewardEpoch: number
  readonly isRegisteredNext: boolean | null
  readonly isMember: boolean | null
  readonly registrationOpensAt: Date
  readonly currentRound: number
}

/** Every provider of the newest rounds and of the signing policy in force. */
export interface ProvidersSnapshot {
  /** Verdicts by provider in the newest rounds, newest first. */
  readonly verdicts: ReadonlyMap<Address, readonly ProviderObservation['checks'][]>
  /** Shares of the weight in the signing policy in force; undefined if the chain did not answer. */
  readonly weights: ReadonlyMap<Address, number> | undefined
  /** Counts of the last days by provider; of those with a known round. */
  readonly days: ReadonlyMap<Address, DailyCounts>
}

/**
 * The stored rounds of a provider; without its state on the chain.
 *
 * @param query `rounds`: their largest number. `until`: the time, or the last round; by default all
 */
export async function readPastSnapshot(
  { facts }: Pick<SnapshotDeps, 'facts'>,
  query: { readonly provider: Address; readonly rounds: number; readonly until?: Date | number },
): Promise<ProviderSnapshot> {
  const { provider, rounds, until } = query
  const newest = await facts.rounds.newest(provider, rounds, until)
  return { provider, rounds: newest, days: undefined, live: undefined }
}

/**
 * A provider now.
 *
 * @param query `provider`: any address of the provider
 * @returns `isAnswered`: whether the chain answered
 */
export async function readSnapshot(
  deps: SnapshotDeps,
  query: { readonly provider: Address; readonly rounds: number },
  signal?: AbortSignal,
): Promise<ProviderSnapshot & { readonly isAnswered: boolean }> {
  const answer = await undefinedIfUnavailable(
    async () => ({ live: await readLive(deps, query.provider, signal) }),
    signal,
  )
  const live = answer?.live
  const provider = live?.provider ?? query.provider
  const stored = await readPastSnapshot(deps, { provider, rounds: query.rounds })
  const counts = await deps.facts.rounds.dailyCounts(DAYS_COUNTED, [provider])
  return { ...stored, days: counts.get(provider), live, isAnswered: answer !== undefined }
}

/** Every provider now. @param range number of the newest rounds */
export async function readProvidersSnapshot(
  deps: SnapshotDeps,
  range: number,
  signal: AbortSignal,
): Promise<ProvidersSnapshot> {
  const [weights, verdicts, days] = await Promise.all([
    undefinedIfUnavailable(() => readWeights(deps, signal), signal),
    deps.facts.rounds.verdictsOfAll(range),
    deps.facts.rounds.dailyCounts(DAYS_COUNTED),
  ])
  return { weights, verdicts, days }
}

/** Shares of the weight in the signing policy in force. @throws AppError upstream */
async function readWeights(
  deps: SnapshotDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, number>> {
  const policy = (await readPolicies(deps, signal))?.currentPolicy
  return new Map(
    policy?.providers.map(({ voter, weight }) => [voter, weight / policy.weightSum]) ?? [],
  )
}

/** The signing policies at the newest confirmed block; undefined on a chain without the protocol. */
async function readPolicies(
  { chain, confirmations }: SnapshotDeps,
  signal: AbortSignal | undefined,
) {
  const block = await chain.confirmedBlock(confirmations, signal)
  const policies = await chain.rounds.policies(block, signal)
  const isCurrent = ({ rewardEpoch }: { readonly rewardEpoch: number }) =>
    rewardEpoch === policies?.currentEpoch
  return policies && { block, policies, currentPolicy: policies.policies.find(isCurrent) }
}

/** @throws AppError upstream */
async function readLive(
  deps: SnapshotDeps,
  providerAddress: Address,
  signal: AbortSignal | undefined,
): Promise<LiveProvider | undefined> {
  const { chain } = deps
  const known = await readPolicies(deps, signal)
  if (known === undefined) return undefined
  const { block, policies, currentPolicy } = known
  const identity = await chain.protocol.identityOf(providerAddress, signal)
  const { currentEpoch } = policies
  const query = {
    currentEpoch,
    voters: [identity],
    members: new Map(currentPolicy?.providers.map((provider) => [provider.voter, provider])),
    extra: new Map(),
    block,
  }
  const system = await chain.rounds.states(query, signal)
  const state = system?.providers.get(identity)
  const member = currentPolicy?.providers.find(({ voter }) => voter === identity)
  const { firstRoundAtSeconds, roundSeconds } = policies.clock
  return {
    provider: identity,
    rewardEpoch: currentEpoch,
    addresses: member ?? state?.addresses ?? null,
    isRegisteredNext: system?.registration ? (state?.isRegisteredNext ?? null) : null,
    registrationOpensAt: new Date(
      (expectedEpochStart(policies.clock, currentEpoch + 1) -
        policies.schedule.preparationSeconds) *
        1000,
    ),
    isMember: currentPolicy === undefined ? null : member !== undefined,
    weight:
      member === undefined || currentPolicy === undefined
        ? null
        : member.weight / currentPolicy.weightSum,
    currentRound: Math.floor((block.at.getTime() / 1000 - firstRoundAtSeconds) / roundSeconds),
    balances: [...(state?.balancesWei ?? [])].map(([address, balanceWei]) => ({
      role: roleOf(state?.addresses ?? null, address),
      address,
      balanceWei,
    })),
  }
}

function roleOf(addresses: VotingAddresses | null, account: Address): string {
  const roles = Object.entries(addresses ?? {})
  return roles.find(([, address]) => address === account)?.[0] ?? 'signingPolicy'
}
