import type { Address, Hash } from '#src/kernel/units.ts'
import type { BlockRef } from './blocks/block-ref.ts'
import type { ReceiptReader } from './blocks/receipts.ts'
import type { RecentBlocks } from './blocks/recent-blocks.ts'
import type { Endpoints } from './endpoints/endpoints.ts'
import type { LogReader } from './events/logs.ts'
import type { FeedEntry, FeedList } from './feeds/feed-names.ts'
import type { ContractAddresses } from './registry.ts'
import type { SignedHash } from './signatures/signatures.ts'

export type { BlockRef } from './blocks/block-ref.ts'

/** Asset of a balance: the chain's own coin, or a token contract. */
export type Asset = 'FLR' | Address

/** Symbol and decimals of an asset. */
export interface AssetInfo {
  readonly symbol: string
  readonly decimals: number
}

/** One balance to read. */
export interface BalanceQuery {
  readonly address: Address
  readonly asset: Asset
}

/** A balance that changed. */
export interface ChangedBalance extends BalanceQuery {
  /** In the smallest unit; negative for outgoing amounts. */
  readonly changeUnits: bigint
}

/** Cause of a changed balance. */
export interface BalanceMovement {
  /** The transaction, if it is a single one. */
  readonly transactionHash: Hash | null
  /** Sender or receiver, if it is a single one. */
  readonly counterparty: Address | null
  /** All transactions that moved the asset from or to the account, in both directions, in the order of the chain. */
  readonly transactions: readonly MovingTransaction[]
}

/** A transaction that moved an asset from or to an account. */
export interface MovingTransaction {
  readonly hash: Hash
  /** In the smallest unit, without fees; negative for outgoing amounts. */
  readonly units: bigint
  /** Sender or receiver, if it is a single one. */
  readonly counterparty: Address | null
}

/**
 * One payment found on a chain, before it is judged.
 *
 * `txHash` and `logIndex` identify the payment: the index of the event for the router, 0 for plain
 * transfers and the XRP Ledger, which have one payment per transaction, -1 for coins received in another
 * way.
 */
export interface Payment {
  /**
   * `internal`: coins sent by a contract, which only the balance shows. `authorization`: a transfer of a token that its
   * payer signed, and anybody sent.
   */
  readonly way: 'router' | 'native' | 'xrpl' | 'internal' | 'authorization'
  /** In the notation of its chain: `0x` and lower case, or upper case without `0x` on the XRP Ledger. */
  readonly txHash: string
  readonly logIndex: number
  /**
   * The 32 bytes by which the payer names the top-up, or the nonce of the authorization; null without one, and always on
   * the XRP Ledger.
   */
  readonly handle: Hash | null
  /** The destination tag; null without one, and always on Flare. */
  readonly tag: number | null
  /** Sender: a checksummed address, or a classic one (`r…`). */
  readonly payer: string
  /** On the XRP Ledger also another currency, `USD.r…`, or the id of a token. */
  readonly asset: string
  /** Amount received, in the asset's smallest unit. */
  readonly amountUnits: bigint
  /** XRP Ledger: the ledger's index, hash (as 0x-hex) and close time. */
  readonly block: BlockRef
}

/** The `logIndex` of a payment without an event or transfer of its own; see `Payment`. */
export const OTHER_LOG_INDEX = -1

/** Addresses that receive payments on Flare; undefined ones are not scanned. */
export interface PaymentDestinations {
  readonly router: Address | undefined
  /** Receives plain transfers, whose data is exactly the handle. */
  readonly payTo: Address | undefined
}

/**
 * A transfer of a token that its payer authorized with a signature.
 * @see EIP-3009
 */
export interface TransferAuthorization {
  readonly token: Address
  readonly from: Address
  readonly to: Address
  /** In the token's smallest unit. */
  readonly value: bigint
  /** It can be used in blocks after this time and before the other, in epoch seconds. */
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** 32 bytes that the payer chose. With one nonce a payer can be charged once. */
  readonly nonce: Hash
}

/** Names an authorization, and who is to be paid with it. */
export type AuthorizationId = Pick<TransferAuthorization, 'token' | 'from' | 'to' | 'nonce'>

/** State of a transaction, and its payments to the service. */
export type PaymentTransactionStatus =
  | { readonly status: 'unknown' }
  | { readonly status: 'pending' }
  | {
      readonly status: 'reverted'
      readonly block: BlockRef
      /** Revert reason, short and printable; null when it is unavailable. */
      readonly reason: string | null
      /** The handle that the transaction was to pay, if its data contains one. */
      readonly handle: Hash | null
    }
  | {
      readonly status: 'mined'
      readonly block: BlockRef
      /** Empty when the transaction paid nothing to the service's addresses. */
      readonly payments: readonly Payment[]
    }

/** The price feeds of payment assets. */
export type FeedName = 'FLR/USD' | 'SGB/USD' | 'XRP/USD'

/** Price of one whole unit: `value / 10 ** decimals` US dollars, exact; decimals may be negative. */
export interface FeedPrice {
  readonly value: bigint
  readonly decimals: number
  /** Time of the feed's last update. */
  readonly at: Date
}

/** A feed's price with its current name. */
export interface FeedReading extends FeedPrice, FeedEntry {}

/** State of a payment router. */
export interface PaymentRouterState {
  readonly paused: boolean
  readonly treasury: Address
  /** For each requested token, in order. */
  readonly allowed: readonly boolean[]
}

/** Access to the chain for readers of a protocol, with contracts from the registry. */
export interface ChainAccess {
  readonly endpoints: Endpoints
  readonly contracts: ContractAddresses
  readonly logs: LogReader
  readonly recent: RecentBlocks
  readonly receipts: ReceiptReader
  readonly multicallAddress: Address
}

