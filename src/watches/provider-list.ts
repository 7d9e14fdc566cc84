import type { Address } from '#src/kernel/units.ts'
import { countRounds, dutyResultsOf, type RoundCounts } from './provider-rounds.ts'
import type { ProvidersSnapshot } from './provider-snapshot.ts'

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

/** How many of the newest voting rounds are counted for each provider of the list. */
export const ROUNDS_PER_PROVIDER = 20

/**
 * Every provider of the last rounds, of the signing policy in force and of the published names, by weight
 * and name. While the chain does not answer, weights are unknown.
 */
export function listProviders(
  { weights, verdicts }: ProvidersSnapshot,
  names: ReadonlyMap<Address, string>,
): readonly ListedProvider[] {
  const all = new Set([...(weights?.keys() ?? []), ...verdicts.keys(), ...names.keys()])
  return [...all]
    .map((provider) => ({
      provider,
      name: names.get(provider),
      weight: weights?.get(provider) ?? null,
      rounds: countRounds(
        (verdicts.get(provider) ?? []).map((checks) => dutyResultsOf({ checks })),
      ),
    }))
    .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0) || byName(a, b))
}

function byName(a: ListedProvider, b: ListedProvider): number {
  return (a.name ?? a.provider).localeCompare(b.name ?? b.provider, 'en')
}
