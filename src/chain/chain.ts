import type { Address, Hash } from '#src/kernel/units.ts'
import type { Endpoints } from './endpoints.ts'
import type { FeedEntry, FeedList } from './feed-names.ts'
import type { LogReader } from './logs.ts'
import type { ContractAddresses } from './registry.ts'

/** One block, enough to name it and to notice that it was replaced. */
export interface BlockRef {
  readonly number: number
  readonly hash: Hash
  /** The block's own time, in whole seconds. */
  readonly at: Date
}

/** What a balance is counted in: the chain's own coin, or a token contract. */
export type Asset = 'FLR' | Address

/** How an asset's amounts are shown. */
export interface AssetInfo {
  readonly symbol: string
  readonly decimals: number
}

/** One question about a balance. */
export interface BalanceQuery {
  readonly address: Address
  readonly asset: Asset
}

/**
 * One payment found on a chain: a fact, whatever it is worth to us.
 *
 * `txHash` and `logIndex` name it: the event's own index for the router, 0 for plain transfers and the XRP
 * Ledger, which know one payment per transaction, -1 for what reached us by another way.
 */
export interface Payment {
  /** `internal`: coins that a contract sent; see `internal-transfers.ts`. */
  readonly way: 'router' | 'native' | 'xrpl' | 'internal'
  /** As its chain writes it: `0x` and lower case, or upper case without `0x` on the XRP Ledger. */
  readonly txHash: string
  readonly logIndex: number
  /** The 32 bytes the payer named it by; null where there are none, and always on the XRP Ledger. */
  readonly handle: Hash | null
  /** The destination tag; null where there is none, and always on Flare. */
  readonly tag: number | null
  /** Who paid: a checksummed address, or a classic one (`r…`). */
  readonly payer: string
  /** On the XRP Ledger also another currency, `USD.r…`, or the id of a token. */
  readonly asset: string
  /** What arrived, in the asset's smallest unit. */
  readonly amountUnits: bigint
  /** XRP Ledger: the ledger's index, hash (as 0x-hex) and close time. */
  readonly block: BlockRef
}

/** The `logIndex` of a payment that has no event or transfer of its own; see `Payment`. */
export const OTHER_LOG_INDEX = -1

/** Where payments on Flare go to; undefined is not looked for. */
export interface PaymentPlaces {
  readonly router: Address | undefined
  /** Receives plain transfers, which name what they are for by data that is exactly a handle. */
  readonly payTo: Address | undefined
}

/** What became of a transaction, and what it paid to us. */
export type TransactionFacts =
  | { readonly status: 'unknown' }
  | { readonly status: 'pending' }
  | {
      readonly status: 'reverted'
      readonly block: BlockRef
      /** What the contract said, short and printable; null when that cannot be learnt. */
      readonly reason: string | null
      /** The handle it was to pay, where its data says so. */
      readonly handle: Hash | null
    }
  | {
      readonly status: 'mined'
      readonly block: BlockRef
      /** None when it paid nothing to our places. */
      readonly payments: readonly Payment[]
    }

/** The price feeds that payments are counted with. */
export type FeedName = 'FLR/USD' | 'XRP/USD'

/** US dollars for one whole unit: `value / 10 ** decimals`, exactly; decimals may be negative. */
export interface FeedPrice {
  readonly value: bigint
  readonly decimals: number
  /** When the feed was last updated. */
  readonly at: Date
}

/** A feed's price with what the feed is called now. */
export interface FeedReading extends FeedPrice, FeedEntry {}

/** What a payment router says of itself. */
export interface PaymentRouterState {
  readonly paused: boolean
  /** Whether it has `payNative`; older ones have not. */
  readonly takesCoins: boolean
  readonly treasury: Address
  /** Per token asked about, in that order. */
  readonly allowed: readonly boolean[]
}

/** A stretch of blocks and the holder's balance around it. */
export interface BalanceSpan {
  readonly from: number
  readonly to: number
  /** At the end of the block before `from`. */
  readonly before: bigint
  /**
   * `before` is what transactions explain, as the state of that block could not be read: a difference may
   * come from blocks before `from`.
   */
  readonly isAssumed?: boolean
  /** At the end of `to`; undefined where its state is pruned. */
  readonly after: bigint | undefined
  /** What else explains a balance, by block: payments that an event tells of. */
  readonly explained?: ReadonlyMap<number, bigint>
}