/**
 * Facts read from the chain. Every method rejects with AppError upstream `dependency_unavailable` when no
 * endpoint answers in time, and with the signal's reason when the caller aborts.
 */
export interface Chain {
  /**
   * The newest block with `confirmations` confirmations; the tip has one confirmation. Callers share a reading that is
   * recent or under way. Can be older than an earlier result, if the tip was replaced.
   */
  confirmedBlock(confirmations: number, signal?: AbortSignal): Promise<BlockRef>
  /** As `confirmedBlock`, but reads now. For the one caller that decides how often the chain is asked. */
  readNewestBlock(confirmations: number, signal?: AbortSignal): Promise<BlockRef>
  /**
   * Balances in the smallest unit at the end of `block`, in the given order; batched through Multicall3.
   * undefined where the call failed or the contract is not a token.
   */
  balances(
    queries: readonly BalanceQuery[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (bigint | undefined)[]>
  /**
   * Causes of changed balances in the blocks after `after`, up to `upTo`, in the given order; null for all
   * of them when the span has more than 200 blocks.
   */
  movements(
    changes: readonly ChangedBalance[],
    span: { readonly after: number; readonly upTo: number },
    signal?: AbortSignal,
  ): Promise<readonly BalanceMovement[]>
  /**
   * Symbol and decimals; undefined when the address is not a token. Cached, because symbol and decimals
   * never change.
   */
  assetInfo(asset: Asset, signal?: AbortSignal): Promise<AssetInfo | undefined>
  /**
   * Whether `address` signed `message` (EIP-191). Signatures of plain accounts are checked locally, those
   * of contract wallets through the RPC by ERC-1271 or ERC-6492. False for malformed signatures.
   */
  verifyMessage(
    input: { readonly address: Address; readonly message: string; readonly signature: string },
    signal?: AbortSignal,
  ): Promise<boolean>
  /** Whether the contract wallet of a signature accepts it, by ERC-1271 or ERC-6492. */
  isSignedByContract(signed: SignedHash, signal?: AbortSignal): Promise<boolean>
  /**
   * Payments of a transaction to these addresses. `unknown` only after every endpoint was asked. The block
   * of the transaction was canonical when it was read; `blockAt` tells whether it still is.
   */
  transactionPayments(
    txHash: Hash,
    destinations: PaymentDestinations,
    signal?: AbortSignal,
  ): Promise<PaymentTransactionStatus>
  /**
   * Every payment of these blocks, both included, in the order of the chain. Rejects when no endpoint has all of them,
   * or the payments of a block cannot be proven.
   */
  paymentsBetween(
    fromBlock: number,
    toBlock: number,
    destinations: PaymentDestinations,
    signal?: AbortSignal,
  ): Promise<readonly Payment[]>
  /**
   * The payment by an authorization that was used in one of these blocks, both included; undefined if it was used in none,
   * or paid somebody else. `upTo` is the last block that was read. Rejects when a block cannot be proven.
   */
  authorizedPayment(
    id: AuthorizationId,
    blocks: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
  ): Promise<{ readonly payment: Payment | undefined; readonly upTo: number }>
  /** Whether an authorization was used or canceled, as any endpoint says. */
  isAuthorizationUsed(id: AuthorizationId, signal?: AbortSignal): Promise<boolean>
  /**
   * Whether no endpoint returns this block with the transactions of its header and with a proof of its payments, though
   * at least one of them answers and has later blocks.
   */
  isUnproven(
    number: number,
    destinations: PaymentDestinations,
    signal?: AbortSignal,
  ): Promise<boolean>
  /**
   * Change of an address's FLR by the transactions to and from it in these blocks, fees included, in the smallest unit.
   */
  ownTransfers(
    holder: Address,
    blocks: { readonly from: number; readonly to: number },
    signal?: AbortSignal,
  ): Promise<bigint>
  /**
   * An address's FLR at the end of a block, in the smallest unit; undefined where the state of that block
   * is pruned everywhere. Rejects when an endpoint refuses and no other answers.
   */
  balanceAt(holder: Address, block: number, signal?: AbortSignal): Promise<bigint | undefined>
  /** Like `balanceAt`, for any asset; null where the token's contract returned no number at that block. */
  pastBalance(
    query: BalanceQuery,
    block: number,
    signal?: AbortSignal,
  ): Promise<bigint | null | undefined>
  /** Whether there is a contract at the address now. */
  isContract(address: Address, signal?: AbortSignal): Promise<boolean>
  /** The canonical block with that number; undefined while the chain is shorter. */
  blockAt(number: number, signal?: AbortSignal): Promise<BlockRef | undefined>
  /**
   * A feed's price; undefined when there is none, or when it is older than 10 minutes by the service's
   * clock.
   */
  feedPrice(name: FeedName, signal?: AbortSignal): Promise<FeedPrice | undefined>
  /** The chain's feeds; undefined when the chain does not list its feeds. Refreshed every 10 minutes. */
  feedList(signal?: AbortSignal): Promise<FeedList | undefined>
  /**
   * Prices at the end of `block`, of feeds by name or id, in the given order, in one request unless a feed
   * makes it fail. undefined for unknown feeds, and for prices of 0 or older than 10 minutes by the block's
   * time.
   */
  feedPrices(
    feeds: readonly string[],
    block: BlockRef,
    signal?: AbortSignal,
  ): Promise<readonly (FeedReading | undefined)[]>
  /** Access for readers of a protocol on this chain. */
  readonly access: ChainAccess
  /** The router's state; undefined when the address is not a payment router. */
  routerState(
    router: Address,
    tokens: readonly Address[],
    signal?: AbortSignal,
  ): Promise<PaymentRouterState | undefined>
}
