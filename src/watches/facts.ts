import type { Asset, BlockRef, FeedName } from '#src/chain/chain.ts'
import type { RecoveryPool } from '#src/chain/signatures/recovery-pool.ts'
import type { Fence } from '#src/db/leases.ts'
import { createEpochFacts, type EpochFacts } from '#src/fsp/indexer/epoch-facts.ts'
import {
  createProviderFacts,
  type Eligibility,
  type PastStatus,
  type ProviderStatus,
} from '#src/fsp/indexer/provider-status.ts'
import {
  createPublicationFetcher,
  type PublicationFetcher,
  type PublicationSource,
} from '#src/fsp/indexer/publications.ts'
import {
  createRoundFacts,
  type EpochReward,
  type RoundFacts,
} from '#src/fsp/indexer/round-facts.ts'
import { createVoteFacts, type VoteFacts } from '#src/fsp/indexer/vote-facts.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Address } from '#src/kernel/units.ts'
import { createFeedFacts, type FeedWindow, type PastPrice } from './feeds/feeds.ts'
import { listWatchedProviders } from './target-store.ts'

/**
 * Data that several watch types share, including stored history. Methods reject with the errors of `Chain`:
 * AppError upstream when no endpoint answers in time, and the signal's reason when the caller aborts.
 * Methods that store history write under the given fence, and reject with a FenceError when the fence is
 * outdated.
 */
export interface WatchTypeFacts {
  /**
   * For each feed and window, in the given order, the price at the end of `block` and the oldest valid
   * price inside the window; undefined if the feed has no valid price at `block`. Prices that are read are
   * also stored.
   */
  feedWindows(
    windows: readonly { readonly feed: string; readonly windowSeconds: number }[],
    block: BlockRef,
    signal?: AbortSignal,
    fence?: Fence,
  ): Promise<readonly (FeedWindow | undefined)[]>
  /**
   * Stored prices of a feed, oldest first, in pages. Each price comes with the oldest price in the window
   * before it.
   */
  feedHistory(
    feedId: string,
    windowSeconds: number,
    span: { readonly from: Date; readonly to: Date },
  ): AsyncIterable<readonly PastPrice[]>
  /**
   * States of providers at the end of `block`, in the given order; undefined where endpoints contradict
   * each other.
   */
  providers(
    voters: readonly Address[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (ProviderStatus | undefined)[]>
  /**
   * Data of a provider that is published off-chain: eligibility (null if unknown) and rewards (newest
   * first); and its reports.
   */
  published(provider: Address): Promise<{
    readonly eligibility: Eligibility | null
    readonly rewards: readonly EpochReward[]
    /** Reward epochs of which there is a report, newest first. */
    readonly reports: readonly number[]
  }>
  /** Changes of a provider's status according to stored rounds and publications, oldest first. */
  providerHistory(
    voter: Address,
    span: { readonly from: Date; readonly to: Date },
  ): Promise<readonly PastStatus[]>
  /** Times at which rounds were stored, at least one of each hour that has any. */
  providersSeenAt(span: { readonly from: Date; readonly to: Date }): Promise<readonly Date[]>
  /** Names of providers from the last published eligibility data; empty if there is none. */
  providerNames(): Promise<ReadonlyMap<Address, string>>
  /**
   * The feed with an asset's price in US dollars. Undefined for tokens that are not in `pricedTokens`, and for the coin
   * of a test network.
   */
  usdFeedOf(asset: Asset): FeedName | undefined
  /** The assets with a price in US dollars. */
  readonly pricedAssets: readonly Asset[]
  /** Data that is published off-chain. */
  readonly publications: PublicationFetcher
  /**
   * Uptime and reward votes of providers on the reward epochs that ended last; undefined if there is no
   * data.
   */
  votes(
    voters: readonly Address[],
    block: BlockRef,
    signal?: AbortSignal,
    fence?: Fence,
  ): Promise<readonly (VoteFacts | undefined)[]>
  /** Voting rounds of every provider. */
  readonly rounds: RoundFacts
  /** Reward epochs of every provider. */
  readonly epochs: EpochFacts
  /** Deletes data that is older than its retention. */
  prune(): Promise<void>
}

const REWARD_EPOCHS_SHOWN = 4

/** Dependencies and addresses that `createWatchTypeFacts` needs. */
export interface FactSource extends PublicationSource {
  readonly chainId: number
  /** If omitted, the signers of voting rounds are recovered in this thread. */
  readonly recovery?: Pick<RecoveryPool, 'recover'> | undefined
  /**
   * Tokens whose value in US dollars is known. They are identified by address, because any token can have
   * the same symbol.
   */
  readonly pricedTokens: {
    readonly WFLR?: Address | undefined
    readonly FXRP?: Address | undefined
  }
}

/** Creates the facts. Their history is in the database, so that another process can continue it. */
export function createWatchTypeFacts(source: FactSource): WatchTypeFacts {
  const feeds = createFeedFacts(source)
  const providers = createProviderFacts(source)
  const votes = createVoteFacts(source)
  const epochs = createEpochFacts(source)
  const rounds = createRoundFacts({
    ...source,
    watchedProviders: () => listWatchedProviders(source.db),
  })
  const { WFLR, FXRP } = source.pricedTokens
  const usdFeedOf = (asset: Asset): FeedName | undefined => {
    if (asset === 'FLR' || asset === WFLR) {
      const { feed, isTest } = servedChain()
      return isTest ? undefined : feed
    }
    return asset === FXRP ? 'XRP/USD' : undefined
  }
  const known: readonly (Asset | undefined)[] = ['FLR', WFLR, FXRP]
  return {
    usdFeedOf,
    pricedAssets: known.flatMap((asset) =>
      asset !== undefined && usdFeedOf(asset) !== undefined ? [asset] : [],
    ),
    feedWindows: (windows, block, signal, fence) => feeds.windows(windows, block, signal, fence),
    feedHistory: (feedId, windowSeconds, span) => feeds.history(feedId, windowSeconds, span),
    providers: (voters, block, signal) => providers.statuses(voters, block, signal),
    published: async (provider) => {
      const [eligibility, rewards, reports] = await Promise.all([
        providers.eligibility(provider),
        rounds.rewards(provider, REWARD_EPOCHS_SHOWN),
        epochs.list(provider, REWARD_EPOCHS_SHOWN),
      ])
      return { eligibility, rewards, reports }
    },
    providerHistory: (voter, span) => providers.history(voter, span),
    providersSeenAt: (span) => providers.seenAt(span),
    providerNames: () => providers.names(),
    publications: createPublicationFetcher(source),
    votes: (voters, block, signal, fence) => votes.of(voters, block, signal, fence),
    rounds,
    epochs,
    prune: async () => {
      await feeds.prune()
      await votes.prune()
      await rounds.prune()
    },
  }
}
