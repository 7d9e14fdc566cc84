import { servedChain } from '#src/kernel/chains.ts'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { ChainHead, Meters } from '#src/kernel/meters.ts'
import type { Address } from '#src/kernel/units.ts'
import { findBalanceAt } from './balance-at.ts'
import { readMovements } from './balance-movements.ts'
import { readBalances } from './balances.ts'
import { readBlock, readConfirmedBlock } from './blocks.ts'
import type { AssetInfo, BlockRef, Chain } from './chain.ts'
import { CONTRACT_REGISTRY_ADDRESS, MULTICALL3_ADDRESS, NATIVE_DECIMALS } from './contracts.ts'
import { createEndpoints, hostOf } from './endpoints.ts'
import { createFeeds } from './feeds.ts'
import { findInternalTransfers } from './internal-transfers.ts'
import { createLogReader } from './logs.ts'
import { findPastBalance } from './past-balances.ts'
import { scanPayments } from './payment-scan.ts'
import { readTransactionFacts } from './payments.ts'
import type { RecoveryPool } from './recovery-pool.ts'
import { createContractAddresses } from './registry.ts'
import { readRouterState } from './router-state.ts'
import { verifyMessage } from './signatures.ts'
import { isBlockUnreadable } from './spans.ts'
import { readTokenInfo } from './tokens.ts'
import { createWorkLimiter, limitReads, type WorkLimits } from './work-limiter.ts'

/** Settings of the chain's client. */
export interface ChainOptions {
  /** JSON-RPC endpoints, http or https; the first is the primary one. Credentials are never logged. */
  readonly rpcUrls: readonly string[]
  /** Headers of each endpoint, by position, such as an API key. Never logged. */
  readonly rpcHeaders?: readonly Readonly<Record<string, string>>[]
  /** Timeout of one request to each endpoint, by position, where it is not `timeoutMs`. */
  readonly rpcTimeoutsMs?: readonly (number | undefined)[]
  readonly chainId: number
  readonly log: Logger
  /** Timeout of one request; 5000 by default. */
  readonly timeoutMs?: number
  /** Multicall3, if not at its usual address. */
  readonly multicallAddress?: Address
  /** The FlareContractRegistry, if not at its usual address. */
  readonly contractRegistry?: Address | undefined
  /** Decides when a failed endpoint is retried; the machine's clock by default. */
  readonly clock?: Clock
  /** Former addresses of contracts, by registry name, as returned by `RoundReader.contracts`. */
  readonly formerContracts?: () => Promise<Readonly<Record<string, readonly Address[]>>>
  /** Upper limits of concurrent and waiting requests; unlimited by default. */
  readonly limits?: WorkLimits
  /** Counts requests and records the newest block, for the operator. */
  readonly meters?: Meters
  /** Recovers the signers of plain accounts' signatures in other threads; if omitted, in this thread. */
  readonly recovery?: Pick<RecoveryPool, 'recoverOne'>
}

const TIMEOUT_MS = 5000
/** Time without a new block after which every endpoint is asked for one. */
const STANDSTILL_MS = 10_000
/**
 * Limits of signature checks: anybody can cause a contract to be called, and the contract decides how long
 * that takes.
 */
const VERIFICATIONS = { runningMax: 3, waitingMax: 12 } as const
/** Maximum number of cached tokens, because anybody can request any address. */
const REMEMBERED_TOKENS_MAX = 10_000

/**
 * Creates the client of a chain over JSON-RPC. It connects with the first request. Long because it
 * assembles every method of the client from its readers.
 */
