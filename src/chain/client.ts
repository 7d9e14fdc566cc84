import { type Clock, systemClock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { readBalances } from './balances.ts'
import { readConfirmedBlock } from './blocks.ts'
import type { AssetInfo, Chain } from './chain.ts'
import { MULTICALL3_ADDRESS, NATIVE_DECIMALS } from './contracts.ts'
import { createEndpoints } from './endpoints.ts'
import { verifyMessage } from './signatures.ts'
import { readAssetInfo } from './tokens.ts'

/** How the chain is reached. */
export interface ChainOptions {
  /** JSON-RPC endpoints, http or https; the first is the primary one. Credentials never reach the log. */
  readonly rpcUrls: readonly string[]
  readonly chainId: number
  readonly log: Logger
  /** How long one endpoint may take to answer one question; 5000 without it. */
  readonly timeoutMs?: number
  /** Multicall3, where it is not at its usual address. */
  readonly multicallAddress?: Address
  /** Says when an endpoint that failed is tried again; the machine's clock without it. */
  readonly clock?: Clock
}

const TIMEOUT_MS = 5000
/** Anybody can ask about any address, so what is remembered has a bound. */
const REMEMBERED_TOKENS_MAX = 10_000
const NATIVE_ASSET: AssetInfo = { symbol: 'FLR', decimals: NATIVE_DECIMALS }

/** Facts from the chain through JSON-RPC. Connects to nothing before the first question. */
export function createChain({
  rpcUrls,
  chainId,
  log,
  timeoutMs = TIMEOUT_MS,
  multicallAddress = MULTICALL3_ADDRESS,
  clock = systemClock,
}: ChainOptions): Chain {
  const endpoints = createEndpoints({ rpcUrls, chainId, log, clock, timeoutMs })
  const tokens = new Map<Address, AssetInfo>()

  return {
    confirmedBlock: (confirmations, signal) =>
      endpoints.ask((client) => readConfirmedBlock(client, confirmations), signal),
    balances: (queries, block, signal) =>
      readBalances({ endpoints, multicallAddress }, queries, block, signal),
    assetInfo: async (asset, signal) => {
      if (asset === 'FLR') return NATIVE_ASSET
      const known = tokens.get(asset)
      if (known !== undefined) return known
      const info = await endpoints.ask(
        (client) => readAssetInfo(client, asset, multicallAddress),
        signal,
      )
      if (info !== undefined) remember(tokens, asset, info)
      return info
    },
    verifyMessage: (input, signal) => verifyMessage(endpoints, input, signal),
  }
}

/** Keeps one more; beyond the bound the one known longest is forgotten. */
function remember(tokens: Map<Address, AssetInfo>, token: Address, info: AssetInfo): void {
  const [oldest] = tokens.keys()
  if (tokens.size >= REMEMBERED_TOKENS_MAX && oldest !== undefined) tokens.delete(oldest)
  tokens.set(token, info)
}
