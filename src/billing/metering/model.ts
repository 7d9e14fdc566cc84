/**
 * A metered call costs the price of its resource. The first calls of a UTC day are free, per wallet, or per
 * client network without a token; every further call is paid from the wallet's credits, with a separate
 * ledger entry.
 *
 * A call is charged once, before it is answered. If the service then fails the call, the charge is
 * refunded.
 */
import type { SQL } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { ResourceId } from '../price-list.ts'

/**
 * Maximum number of concurrent statements of one process that settle calls of many payers. With fewer
 * statements, each settles more calls.
 */
export const BATCHES_AT_ONCE = 2
/**
 * Number of waiting calls from which on a statement starts beside one in progress. Fewer wait until it has ended: a
 * process among several, which has few calls at a time, would otherwise pay a whole statement for each.
 */
export const CONCURRENT_BATCH_MIN_CALLS = 16
/** Longest time that fewer calls wait after a statement for those that join them. */
export const BATCH_WAIT_MS = 3
/** Time after which calls no longer wait for slow statements. */
export const BATCH_PATIENCE_MS = 50
/** Maximum number of payers whose refunds, and of networks whose calls, one process writes at the same time. */
export const PAYERS_AT_ONCE = 2
/** Maximum number of payers that one statement settles, and of calls of each payer. */
export const PAYERS_PER_BATCH_MAX = 64
export const CALLS_PER_PAYER_MAX = 200
/** Once a statement has this many calls, no further payer is added to it. */
export const CALLS_PER_BATCH = 256
/** Maximum number of calls of one payer that wait to be settled, in one process. */
export const WAITING_CALLS_PER_PAYER_MAX = 1000
/** Maximum number of calls of all payers, waiting or in progress, in one process. */
export const CALLS_IN_FLIGHT_MAX = 20_000
/** Maximum number of pending refunds that one process remembers. */
export const PENDING_REFUNDS_MAX = 10_000
/**
 * Time after which a statement whose connection was lost has certainly ended on the server, committed or
 * not.
 */
export const LOST_STATEMENT_MS_MAX = 60_000
/** Maximum number of tokens whose wallets one process remembers. */
export const KNOWN_TOKENS_MAX = 10_000
/**
 * Interval between two notifications of changed ledgers. Every process hears of each, so that shorter ones would cost
 * more with each process; they wake runs of the same interval.
 */
export const NOTIFY_INTERVAL_MS = 200

/**
 * Finds the wallet of a token, as part of a statement of this room. `src/auth`, which this room does not import,
 * implements it.
 */
export interface TokenLookup {
  /**
   * Query for `id`, `wallet` and `last_used_at` of the token with this SHA-256, if it is active at `now`.
   */
  activeTokenQuery(hash: SQL, now: Date): SQL
  /** Records the use of a token that a statement found. Never rejects. */
  recordUse(
    token: { readonly id: number; readonly lastUsedAt: Date | null },
    now: Date,
  ): Promise<void>
}

/** The caller: the holder of a token (its SHA-256), or an anonymous client in a network. */
export type Payer =
  | { readonly kind: 'token'; readonly hash: string }
  | { readonly kind: 'network'; readonly network: string }

/** A call before it is charged. */
export interface MeteredCall {
  readonly resource: ResourceId
  readonly payer: Payer
}

/** The charge of a call: a free call, or credits. */
export type Charge =
  | { readonly kind: 'free'; readonly subject: string; readonly day: string }
  | {
      readonly kind: 'paid'
      readonly wallet: Address
      /** Reference of the charge's ledger entry. */
      readonly reference: string
      readonly priceCredits: number
    }

/** Credits and free calls of a payer, before or after a call; the balance is 0 without a wallet. */
export interface PayerFunds {
  readonly balanceCredits: number
  /** Free calls left today. */
  readonly freeLeft: number
}

/** Outcome of a call: admitted free, paid, or refused. */
export type ChargeOutcome =
  | ({ readonly ok: true; readonly charge: Charge } & PayerFunds)
  | ({ readonly ok: false; readonly reason: 'payment_required' } & PayerFunds)
  | { readonly ok: false; readonly reason: 'invalid_token' }

/** Whether a charge was refunded, and the changed fields of the payer's funds. */
export type RefundResult = ({ readonly ok: true } & Partial<PayerFunds>) | { readonly ok: false }

/** Result of settling several calls of one payer for one resource. */
export interface CallSettlement {
  /** Wallet, or client network. */
  readonly subject: string
  readonly day: string
  readonly priceCredits: number
  /** Id of the batch. The references of its ledger entries contain the id. */
  readonly batch: string
  /** Free calls left before the batch. */
  readonly freeLeftBefore: number
  readonly free: number
  readonly paid: number
  readonly balanceBeforeCredits: number
}