/** What a stretch of blocks brought. */
export interface ComparedSpan {
  readonly transfers: readonly Payment[]
  /** At the end of the stretch; where its state is pruned, what transactions explain. */
  readonly balance: bigint
  readonly isAssumed: boolean
}

/** What a reader of a protocol reads the chain with, its contracts found through the registry. */
export interface ChainAccess {
  readonly endpoints: Endpoints
  readonly contracts: ContractAddresses
  readonly logs: LogReader
  readonly multicallAddress: Address
}

/**
 * Facts read from the chain. Every method rejects with AppError upstream `dependency_unavailable` when
 * no endpoint answers in time, and with the signal's reason when the caller gives up; none of them ever
 * guesses.
 */
export interface Chain {
  /**
   * The newest block with `confirmations` blocks counted from the tip, itself included (1: the tip).
   * Can be older than one given before, when an endpoint that is behind answered.
   */
  confirmedBlock(confirmations: number, signal?: AbortSignal): Promise<BlockRef>
  /**
   * Balances in the smallest unit at the end of `block`, in the order asked; batched through Multicall3.
   * undefined where the chain gave no answer for one of them (not a token, call failed).
   */
  balances(
    queries: readonly BalanceQuery[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (bigint | undefined)[]>
  /** Symbol and decimals; undefined when the address is not a token. Remembered: they never change. */
  assetInfo(asset: Asset, signal?: AbortSignal): Promise<AssetInfo | undefined>
  /**
   * Whether `signature` over `message` (EIP-191) is `address`'s: locally for plain accounts, by
   * ERC-1271 or ERC-6492 through the RPC for contract wallets. false for what is no signature at all.
   */
  verifyMessage(
    input: { readonly address: Address; readonly message: string; readonly signature: string },
    signal?: AbortSignal,
  ): Promise<boolean>
  /**
   * What a transaction paid to these places. Every endpoint is asked before it is `unknown`. Its block
   * was canonical when it was read; `blockAt` tells whether it still is.
   */
  transactionPayments(
    txHash: Hash,
    places: PaymentPlaces,
    signal?: AbortSignal,
  ): Promise<TransactionFacts>
  /**
   * Every payment of these blocks, both included, in the order of the chain. Rejects rather than leave
   * one out when an endpoint does not have all of them.
   */
  paymentsBetween(
    fromBlock: number,
    toBlock: number,
    places: PaymentPlaces,
    signal?: AbortSignal,
  ): Promise<readonly Payment[]>
  /**
   * Whether no endpoint gives this block with the transactions that its head speaks of, though at least one
   * of them answers and has later blocks. False while nobody answers.
   */
  isUnreadable(number: number, signal?: AbortSignal): Promise<boolean>
  /** Coins that reached an address in these blocks without a transaction to it. */
  internalTransfers(holder: Address, span: BalanceSpan, signal?: AbortSignal): Promise<ComparedSpan>
  /**
   * An address's FLR at the end of a block, in the smallest unit; undefined where the state of that block is
   * pruned everywhere. Rejects when an endpoint refuses and none tells it.
   */
  balanceAt(holder: Address, block: number, signal?: AbortSignal): Promise<bigint | undefined>
  /** The canonical block of that number; undefined while the chain is shorter. */
  blockAt(number: number, signal?: AbortSignal): Promise<BlockRef | undefined>
  /**
   * A feed's price; undefined when there is none or when it is older than 10 minutes by the service's
   * clock.
   */
  feedPrice(name: FeedName, signal?: AbortSignal): Promise<FeedPrice | undefined>
  /** The chain's feeds; undefined when it does not list them. Read again every 10 minutes. */
  feedList(signal?: AbortSignal): Promise<FeedList | undefined>
  /**
   * Prices at the end of `block`, of feeds by name or id, in the order asked and in one request while all
   * of them are well. undefined where there is no such feed, or its price is 0 or older than 10 minutes by
   * the block's time.
   */
  feedPrices(
    feeds: readonly string[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (FeedReading | undefined)[]>
  /** What readers of a protocol on this chain read it with. */
  readonly access: ChainAccess
  /** The router's own state; undefined when the address is not a payment router. */
  routerState(
    router: Address,
    tokens: readonly Address[],
    signal?: AbortSignal,
  ): Promise<PaymentRouterState | undefined>
}
