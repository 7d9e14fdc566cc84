import { decodeFunctionResult, encodeFunctionData, type Hex } from 'viem'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { forEachConcurrently } from '#src/kernel/for-each-concurrently.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import type { BlockRef, FeedName, FeedPrice, FeedReading } from '../chain.ts'
import { FTSO_V2_ABI } from '../contracts.ts'
import { readCall } from '../endpoints/calls.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import { isEndpointFailure } from '../endpoints/failures.ts'
import { SECONDS_MAX } from '../endpoints/schemas.ts'
import type { SharedCalls } from '../endpoints/shared-calls.ts'
import type { ContractAddresses } from '../registry.ts'
import { cryptoFeedId, type FeedEntry, type FeedList, feedName, findFeed } from './feed-names.ts'

/** Dependencies of reading prices. */
export interface FeedSource {
  readonly endpoints: Endpoints
  readonly contracts: ContractAddresses
  readonly multicallAddress: Address
  readonly calls: SharedCalls
  readonly clock: Clock
  readonly log: Logger
}

/** Reader of feed prices. */
export interface Feeds {
  /**
   * The current price; undefined when the chain has no such feed, or its price is zero or older than 10
   * minutes.
   *
   * @throws AppError upstream `dependency_unavailable`
   */
  price(name: FeedName, signal?: AbortSignal): Promise<FeedPrice | undefined>
  /** Every feed of the chain; undefined when the chain does not list its feeds. */
  list(signal?: AbortSignal): Promise<FeedList | undefined>
  /** Prices at the end of a block, in the given order; undefined where a feed has no valid price. */
  at(
    texts: readonly string[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (FeedReading | undefined)[]>
}

/** Age at which a price counts as stale, since feeds are updated every few seconds. */
const AGE_MAX_MS = 10 * MINUTE_MS
/** Time for which the list of feeds is cached. */
const LIST_KEPT_MS = 10 * MINUTE_MS
const APART_AT_ONCE = 4

/**
 * Creates a reader of prices from FtsoV2, which it finds through the contract registry. Long because its
 * methods share the list of feeds and the set of failing feeds.
 */
export function createFeeds(source: FeedSource): Feeds {
  const { endpoints, contracts, clock, log } = source
  /** Feeds without a valid price, for which that was logged. */
  const silent = new Set<FeedName>()
  /**
   * Feeds that had no valid price in a common request. They are read alone, so that the other feeds do not
   * fail with them.
   */
  const apart = new Set<Hex>()
  let cached: { readonly list: FeedList; readonly untilMs: number } | undefined

  async function read(client: RpcClient, name: FeedName): Promise<FeedPrice | undefined> {
    const address = await contracts.find(client, 'FtsoV2')
    const price = address && (await readFeed(client, address, cryptoFeedId(name)))
    if (price !== undefined) return price
    // The contract may have moved.
    contracts.expire()
    const now = await contracts.find(client, 'FtsoV2')
    return now === undefined || now === address
      ? undefined
      : readFeed(client, now, cryptoFeedId(name))
  }

  async function list(signal?: AbortSignal): Promise<FeedList | undefined> {
    const nowMs = clock.now().getTime()
    if (cached !== undefined && nowMs < cached.untilMs) return cached.list
    const freshList = await endpoints.ask(async (client) => {
      const address = await contracts.find(client, 'FtsoV2')
      return address && (await readList(client, address))
    }, signal)
    // An empty answer never replaces a known list.
    if (freshList === undefined || freshList.feeds.length === 0) return cached?.list ?? freshList
    cached = { list: freshList, untilMs: nowMs + LIST_KEPT_MS }
    return freshList
  }

  async function readAll(
    client: RpcClient,
    ids: readonly Hex[],
    block: BlockRef,
  ): Promise<ReadonlyMap<Hex, FeedPrice>> {
    const pricesById = new Map<Hex, FeedPrice>()
    const address = await contracts.find(client, 'FtsoV2')
    if (address === undefined) return pricesById
    const isFresh = (price: FeedPrice) => block.at.getTime() - price.at.getTime() <= AGE_MAX_MS
    const together = ids.filter((id) => !apart.has(id))
    const prices = await readFeeds(source, client, address, together, block.number)
    const areGood = prices?.every(isFresh) ?? false
    for (const [index, id] of together.entries()) {
      const price = prices?.[index]
      if (areGood && price !== undefined && price.value > 0n) pricesById.set(id, price)
    }
    const readAlone = areGood ? ids.filter((id) => apart.has(id)) : ids
    await forEachConcurrently(readAlone, APART_AT_ONCE, async (id) => {
      const price = await readFeed(client, address, id, block.number)
      const isGood = price !== undefined && isFresh(price)
      if (isGood) pricesById.set(id, price)
      // A feed that works again is read with the others from now on.
      if (isGood) apart.delete(id)
      else addBounded(apart, id)
    })
    if (pricesById.size === 0) contracts.expire()
    return pricesById
  }

  return {
    async price(name, signal) {
      const price = await endpoints.ask((client) => read(client, name), signal)
      const isFresh =
        price !== undefined && clock.now().getTime() - price.at.getTime() <= AGE_MAX_MS
      if (isFresh !== silent.has(name)) return isFresh ? price : undefined
      const fields = { feed: name, updatedAt: price?.at.toISOString() ?? null }
      if (isFresh) {
        silent.delete(name)
        log.info(fields, 'price feed is back')
        return price
      }
      silent.add(name)
      log.warn(fields, 'price feed is missing or stale')
      return undefined
    },
    list,
    async at(texts, block, signal) {
      const feedList = await list(signal)
      const entries = texts.map((text) =>
        feedList === undefined ? guess(text) : findFeed(feedList, text),
      )
      const ids = [...new Set(entries.flatMap((entry) => entry?.id ?? []))]
      if (ids.length === 0) return texts.map(() => undefined)
      const prices = await endpoints.ask((client) => readAll(client, ids, block), signal)
      return entries.map((entry) => {
        const price = entry && prices.get(entry.id)
        return entry && price && { ...entry, ...price }
      })
    },
  }
}

/** Resolves an id or a pair of crypto assets to a feed, where the chain does not list its feeds. */
function guess(text: string): FeedEntry | undefined {
  const name = feedName(text)
  if (name !== undefined) return { id: `0x${text.slice(2).toLowerCase()}`, name }
  return /^[\w.]{1,9}\/[\w.]{1,9}$/.test(text) ? { id: cryptoFeedId(text), name: text } : undefined
}

async function readList(client: RpcClient, ftsoV2: Address): Promise<FeedList | undefined> {
  const supported = { abi: FTSO_V2_ABI, functionName: 'getSupportedFeedIds' } as const
  const data = await readCall(client, { to: ftsoV2, data: encodeFunctionData(supported) })
  if (data === undefined) return undefined
  const changes = { abi: FTSO_V2_ABI, functionName: 'getFeedIdChanges' } as const
  const changed = await readCall(client, { to: ftsoV2, data: encodeFunctionData(changes) })
  const renamed = changed === undefined ? [] : decodeFunctionResult({ ...changes, data: changed })
  return {
    feeds: decodeFunctionResult({ ...supported, data }).flatMap((id) => {
      const name = feedName(id)
      return name === undefined ? [] : [{ id, name }]
    }),
    renamed: new Map(renamed.map(({ oldFeedId, newFeedId }) => [oldFeedId, newFeedId])),
  }
}

/** Reads several feeds in a request that balances share; undefined when a feed makes the request fail. */
async function readFeeds(
  { calls, multicallAddress }: Pick<FeedSource, 'calls' | 'multicallAddress'>,
  client: RpcClient,
  ftsoV2: Address,
  ids: readonly Hex[],
  block: number,
): Promise<readonly FeedPrice[] | undefined> {
  if (ids.length === 0) return []
  const call = { abi: FTSO_V2_ABI, functionName: 'getFeedsById', args: [ids] } as const
  const callData = encodeFunctionData(call)
  const options = { multicallAddress, block }
  const [shared] = await calls
    .read(client, [{ target: ftsoV2, callData }], options)
    .catch((error: unknown) => {
      if (isEndpointFailure(error)) return []
      throw error
    })
  // The feeds may cost a fee, which calls of a batch cannot pay, and Multicall3 may be at fault.
  const data = shared ?? (await readPayable(client, ftsoV2, callData, ids, block))
  if (data === undefined) return undefined
  const [values, decimals, timestamp] = decodeFunctionResult({ ...call, data })
  if (values.length !== ids.length || decimals.length !== ids.length) return undefined
  if (timestamp > SECONDS_MAX) return undefined
  const at = new Date(Number(timestamp) * 1000)
  return values.map((value, index) => ({ value, decimals: decimals[index] ?? 0, at }))
}

async function readFeed(
  client: RpcClient,
  ftsoV2: Address,
  id: Hex,
  block?: number,
): Promise<FeedPrice | undefined> {
  const call = { abi: FTSO_V2_ABI, functionName: 'getFeedById', args: [id] } as const
  const data = await readPayable(client, ftsoV2, encodeFunctionData(call), [id], block)
  if (data === undefined) return undefined
  const [value, decimals, timestamp] = decodeFunctionResult({ ...call, data })
  if (value === 0n || timestamp > SECONDS_MAX) return undefined
  return { value, decimals, at: new Date(Number(timestamp) * 1000) }
}

/** Calls the contract, and repeats the call with a fee if reading these feeds costs one. */
async function readPayable(
  client: RpcClient,
  to: Address,
  data: Hex,
  ids: readonly Hex[],
  block: number | undefined,
): Promise<Hex | undefined> {
  const free = await readCall(client, { to, data }, { block })
  if (free !== undefined) return free
  const fees = { abi: FTSO_V2_ABI, functionName: 'calculateFeeByIds', args: [ids] } as const
  const answer = await readCall(client, { to, data: encodeFunctionData(fees) }, { block })
  const value = answer === undefined ? 0n : decodeFunctionResult({ ...fees, data: answer })
  return value === 0n ? undefined : readCall(client, { to, data }, { block, value })
}

/** Maximum number of feeds that are read alone. */
const APART_MAX = 1000

/** Adds a feed; beyond the limit the oldest feed is removed, and read with the others again. */
function addBounded(apart: Set<Hex>, id: Hex): void {
  const [oldest] = apart
  if (apart.size >= APART_MAX && oldest !== undefined) apart.delete(oldest)
  apart.add(id)
}
