import { servedChain } from '#src/kernel/chains.ts'
import { type Clock, systemClock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import type { Address } from '#src/kernel/units.ts'
import { createWorkLimiter, type WorkLimits } from '#src/kernel/work-limiter.ts'
import { readMovements } from './balances/balance-movements.ts'
import { readBalances } from './balances/balances.ts'
import { readOwnTransfers } from './balances/own-transfers.ts'
import { findBalanceAt, findPastBalance } from './balances/past-balances.ts'
import { findTokenInfo } from './balances/tokens.ts'
import { type Header, readBlock } from './blocks/blocks.ts'
import { createNewestBlock } from './blocks/newest-block.ts'
import { type ReadBlock, toReadBlock } from './blocks/read-block.ts'
import { createReceiptReader } from './blocks/receipts.ts'
import { createRecentBlocks } from './blocks/recent-blocks.ts'
import type { AssetInfo, Chain } from './chain.ts'
import { CONTRACT_REGISTRY_ADDRESS, MULTICALL3_ADDRESS, NATIVE_DECIMALS } from './contracts.ts'
import type { ChainIdCheck } from './endpoints/chain-id-check.ts'
import { createEndpoints } from './endpoints/endpoints.ts'
import { isEndpointFailure } from './endpoints/failures.ts'
import { limitReads } from './endpoints/limited.ts'
import type { RequestBudget } from './endpoints/request-budget.ts'
import { createSharedCalls } from './endpoints/shared-calls.ts'
import { createLogReader } from './events/logs.ts'
import { createFeeds } from './feeds/feeds.ts'
import { findAuthorizedPayment, isNonceUsed } from './payments/authorizations.ts'
import { findTransactionPayments, isUnproven, scanPayments } from './payments/payment-scan.ts'
import { readRouterState } from './payments/router-state.ts'
import { createContractAddresses } from './registry.ts'
import type { RecoveryPool } from './signatures/recovery-pool.ts'
import { verifyContractSignature, verifyMessage } from './signatures/signatures.ts'

/** Settings of the chain's client. */
export interface ChainOptions {
  /** JSON-RPC endpoints, http or https; the first is the primary one. Credentials are never logged. */
  readonly rpcUrls: readonly string[]
  /** Headers of each endpoint, by position, such as an API key. Never logged. */
  readonly rpcHeaders?: readonly Readonly<Record<string, string>>[]
  /** Timeout of one request to each endpoint, by position, where it is not `timeoutMs`. */
  readonly rpcTimeoutsMs?: readonly (number | undefined)[]
  readonly chainId: number
  /** Checks of the chain id by position, which other clients may share. */
  readonly chainIdChecks?: readonly ChainIdCheck[]
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
  /** Budgets of requests by position, which other clients may share; by default a very high one for each. */
  readonly budgets?: readonly RequestBudget[]
  /**
   * Age in milliseconds up to which callers of `confirmedBlock` now share a reading of the newest block; 0 by default.
   */
  readonly sharedHeadMs?: () => number
  /**
   * Whether all blocks are read with their transactions, so that the newest block is requested with them, too; false
   * by default.
   */
  readonly readsWholeBlocks?: boolean
  /** Upper limits of concurrent and waiting requests; unlimited by default. */
  readonly limits?: WorkLimits
  /** Counts requests and records the newest block, for the operator. */
  readonly meters?: Meters
  /** Recovers the signers of plain accounts' signatures in other threads; if omitted, in this thread. */
  readonly recovery?: Pick<RecoveryPool, 'recoverOne'>
}

const TIMEOUT_MS = 5000
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
  budgets,
  chainId,
  chainIdChecks,
  log,
  timeoutMs = TIMEOUT_MS,
  sharedHeadMs = () => 0,
  readsWholeBlocks = false,
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
    budgets,
    chainId,
    chainIdChecks,
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
  const calls = createSharedCalls()
  const feeds = createFeeds({ endpoints, contracts, multicallAddress, calls, clock, log })

  const turns = createWorkLimiter(VERIFICATIONS)
  const receipts = createReceiptReader(endpoints)
  const recent = createRecentBlocks((block) => newestBlock.remember(block))
  const newestBlock = createNewestBlock({
    ...{ endpoints, clock, meters, sharedMs: sharedHeadMs, withTransactions: readsWholeBlocks },
    onHeader: (header, answer) => {
      if (readsWholeBlocks) recent.add(header, () => blockOf(header, answer))
    },
  })

  return {
    confirmedBlock: newestBlock.confirmed,
    readNewestBlock: newestBlock.read,
    balances: (queries, block, signal) =>
      readBalances({ endpoints, multicallAddress, calls }, queries, block, signal),
    movements: (changes, span, signal) => readMovements({ endpoints, logs }, changes, span, signal),
    assetInfo: async (asset, signal) => {
      if (asset === 'FLR') return { symbol: servedChain().symbol, decimals: NATIVE_DECIMALS }
      const cached = tokens.get(asset)
      if (cached !== undefined) return cached
      const info = await findTokenInfo(endpoints, asset, multicallAddress, signal)
      if (info !== undefined) cacheToken(tokens, asset, info)
      return info
    },
    verifyMessage: (input, signal) => verifyMessage({ endpoints, turns, recovery }, input, signal),
    isSignedByContract: (signed, signal) =>
      verifyContractSignature({ endpoints, turns }, signed, signal),
    transactionPayments: (txHash, destinations, signal) =>
      findTransactionPayments({ endpoints, logs, recent, receipts }, txHash, destinations, signal),
    paymentsBetween: (fromBlock, toBlock, destinations, signal) =>
      scanPayments(
        { endpoints, logs, recent, receipts },
        { fromBlock, toBlock },
        destinations,
        signal,
      ),
    authorizedPayment: (id, blocks, signal) =>
      findAuthorizedPayment({ endpoints, logs, recent, receipts }, id, blocks, signal),
    isAuthorizationUsed: (id, signal) => isNonceUsed(endpoints, id, signal),
    isUnproven: (number, destinations, signal) =>
      isUnproven({ endpoints, logs, recent, receipts }, number, destinations, signal),
    ownTransfers: (holder, blocks, signal) =>
      readOwnTransfers({ endpoints, recent }, holder, blocks, signal),
    balanceAt: (holder, block, signal) => findBalanceAt(endpoints, holder, block, signal),
    pastBalance: (query, block, signal) =>
      findPastBalance({ endpoints, multicallAddress }, query, block, signal),
    isContract: (address, signal) =>
      endpoints.ask(async (client) => {
        const code = await client.request({ method: 'eth_getCode', params: [address, 'latest'] })
        return code !== '0x'
      }, signal),
    blockAt: async (number, signal) =>
      newestBlock.ancestor(number) ??
      endpoints.askUntil(
        (client) => readBlock(client, number),
        (block) => block !== undefined,
        signal,
      ),
    feedPrice: (name, signal) => feeds.price(name, signal),
    feedList: (signal) => feeds.list(signal),
    feedPrices: (names, block, signal) => feeds.at(names, block, signal),
    access: { endpoints, contracts, logs, recent, receipts, multicallAddress },
    routerState: (router, addresses, signal) =>
      endpoints.ask(
        (client) => readRouterState(client, router, addresses, multicallAddress),
        signal,
      ),
  }
}

/** The newest block with its transactions; undefined if the endpoint returned something else. */
function blockOf({ number }: Header, answer: unknown): ReadBlock | undefined {
  try {
    return toReadBlock(answer, number, true)
  } catch (error) {
    // It is requested again by its readers, which ask other endpoints as well.
    if (isEndpointFailure(error)) return undefined
    throw error
  }
}

/** Caches a token; beyond the limit the oldest entry is dropped. */
function cacheToken(tokens: Map<Address, AssetInfo>, token: Address, info: AssetInfo): void {
  const [oldest] = tokens.keys()
  if (tokens.size >= REMEMBERED_TOKENS_MAX && oldest !== undefined) tokens.delete(oldest)
  tokens.set(token, info)
}
