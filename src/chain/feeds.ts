import { decodeFunctionResult, encodeFunctionData, type Hex, numberToHex, stringToHex } from 'viem'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { FeedName, FeedPrice } from './chain.ts'
import { CONTRACT_REGISTRY_ABI, FTSO_V2_ABI } from './contracts.ts'
import type { Endpoints, RpcClient } from './endpoints.ts'
import { isExecutionFailure } from './failures.ts'

/** Where prices are read. */
export interface FeedSource {
  readonly endpoints: Endpoints
  /** The list of the chain's own contracts: price feeds move from time to time. */
  readonly registry: Address
  readonly clock: Clock
  readonly log: Logger
}

/** Prices of feeds by name. */
export interface Feeds {
  /**
   * The price now; undefined when the chain has no such feed, or it is zero or older than 10 minutes.
   *
   * @throws AppError upstream `dependency_unavailable`
   */
  price(name: FeedName, signal?: AbortSignal): Promise<FeedPrice | undefined>
}

/** Feeds are updated every few seconds; one as old as this has stopped. */
const AGE_MAX_MS = 10 * 60_000
/** How long the address from the list is used before the list is asked again. */
const ADDRESS_KEPT_MS = 10 * 60_000
/** The first byte of the id of a feed of a currency pair of crypto assets. */
const CRYPTO = '01'
const FEED_ID_BYTES = 20

/** The 21 bytes that name a feed: its category, then its name and zeros. */
export function feedId(name: string): Hex {
  return `0x${CRYPTO}${stringToHex(name, { size: FEED_ID_BYTES }).slice(2)}`
}

/** Prices from FtsoV2, found through the contract registry. */
export function createFeeds({ endpoints, registry, clock, log }: FeedSource): Feeds {
  let kept: { readonly address: Address; readonly untilMs: number } | undefined
  const silent = new Set<FeedName>()

  async function findAddress(client: RpcClient): Promise<Address | undefined> {
    const nowMs = clock.now().getTime()
    if (kept !== undefined && nowMs < kept.untilMs) return kept.address
    const address = await readRegistry(client, registry)
    kept = address === undefined ? undefined : { address, untilMs: nowMs + ADDRESS_KEPT_MS }
    return address
  }

  async function read(client: RpcClient, name: FeedName): Promise<FeedPrice | undefined> {
    const isKept = kept !== undefined
    const address = await findAddress(client)
    const price = address && (await readFeed(client, address, feedId(name)))
    if (price !== undefined || !isKept) return price
    // The contract may have moved since.
    kept = undefined
    const now = await findAddress(client)
    return now === undefined || now === address ? undefined : readFeed(client, now, feedId(name))
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
  }
}

/** Where the price feeds are; undefined when the chain has no such list or it names none. */
async function readRegistry(client: RpcClient, registry: Address): Promise<Address | undefined> {
  const call = {
    abi: CONTRACT_REGISTRY_ABI,
    functionName: 'getContractAddressByName',
    args: ['FtsoV2'],
  } as const
  const data = await readCall(client, { to: registry, data: encodeFunctionData(call) })
  if (data === undefined) return undefined
  const address = decodeFunctionResult({ ...call, data })
  return address === ZERO_ADDRESS ? undefined : address
}

async function readFeed(
  client: RpcClient,
  ftsoV2: Address,
  id: Hex,
): Promise<FeedPrice | undefined> {
  const call = { abi: FTSO_V2_ABI, functionName: 'getFeedById', args: [id] } as const
  const asked = { to: ftsoV2, data: encodeFunctionData(call) }
  const data = (await readCall(client, asked)) ?? (await readPaid(client, asked, id))
  if (data === undefined) return undefined
  const [value, decimals, timestamp] = decodeFunctionResult({ ...call, data })
  if (value === 0n) return undefined
  return { value, decimals, at: new Date(Number(timestamp) * 1000) }
}

interface Call {
  readonly to: Address
  readonly data: Hex
}

/** The same, paid for, where reading that feed costs something. */
async function readPaid(client: RpcClient, call: Call, id: Hex): Promise<Hex | undefined> {
  const fees = { abi: FTSO_V2_ABI, functionName: 'calculateFeeByIds', args: [[id]] } as const
  const data = await readCall(client, { to: call.to, data: encodeFunctionData(fees) })
  const fee = data === undefined ? 0n : decodeFunctionResult({ ...fees, data })
  return fee === 0n ? undefined : readCall(client, call, fee)
}

/**
 * What a contract answers; undefined when it fails or is not there.
 *
 * @param value what the call pays, out of coins that exist for this call alone
 */
async function readCall(
  client: RpcClient,
  { to, data }: Call,
  value = 0n,
): Promise<Hex | undefined> {
  const balance = { [ZERO_ADDRESS]: { balance: numberToHex(value) } }
  const paid = { from: ZERO_ADDRESS, to, data, value: numberToHex(value) }
  try {
    const answer = await client.request({
      method: 'eth_call',
      params: value === 0n ? [{ to, data }, 'latest'] : [paid, 'latest', balance],
    })
    return answer === '0x' ? undefined : answer
  } catch (error) {
    if (isExecutionFailure(error)) return undefined
    throw error
  }
}
