import type { FspChain } from '#src/fsp/chain.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import { countRoundsOfVerdicts, type RoundCounts } from './round-counts.ts'
import { undefinedIfUnavailable } from './unavailable.ts'

/** A provider in the list of all providers. */
export interface ListedProvider {
  readonly provider: Address
  /** The public name, if there is one. */
  readonly name: string | undefined
  /**
   * Share of the weight in the signing policy in force; null if the provider is not in the policy, or the
   * weight is unknown.
   */
  readonly weight: number | null
  /** Counts over the newest `ROUNDS_PER_PROVIDER` voting rounds. */
  readonly rounds: RoundCounts
}

interface Deps {
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly confirmations: number
}

/** How many of the newest voting rounds are counted for each provider of the list. */
export const ROUNDS_PER_PROVIDER = 20

/**
 * Every provider of the last rounds, of the signing policy in force and of the published names, by weight
 * and name. While the chain does not answer, weights are unknown.
 */
export async function listEveryProvider(
  deps: Deps,
  names: ReadonlyMap<Address, string>,
  signal: AbortSignal,
): Promise<readonly ListedProvider[]> {
  const [weights, verdicts] = await Promise.all([
    undefinedIfUnavailable(() => weightsNow(deps, signal), signal),
    deps.facts.rounds.verdictsOfAll(ROUNDS_PER_PROVIDER),
  ])
  const all = new Set([...(weights?.keys() ?? []), ...verdicts.keys(), ...names.keys()])
  return [...all]
    .map((provider) => ({
      provider,
      name: names.get(provider),
      weight: weights?.get(provider) ?? null,
      rounds: countRoundsOfVerdicts(verdicts.get(provider) ?? []),
    }))
    .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0) || byName(a, b))
}

function byName(a: ListedProvider, b: ListedProvider): number {
  return (a.name ?? a.provider).localeCompare(b.name ?? b.provider, 'en')
}

/** Shares of the weight in the signing policy in force. @throws AppError upstream */
async function weightsNow(
  { chain, confirmations }: Deps,
  signal: AbortSignal,
): Promise<ReadonlyMap<Address, number>> {
  const block = await chain.confirmedBlock(confirmations, signal)
  const policies = await chain.rounds.policies(block, signal)
  const policy = policies?.policies.find(({ rewardEpoch }) => rewardEpoch === policies.currentEpoch)
  return new Map(
    policy?.providers.map(({ voter, weight }) => [voter, weight / policy.weightSum]) ?? [],
  )
}
