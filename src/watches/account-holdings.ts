/** What an account delegates, stakes and may claim, with the state of the providers behind it. */
import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { expiryOf } from '#src/fsp/indexer/observation-parts.ts'
import type { Delegation, Holdings, Stake } from '#src/fsp/reader/holdings.ts'
import type { Address } from '#src/kernel/units.ts'
import type { WatchTypeFacts } from './facts.ts'
import type { ListedProvider } from './provider-list.ts'
import type { RoundCounts } from './provider-rounds.ts'
import { undefinedIfUnavailable } from './unavailable.ts'

/** A provider behind a delegation or stake. What is not known is null. */
export interface ProviderBehind {
  readonly provider: Address
  readonly name: string | undefined
  /** Whether it is in the signing policy in force. */
  readonly isInPolicy: boolean | null
  /** Whether the last published data says that it is eligible for rewards. */
  readonly isEligible: boolean | null
  /** Counts of its last rounds. */
  readonly rounds: RoundCounts | null
}

/** Holdings of an account, with the providers behind them and the ends of claims. */
export interface AccountHoldings extends Omit<Holdings, 'delegations' | 'stakes' | 'rewards'> {
  readonly delegations:
    | readonly (Omit<Delegation, 'provider'> & { readonly behind: ProviderBehind })[]
    | null
  /** `behind`: null if no provider has the validator, undefined if that could not be read. */
  readonly stakes:
    | readonly (Omit<Stake, 'provider'> & { readonly behind: ProviderBehind | null | undefined })[]
    | null
  readonly rewards:
    | readonly (NonNullable<Holdings['rewards']>[number] & {
        /** Until when they can be claimed; null if the chain does not say. */
        readonly claimUntil: Date | null
      })[]
    | null
}

interface Deps {
  readonly chain: FspChain
  readonly facts: Pick<WatchTypeFacts, 'published'>
}

/**
 * Reads the holdings of an account; null if the chain does not answer in time.
 *
 * @param listAll every provider, from which the states are taken
 * @throws errors of the database
 */
export async function readAccountHoldings(
  { chain, facts }: Deps,
  listAll: () => Promise<readonly ListedProvider[]>,
  account: Address,
  block: BlockRef,
  signal: AbortSignal,
): Promise<AccountHoldings | null> {
  const holdings = await undefinedIfUnavailable(
    () => chain.holdings.of(account, block, signal),
    signal,
  )
  if (holdings === undefined) return null
  const { delegations, stakes, rewards } = holdings
  const owners = [...(delegations ?? []), ...(stakes ?? [])].flatMap(
    ({ provider }) => provider ?? [],
  )
  const [behind, policies] = await Promise.all([
    readBehind({ facts }, listAll, owners),
    (rewards ?? []).length === 0
      ? undefined
      : undefinedIfUnavailable(() => chain.rounds.policies(block, signal), signal),
  ])
  const claimUntil = (epoch: number) => {
    const seconds = policies === undefined ? null : expiryOf(epoch, policies)
    return seconds === null ? null : new Date(seconds * 1000)
  }
  return {
    ...holdings,
    delegations:
      delegations?.map(({ provider, ...rest }) => ({ ...rest, behind: behind(provider) })) ?? null,
    stakes:
      stakes?.map(({ provider, ...rest }) => ({
        ...rest,
        behind: provider == null ? provider : behind(provider),
      })) ?? null,
    rewards:
      rewards?.map((reward) => ({ ...reward, claimUntil: claimUntil(reward.rewardEpoch) })) ?? null,
  }
}

/** The states of providers, by identity. */
async function readBehind(
  { facts }: Pick<Deps, 'facts'>,
  listAll: () => Promise<readonly ListedProvider[]>,
  owners: readonly Address[],
): Promise<(provider: Address) => ProviderBehind> {
  const distinct = [...new Set(owners)]
  const all = distinct.length === 0 ? [] : await listAll()
  const published = await Promise.all(distinct.map((provider) => facts.published(provider)))
  // Without any weight the signing policy is not known.
  const isPolicyKnown = all.some(({ weight }) => weight !== null)
  return (provider) => {
    const listed = all.find((one) => one.provider === provider)
    return {
      provider,
      name: listed?.name,
      isInPolicy: isPolicyKnown ? listed?.weight != null : null,
      isEligible: published[distinct.indexOf(provider)]?.eligibility?.isEligible ?? null,
      rounds: listed === undefined || listed.rounds.known === 0 ? null : listed.rounds,
    }
  }
}
