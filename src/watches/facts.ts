import type { BlockRef } from '#src/chain/chain.ts'
import type { PChain } from '#src/chain/pchain.ts'
import type { Published } from '#src/chain/published.ts'
import type { Db } from '#src/db/connection.ts'
import type { Fence } from '#src/db/lock.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { createProviderFacts, type ProviderStatus } from '#src/fsp/indexer/providers.ts'
import { createPublicationKeeper, type PublicationKeeper } from '#src/fsp/indexer/publications.ts'
import { createRoundFacts, type RoundFacts } from '#src/fsp/indexer/rounds.ts'
import { createVoteFacts, type VoteFacts } from '#src/fsp/indexer/votes.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { createFeedFacts, type FeedWindow } from './feeds/feeds.ts'
import { listWatchedProviders } from './target-store.ts'

/**
 * What several watch types share, and what the past was like. Every method rejects as those of `Chain` do.
 * What a method remembers it writes under the given fence, and rejects with a FenceError when that is outdated.
 */
export interface Facts {
  /**
   * Per feed and window, in the order asked, the price at the end of `block` and the oldest valid one
   * inside the window; undefined without a valid price now. Prices are remembered as they are read.
   */
  feedWindows(
    windows: readonly { readonly feed: string; readonly windowSeconds: number }[],
    block: BlockRef,
    signal?: AbortSignal,
    fence?: Fence,
  ): Promise<readonly (FeedWindow | undefined)[]>
  /** How providers stand at the end of `block`, in the order asked; undefined where that is not sure. */
  providers(
    voters: readonly Address[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (ProviderStatus | undefined)[]>
  /** Names of providers, as the last published calculation has them; none where nothing is published. */
  providerNames(): Promise<ReadonlyMap<Address, string>>
  /** What is published beside the chain. */
  readonly publications: PublicationKeeper
  /** Votes of providers on the last reward epochs that ended; undefined without data. */
  votes(
    voters: readonly Address[],
    block: BlockRef,
    signal?: AbortSignal,
    fence?: Fence,
  ): Promise<readonly (VoteFacts | undefined)[]>
  /** Voting rounds of every provider. */
  readonly rounds: RoundFacts
  /** Forgets what nothing asks for any more. */
  prune(): Promise<void>
}

/** Where facts come from. */
export interface FactSource {
  readonly db: Db
  readonly chain: FspChain
  readonly clock: Clock
  readonly log: Logger
  readonly published: Published
  /** Where `passes.json` of a reward epoch is, `{epoch}` in it; undefined: eligibility is unknown. */
  readonly datasetUrl: string | undefined
  /** Where the rewards of a reward epoch are published; none: known by the first vote on them. */
  readonly rewardDataUrls: readonly string[]
  readonly chainId: number
  /** undefined: nothing is known of validators. */
  readonly pChain: PChain | undefined
}

/** Facts with their memory in the database, so that any process can go on. */
export function createFacts(source: FactSource): Facts {
  const feeds = createFeedFacts(source)
  const providers = createProviderFacts(source)
  const votes = createVoteFacts(source)
  const rounds = createRoundFacts({
    ...source,
    watchedProviders: () => listWatchedProviders(source.db),
  })
  return {
    feedWindows: (windows, block, signal, fence) => feeds.windows(windows, block, signal, fence),
    providers: (voters, block, signal) => providers.statuses(voters, block, signal),
    providerNames: () => providers.names(),
    publications: createPublicationKeeper(source),
    votes: (voters, block, signal, fence) => votes.of(voters, block, signal, fence),
    rounds,
    prune: async () => {
      await feeds.prune()
      await votes.prune()
      await rounds.prune()
    },
  }
}
