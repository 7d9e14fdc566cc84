import type { DailyCounts } from '#src/fsp/indexer/daily-counts.ts'
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
  /** Counts of the last `DAYS_COUNTED` days; null without a known round. */
  readonly days: DailyCounts | null
}

/** How many of the newest voting rounds are counted for each provider of the list. */
export const ROUNDS_PER_PROVIDER = 20

/**
 * Every provider of the last rounds, of the signing policy in force and of the published names, by weight
 * and name. While the chain does not answer, weights are unknown.
 */
export function listProviders(
  { weights, verdicts, days }: ProvidersSnapshot,
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
      days: days.get(provider) ?? null,
    }))
    .toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0) || byName(a, b))
}

/** Orders of the list of providers. */
export const PROVIDER_ORDERS = ['weight', 'name', 'worst'] as const
export type ProviderOrder = (typeof PROVIDER_ORDERS)[number]

/** Providers by weight, by name, or by the share of good rounds in the last days, worst first and unknown ones last. */
export function orderProviders(
  providers: readonly ListedProvider[],
  order: ProviderOrder,
): readonly ListedProvider[] {
  if (order === 'weight') return providers
  if (order === 'name') return providers.toSorted(byName)
  const share = ({ days }: ListedProvider) =>
    days === null ? 2 : (days.rounds - days.badRounds) / days.rounds
  return providers.toSorted((a, b) => share(a) - share(b))
}

function byName(a: ListedProvider, b: ListedProvider): number {
  return (a.name ?? a.provider).localeCompare(b.name ?? b.provider, 'en')
}
