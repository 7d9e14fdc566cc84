/** Tools of agents that REST does not have: they read what anybody may see on the pages, and need no sign-in. */
import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import { bySimilarity } from '#src/kernel/similar.ts'
import { Address, Instant, Units } from '#src/kernel/units.ts'
import type { LookUpAnswer } from '#src/watches/look-up.ts'
import * as previews from '#src/watches/manage/preview.ts'
import { orderProviders, PROVIDER_ORDERS } from '#src/watches/provider-list.ts'
import { NamedProvider } from '#src/watches/provider-names.ts'
import { ProviderView } from '#src/watches/provider-view.ts'
import { defineChatOperation, type OperationWith } from './define.ts'

/** Rounds of a provider in an answer: those of a quarter of an hour. */
const ROUNDS = 10
const NEAREST = 5

const Provider = Address.meta({ description: 'operations:field.providerAsked' })

/** One shape for every answer, because clients know a single schema: what does not apply is left out. */
const Found = z.object({
  kind: z.enum(['provider', 'account', 'several', 'nothing', 'unavailable']),
  address: Address.optional(),
  name: z.string().optional(),
  provider: ProviderView.optional(),
  eligible: z.boolean().nullable().optional(),
  balanceWei: Units.nullable().optional(),
  usdCents: Units.nullable().optional(),
  isContract: z.boolean().optional(),
  providers: z.array(NamedProvider).optional(),
  why: z.string().optional(),
})

/** The provider or account of an address, or the providers with this name. */
const lookUpAddressOrName = defineChatOperation({
  id: 'lookUpAddressOrName',
  scope: 'none',
  rate: 'preview',
  query: z.strictObject({
    text: z.string().max(200).meta({ description: 'operations:field.lookedUp' }),
  }),
  output: Found,
  handle: async ({ app, query }) => shown(await app.lookUps.find(query.text)),
})

function shown(answer: LookUpAnswer): z.output<typeof Found> {
  switch (answer.kind) {
    case 'nothing':
      return { kind: answer.kind, why: answer.why.reason }
    case 'several':
      return { kind: answer.kind, providers: [...answer.providers] }
    case 'provider': {
      const { kind, view, name, eligibility } = answer
      const rounds = view.rounds.slice(0, ROUNDS)
      const found = { address: view.provider, name, provider: { ...view, rounds } }
      return { kind, ...found, eligible: eligibility?.isEligible ?? null }
    }
    default:
      return answer
  }
}

/** Data providers of the network, with counts of their rounds. */
const listDataProviders = defineChatOperation({
  id: 'listDataProviders',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({
    order: z.enum(PROVIDER_ORDERS).default('weight'),
    limit: z.coerce.number().int().min(1).max(250).default(50),
  }),
  output: z.object({
    total: z.int(),
    data: z.array(
      z.object({
        provider: Address,
        name: z.string().nullable(),
        weight: z.number().nullable(),
        lastRounds: z.object({ known: z.int(), bad: z.int() }),
        last30Days: z.object({ days: z.int(), rounds: z.int(), badRounds: z.int() }).nullable(),
      }),
    ),
  }),
  handle: async ({ app, query }) => {
    const all = orderProviders(await app.lookUps.listAll(), query.order)
    const data = all.slice(0, query.limit).map(({ provider, name, weight, rounds, days }) => ({
      ...{ provider, name: name ?? null, weight, lastRounds: rounds, last30Days: days },
    }))
    return { total: all.length, data }
  },
})

/** What the usual watch of a provider would have sent; `result` is null while it is not known yet. */
const getUsualAlerts = defineChatOperation({
  id: 'getUsualAlerts',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({ provider: Provider }),
  output: z.object({
    result: z.object({ alerts: z.int(), days: z.int() }).nullable(),
  }),
  handle: async ({ app, query }) => ({ result: app.usualBacktests.find(query.provider) ?? null }),
})

/** What is read of an observation of a price feed. */
const Observed = z.object({
  updatedAt: Instant,
  price: z.object({ value: Units, decimals: z.int() }),
})

/** The price of a feed now; null while the chain does not answer. */
const getFeedPrice = defineChatOperation({
  id: 'getFeedPrice',
  scope: 'none',
  rate: 'preview',
  query: z.strictObject({ feed: z.string().max(60) }),
  output: z.object({
    feed: z.string(),
    usd: z.string().nullable(),
    updatedAt: Instant.nullable(),
  }),
  handle: async ({ app, query }) => {
    const feed = nameOf(query.feed, await previews.listFeeds(app))
    const { data } = Observed.safeParse(await previews.observeFeed(app, feed))
    if (data === undefined) return { feed, usd: null, updatedAt: null }
    return { feed, usd: previews.decimalText(data.price), updatedAt: data.updatedAt }
  },
})

/**
 * The feed with this name, or the feed in dollars with this symbol. While the chain lists no feeds, the text itself.
 * @throws AppError invalid `validation_failed` for a feed that is not listed
 */
function nameOf(text: string, feeds: readonly string[]): string {
  const key = keyOf(text)
  const found = feeds.find((name) => keyOf(name) === key || keyOf(name) === `${key}usd`)
  if (found !== undefined) return found
  if (feeds.length === 0) return text
  const nearest = bySimilarity(feeds, key, keyOf).slice(0, NEAREST).join(', ')
  throw new AppError('invalid', 'validation_failed', {
    errors: [{ pointer: '/feed', code: 'feed', values: { nearest } }],
  })
}

function keyOf(text: string): string {
  return text.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()
}

/** Operations for agents alone, beside those with a route. */
export const AGENT_OPERATIONS: readonly OperationWith<unknown>[] = [
  lookUpAddressOrName,
  listDataProviders,
  getUsualAlerts,
  getFeedPrice,
]
