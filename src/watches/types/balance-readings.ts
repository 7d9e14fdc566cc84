/** Reads balances of wallets: of one asset each, or of all assets that have a price. */
import type { Asset, AssetInfo, BlockRef, ChangedBalance } from '#src/chain/chain.ts'
import type { BlockSpan, ObservationRequest, ObservationSources } from '../define.ts'
import type { WatchTypeFacts } from '../facts.ts'
import { undefinedIfUnavailable } from '../unavailable.ts'
import type { UnitPrice } from '../usd-value.ts'
import { TRANSACTIONS_MAX } from './balance-change.ts'
import {
  type BalanceObservation,
  type Holding,
  type Movement,
  roundedPrice,
  totalCents,
  USD,
} from './balance-observation.ts'
import type { BalanceTarget } from './balance-settings.ts'
import { ALL_ASSETS } from './own-coin.ts'

/** The assets of a target, in a fixed order. */
export function assetsOf(
  { asset, tokens = [] }: Pick<BalanceTarget, 'asset' | 'tokens'>,
  facts: Pick<WatchTypeFacts, 'pricedAssets'>,
): readonly Asset[] {
  if (asset !== ALL_ASSETS) return [asset]
  return [...new Set([...facts.pricedAssets, ...tokens])]
}

/** A balance that is read, with the place of its request. */
interface Reading {
  readonly place: number
  readonly query: { readonly address: BalanceTarget['address']; readonly asset: Asset }
  readonly info: AssetInfo | undefined
  readonly units: bigint | undefined
}

/** Balances of all requests at the end of a span: one batch of calls, whatever the assets. */
export async function observeBalances(
  sources: ObservationSources,
  requests: readonly ObservationRequest<BalanceTarget>[],
  span: BlockSpan,
  signal?: AbortSignal,
): Promise<readonly (readonly BalanceObservation[] | undefined)[]> {
  const { chain, facts } = sources
  const wanted = requests.flatMap(({ target }, place) =>
    assetsOf(target, facts).map((asset) => ({ place, query: { address: target.address, asset } })),
  )
  const infos = await Promise.all(wanted.map(({ query }) => chain.assetInfo(query.asset, signal)))
  const queries = wanted.map(({ query }) => query)
  const units = await chain.balances(queries, span.upTo, signal)
  const readings = wanted.map((one, index) => ({ ...one, info: infos[index], units: units[index] }))
  const hasAll = requests.some(({ target }) => target.asset === ALL_ASSETS)
  const prices: Prices = hasAll ? await readPrices(sources, span.upTo, signal) : new Map()
  const changes = readings.flatMap((reading, index) => changeOf(reading, index, requests))
  const movements = await movementsOf(sources, changes, span, signal)
  const byPlace = Map.groupBy(
    readings.map((reading, index) => ({ ...reading, movement: movements.get(index) ?? null })),
    ({ place }) => place,
  )
  const at = { position: span.upTo.number, at: span.upTo.at }
  return requests.map(({ target }, place) => {
    const own = byPlace.get(place) ?? []
    const known = target.asset === ALL_ASSETS ? allOf(own, prices) : oneOf(own)
    return known && [{ ...at, ...known }]
  })
}

type Prices = ReadonlyMap<Asset, UnitPrice | undefined>
type Read = Reading & { readonly movement: Movement | null }
type Known = Omit<BalanceObservation, 'position' | 'at'>

function oneOf([reading]: readonly Read[]): Known | undefined {
  if (reading?.info === undefined || reading.units === undefined) return undefined
  return { balanceUnits: reading.units, ...reading.info, movement: reading.movement }
}

/**
 * All assets of a wallet. Undefined unless each balance and each price is known: a missing one would look like a loss.
 */
function allOf(readings: readonly Read[], prices: Prices): Known | undefined {
  const holdings = readings.flatMap(({ query: { asset }, info, units, movement }): Holding[] => {
    const usdPrice = prices.has(asset) ? prices.get(asset) : null
    if (info === undefined || units === undefined || usdPrice === undefined) return []
    return [{ asset, ...info, balanceUnits: units, usdPrice, movement }]
  })
  if (holdings.length < readings.length) return undefined
  return holdingsTogether(holdings)
}

/** The observation of all assets of a wallet. */
export function holdingsTogether(holdings: readonly Holding[]): Known {
  return { balanceUnits: totalCents(holdings), ...USD, movement: null, holdings: [...holdings] }
}

/** Prices of the assets that have a feed, with three digits; undefined if the feed has no price now. */
export async function readPrices(
  { chain, facts }: Pick<ObservationSources, 'chain' | 'facts'>,
  block: BlockRef,
  signal?: AbortSignal,
): Promise<Prices> {
  const priced = facts.pricedAssets.flatMap((asset) => {
    const feed = facts.usdFeedOf(asset)
    return feed === undefined ? [] : [{ asset, feed }]
  })
  if (priced.length === 0) return new Map()
  const feeds = [...new Set(priced.map(({ feed }) => feed))]
  const readings = await chain.feedPrices(feeds, block, signal)
  return new Map(
    priced.map(({ asset, feed }) => {
      const reading = readings[feeds.indexOf(feed)]
      const { value, decimals } = reading ?? {}
      if (value === undefined || decimals === undefined) return [asset, undefined]
      return [asset, roundedPrice({ value, decimals })]
    }),
  )
}

/** A balance that changed since the last observation, with the index of its reading. */
interface Change extends ChangedBalance {
  readonly index: number
  readonly fromUnits: bigint
}

function changeOf(
  { place, query, units }: Reading,
  index: number,
  requests: readonly ObservationRequest<BalanceTarget>[],
): readonly Change[] {
  const last = (requests[place]?.last ?? null) as BalanceObservation | null
  const before =
    last?.holdings === undefined
      ? last?.balanceUnits
      : last.holdings.find(({ asset }) => asset === query.asset)?.balanceUnits
  if (before === undefined || units === undefined || before === units) return []
  return [{ ...query, index, fromUnits: before, changeUnits: units - before }]
}

const NO_CAUSE = { transactionHash: null, counterparty: null, transactions: [] }

/**
 * Causes and prices of the changes, by index. If the chain does not return them they are null, so that alerts do not
 * wait for them.
 */
async function movementsOf(
  { chain, facts }: ObservationSources,
  changes: readonly Change[],
  { after, upTo }: BlockSpan,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, Movement>> {
  if (changes.length === 0 || after === null) return new Map()
  const feeds = [...new Set(changes.flatMap(({ asset }) => facts.usdFeedOf(asset) ?? []))]
  const [found, readings] = await Promise.all([
    undefinedIfUnavailable(() => chain.movements(changes, { after, upTo: upTo.number }, signal)),
    undefinedIfUnavailable(async () =>
      feeds.length === 0 ? [] : await chain.feedPrices(feeds, upTo, signal),
    ),
  ])
  return new Map(
    changes.map(({ index, asset, fromUnits }, place) => {
      const { transactions, ...cause } = found?.[place] ?? NO_CAUSE
      const feed = facts.usdFeedOf(asset)
      const reading = feed === undefined ? undefined : readings?.[feeds.indexOf(feed)]
      const usdPrice =
        reading === undefined ? null : { value: reading.value, decimals: reading.decimals }
      const listed = transactions.slice(0, TRANSACTIONS_MAX)
      const transactionCount = transactions.length
      return [index, { ...cause, fromUnits, transactions: listed, transactionCount, usdPrice }]
    }),
  )
}
