/**
 * A metered call costs what its resource costs. The first calls of a UTC day are free, per wallet, or
 * per client network where there is no token; after them every call is paid from the wallet's credits,
 * with a ledger entry of its own.
 *
 * A call is charged before it is answered, and once. A call that the service then fails is given back
 * what it took.
 */
import type { SQL } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { ResourceId } from '../price-list.ts'

/** Statements of one process that settle calls of many payers at the same time. */
export const BATCHES_AT_ONCE = 4
/** Payers whose calls one statement settles at most, and calls of each of them. */
export const PAYERS_PER_BATCH_MAX = 64
export const CALLS_PER_PAYER_MAX = 200
/** A statement that has so many calls takes no further payer. */
export const CALLS_PER_BATCH = 256
/** Calls of one payer that may wait to be settled, in one process. */
export const WAITING_PER_PAYER_MAX = 1000
/** Calls of all payers together that may be waiting or in hand, in one process. */
export const CALLS_MAX = 20_000
/** Charges that one process keeps in mind when they could not be given back at once. */
export const DEBTS_MAX = 10_000
/** A statement whose connection was lost has ended on the server after this long, one way or the other. */
export const UNCERTAIN_MS = 60_000
/** Tokens whose wallets one process remembers. */
export const KNOWN_TOKENS_MAX = 10_000
/** Wallets whose ledgers changed are told together after this long. */
export const NEWS_EVERY_MS = 50

/** How a statement finds by a token whose wallet pays. */
export interface TokenLookup {
  /** Selects `id`, `wallet` and `last_used_at` of the token with this SHA-256 if it is active then. */
  activeTokenQuery(hash: SQL, now: Date): SQL
  /** Notes a use that a statement found. Never rejects. */
  recordUse(
    token: { readonly id: number; readonly lastUsedAt: Date | null },
    now: Date,
  ): Promise<void>
}

/** Who calls: the holder of a token (its SHA-256), or somebody in a network. */
export type Payer =
  | { readonly kind: 'token'; readonly hash: string }
  | { readonly kind: 'network'; readonly network: string }

/** One call that asks to be let through. */
export interface MeteredCall {
  readonly resource: ResourceId
  readonly payer: Payer
}

/** What a call took. */
export type Charge =
  | { readonly kind: 'free'; readonly subject: string; readonly day: string }
  | {
      readonly kind: 'paid'
      readonly wallet: Address
      /** Of its ledger entry. */
      readonly reference: string
      readonly priceCredits: number
    }

/** How a payer stands after one of its calls: without a wallet the balance is 0. */
export interface QuotaStatus {
  readonly balanceCredits: number
  /** Free calls left today. */
  readonly freeLeft: number
}

/** How a call ended at the gate. */
export type ChargeOutcome =
  | ({ readonly ok: true; readonly charge: Charge } & QuotaStatus)
  | ({ readonly ok: false; readonly reason: 'payment_required' } & QuotaStatus)
  | { readonly ok: false; readonly reason: 'invalid_token' }

/** Whether a charge is given back, and how its payer stands then as far as that has changed. */
export type Returned = ({ readonly ok: true } & Partial<QuotaStatus>) | { readonly ok: false }

/** How calls of one payer for one resource were settled together. */
export interface Settlement {
  /** A wallet or a client network. */
  readonly subject: string
  readonly day: string
  readonly priceCredits: number
  /** Names them in the references of their ledger entries. */
  readonly batch: string
  /** Free calls that were left before. */
  readonly freeLeftBefore: number
  readonly free: number
  readonly paid: number
  readonly balanceBeforeCredits: number
}
