import type { Asset, BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { WatchTypeFacts } from './facts.ts'
import { undefinedIfUnavailable } from './unavailable.ts'
import type { UnitPrice } from './usd-value.ts'

/** Time that a price may take: it only adds to an answer. */
const PRICE_MS = 1500

/** Price of an asset in US dollars; undefined without a feed, and where the feed does not answer soon. */
export async function readUsdPrice(
  { chain, facts }: { readonly chain: FspChain; readonly facts: WatchTypeFacts },
  asset: Asset,
  block: BlockRef,
  signal?: AbortSignal,
): Promise<UnitPrice | undefined> {
  const feed = facts.usdFeedOf(asset)
  if (feed === undefined) return undefined
  const patience = AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(PRICE_MS)])
  const read = () => chain.feedPrices([feed], block, patience)
  return (await undefinedIfUnavailable(read, patience))?.[0]
}
