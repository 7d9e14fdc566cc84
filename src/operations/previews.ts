/** Operations without a route: the preview of a new watch, names of feeds, look-ups of providers. */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import * as previews from '#src/watches/manage/preview.ts'
import * as names from '#src/watches/provider-names.ts'
import { defineChatOperation } from './define.ts'

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

/** What a watch on a price feed would observe now; needs no sign-in. */
export const observeFeed = defineChatOperation({
  id: 'observeFeed',
  scope: 'none',
  rate: 'preview',
  query: z.strictObject({ feed: z.string() }),
  handle: async ({ app, query }) => ({ observation: await previews.observeFeed(app, query.feed) }),
})

/** All providers with a public name, sorted by name; empty if no names are published. */
export const listProviders = defineChatOperation({
  id: 'listProviders',
  scope: 'read',
  output: z.object({ data: z.array(names.NamedProvider) }),
  handle: async ({ app }) => ({ data: await names.listProviders(app) }),
})

/** Providers by part of their name or by identity address; at most six. */
export const searchProviders = defineChatOperation({
  id: 'searchProviders',
  scope: 'read',
  query: names.ProviderSearch,
  output: z.object({ data: z.array(names.NamedProvider) }),
  handle: async ({ app, query }) => ({ data: await names.searchProviders(app, query) }),
})

/** The provider or account of an address or name; needs no sign-in. */
export const lookUp = defineChatOperation({
  id: 'lookUp',
  scope: 'none',
  rate: 'preview',
  query: names.ProviderSearch,
  handle: ({ app, query }) => app.lookUps.find(query.text),
})

/** The provider or account at an address, for the page of a provider; needs no sign-in. */
export const showProvider = defineChatOperation({
  id: 'showProvider',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ address: Address }),
  handle: ({ app, query }) => app.lookUps.at(query.address),
})

/** Every provider; needs no sign-in. */
export const listEveryProvider = defineChatOperation({
  id: 'listEveryProvider',
  scope: 'none',
  rate: 'public',
  handle: ({ app }) => app.lookUps.list(),
})