export function createChain({
  rpcUrls,
  rpcHeaders,
  rpcTimeoutsMs,
  chainId,
  log,
  timeoutMs = TIMEOUT_MS,
  multicallAddress = MULTICALL3_ADDRESS,
  contractRegistry = CONTRACT_REGISTRY_ADDRESS,
  clock = systemClock,
  formerContracts,
  limits,
  meters,
  recovery,
}: ChainOptions): Chain {
  const allEndpoints = createEndpoints({
    rpcUrls,
    rpcHeaders,
    rpcTimeoutsMs,
    chainId,
    log,
    clock,
    timeoutMs,
    meters,
  })
  const endpoints =
    limits === undefined ? allEndpoints : limitReads(allEndpoints, createWorkLimiter(limits))
  const tokens = new Map<Address, AssetInfo>()
  const logs = createLogReader()
  const contracts = createContractAddresses({
    registry: contractRegistry,
    endpointCount: endpoints.count,
    ...(formerContracts && { stored: formerContracts }),
    clock,
    log,
  })
  const feeds = createFeeds({ endpoints, contracts, clock, log })

  const turns = createWorkLimiter(VERIFICATIONS)
  let newest = { number: 0, atMs: 0 }

  return {
    // An endpoint that is behind the others, or stands still, is skipped while another has newer blocks.
    confirmedBlock: async (confirmations, signal) => {
      const nowMs = clock.now().getTime()
      const isQuick = nowMs - newest.atMs < STANDSTILL_MS
      const heard: (BlockRef & ChainHead)[] = []
      await endpoints.askUntil(
        async (client) => {
          const read = await readConfirmedBlock(client, confirmations)
          heard.push({ ...read, endpoint: hostOf(client.transport.url ?? '') })
        },
        () => heard.some(({ number }) => number > newest.number - (isQuick ? 1 : 0)),
        signal,
      )
      const { endpoint, ...block } = heard.reduce((highest, head) =>
        head.number > highest.number ? head : highest,
      )
      // A tip that no endpoint has any more was an error of the endpoint that reported it, so it is
      // forgotten.
      const isGone = !isQuick && block.number < newest.number
      if (block.number > newest.number || isGone) newest = { number: block.number, atMs: nowMs }
      meters?.setHead({ endpoint, at: block.at })
      return block
    },
    balances: (queries, block, signal) =>
      readBalances({ endpoints, multicallAddress }, queries, block, signal),
    movements: (changes, span, signal) => readMovements({ endpoints, logs }, changes, span, signal),
    assetInfo: async (asset, signal) => {
      if (asset === 'FLR') return { symbol: servedChain().symbol, decimals: NATIVE_DECIMALS }
      const cached = tokens.get(asset)
      if (cached !== undefined) return cached
      const info = await endpoints.ask(
        (client) => readTokenInfo(client, asset, multicallAddress),
        signal,
      )
      if (info !== undefined) cacheToken(tokens, asset, info)
      return info
    },
    verifyMessage: (input, signal) => verifyMessage({ endpoints, turns, recovery }, input, signal),
    transactionPayments: (txHash, destinations, signal) =>
      endpoints.askUntil(
        (client) => readTransactionFacts(client, txHash, destinations),
        ({ status }) => status !== 'unknown',
        signal,
      ),
    paymentsBetween: (fromBlock, toBlock, destinations, signal) =>
      scanPayments({ endpoints, logs }, { fromBlock, toBlock }, destinations, signal),
    isUnreadable: (number, signal) => isBlockUnreadable(endpoints, number, signal),
    internalTransfers: (holder, span, signal) =>
      findInternalTransfers(endpoints, holder, span, signal),
    balanceAt: (holder, block, signal) => findBalanceAt(endpoints, holder, block, signal),
    pastBalance: (query, block, signal) =>
      findPastBalance({ endpoints, multicallAddress }, query, block, signal),
    isContract: (address, signal) =>
      endpoints.ask(async (client) => {
        const code = await client.request({ method: 'eth_getCode', params: [address, 'latest'] })
        return code !== '0x'
      }, signal),
    blockAt: (number, signal) =>
      endpoints.askUntil(
        (client) => readBlock(client, number),
        (block) => block !== undefined,
        signal,
      ),
    feedPrice: (name, signal) => feeds.price(name, signal),
    feedList: (signal) => feeds.list(signal),
    feedPrices: (names, block, signal) => feeds.at(names, block, signal),
    access: { endpoints, contracts, logs, multicallAddress },
    routerState: (router, addresses, signal) =>
      endpoints.ask(
        (client) => readRouterState(client, router, addresses, multicallAddress),
        signal,
      ),
  }
}

/** Caches a token; beyond the limit the oldest entry is dropped. */
function cacheToken(tokens: Map<Address, AssetInfo>, token: Address, info: AssetInfo): void {
  const [oldest] = tokens.keys()
  if (tokens.size >= REMEMBERED_TOKENS_MAX && oldest !== undefined) tokens.delete(oldest)
  tokens.set(token, info)
}
