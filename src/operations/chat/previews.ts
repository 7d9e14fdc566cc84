/** Operations without a route: the preview of a new watch, names of feeds. */
import { z } from 'zod'
import * as previews from '#src/watches/manage/preview.ts'
import { WalletAsset } from '#src/watches/types/own-coin.ts'
import { defineChatOperation } from '../define.ts'

/** The target of a new watch, and its current state. */
export const resolveTarget = defineChatOperation({
  id: 'resolveTarget',
  scope: 'read',
  body: z.strictObject({ type: z.string(), target: z.unknown() }),
  output: previews.TargetPreview,
  handle: ({ app, caller, body }) => previews.previewTarget(app, caller, body),
})

/**
 * Names of the chain’s price feeds, in alphabetical order; empty while the chain does not list them. Needs no sign-in.
 */
export const listFeeds = defineChatOperation({
  id: 'listFeeds',
  scope: 'none',
  output: z.object({ data: z.array(z.string()) }),
  handle: async ({ app }) => ({ data: await previews.listFeeds(app) }),
})

/** Price of an asset in US dollars, for which people type amounts; needs no sign-in. */
export const readUsdPrice = defineChatOperation({
  id: 'readUsdPrice',
  scope: 'none',
  rate: 'preview',
  query: z.strictObject({ asset: WalletAsset }),
  output: z.object({ usd: z.string().nullable() }),
  handle: async ({ app, query }) => ({ usd: await previews.readUsdPriceNow(app, query.asset) }),
})

/** What a watch on a price feed would observe now; needs no sign-in. */
export const observeFeed = defineChatOperation({
  id: 'observeFeed',
  scope: 'none',
  rate: 'preview',
  query: z.strictObject({ feed: z.string() }),
  handle: async ({ app, query }) => ({ observation: await previews.observeFeed(app, query.feed) }),
})
