import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { Payment } from '#src/chain/chain.ts'
import type { AssetKey } from '../price-list.ts'
import type { PaymentRefusal } from './model.ts'

const units = (name: string) => numeric(name, { precision: 78, scale: 0, mode: 'bigint' })
const instant = (name: string) => timestamp(name, { withTimezone: true })

/** Quotes, immutable: requested credits, amount and price. */
export const topups = pgTable(
  'topups',
  {
    /** 32 random bytes as 0x-hex. */
    handle: text('handle').primaryKey(),
    wallet: text('wallet').notNull(),
    asset: text('asset').$type<AssetKey>().notNull(),
    /** Contract of a token; null for coins. */
    token: text('token'),
    payTo: text('pay_to').notNull(),
    /** The router through which contract wallets pay coins; null where there is none. */
    contractPayTo: text('contract_pay_to'),
    /** Names the top-up on the XRP Ledger, instead of the handle. */
    destinationTag: bigint('destination_tag', { mode: 'number' }).unique(),
    credits: bigint('credits', { mode: 'number' }).notNull(),
    bonusCredits: bigint('bonus_credits', { mode: 'number' }).notNull(),
    amountUnits: units('amount_units').notNull(),
    /** US dollars for one whole unit: `price_value / 10 ** price_decimals`. */
    priceValue: units('price_value').notNull(),
    priceDecimals: integer('price_decimals').notNull(),
    usdPer1000CreditsMicros: integer('usd_per_1000_credits_micros').notNull(),
    /** The quote that this quote replaces, because a holder of its link renewed it. */
    renews: text('renews').unique(),
    /** Nonce of the authorization (EIP-3009) with which the wallet pays; null for quotes. */
    authorizationNonce: text('authorization_nonce'),
    /** First block in which the use of the authorization is still looked for; null when it is looked for no more. */
    authorizationBlock: bigint('authorization_block', { mode: 'number' }),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('topups_wallet').on(table.wallet, table.createdAt),
    index('topups_open').on(table.asset, table.expiresAt),
    index('topups_expires').on(table.expiresAt),
    uniqueIndex('topups_authorization')
      .on(table.wallet, table.token, table.authorizationNonce)
      .where(sql`${table.authorizationNonce} is not null`),
    index('topups_followed')
      .on(table.createdAt)
      .where(sql`${table.authorizationBlock} is not null`),
  ],
)

/** Slots that are bought when a top-up is credited. */
export const topupPurchases = pgTable('topup_purchases', {
  handle: text('handle').primaryKey(),
  wallet: text('wallet').notNull(),
  slots: integer('slots').notNull(),
  periods: integer('periods').notNull(),
  autoRenew: boolean('auto_renew').notNull(),
  /** The subscription that was bought; null while the purchase waits. */
  subscriptionId: integer('subscription_id'),
  /** Code of the refusal at the last payment; null if there was none. */
  reason: text('reason'),
  createdAt: instant('created_at').notNull(),
  doneAt: instant('done_at'),
})

/** Every payment that was seen. A settled payment is credited or unmatched. */
export const topupPayments = pgTable(
  'topup_payments',
  {
    txHash: text('tx_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    way: text('way').$type<Payment['way']>().notNull(),
    /** The top-up that the payment names; null when there is none. */
    handle: text('handle'),
    /** Handle or tag as the payer gave it; null if there is none. */
    reference: text('reference'),
    payer: text('payer').notNull(),
    /** A token contract, FLR or XRP. */
    asset: text('asset').notNull(),
    amountUnits: units('amount_units').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: text('block_hash').notNull(),
    blockAt: instant('block_at').notNull(),
    seenAt: instant('seen_at').notNull(),
    settledAt: instant('settled_at'),
    /** Number of confirmations when the payment was settled. */
    confirmations: integer('confirmations'),
    credits: bigint('credits', { mode: 'number' }),
    bonusCredits: bigint('bonus_credits', { mode: 'number' }),
  },
  (table) => [
    primaryKey({ columns: [table.txHash, table.logIndex] }),
    index('topup_payments_handle').on(table.handle),
    index('topup_payments_block').on(table.blockNumber),
    index('topup_payments_open').on(table.seenAt).where(sql`${table.settledAt} is null`),
  ],
)

/** Payments that were not credited; an operator looks at each. */
export const unmatchedPayments = pgTable(
  'unmatched_payments',
  {
    txHash: text('tx_hash').notNull(),
    logIndex: integer('log_index').notNull(),
    reason: text('reason').$type<PaymentRefusal>().notNull(),
    foundAt: instant('found_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.txHash, table.logIndex] })],
)

/** Transactions that were submitted for a top-up and contain no payment so far. */
export const topupSubmissions = pgTable(
  'topup_submissions',
  {
    handle: text('handle').notNull(),
    txHash: text('tx_hash').notNull(),
    /** Wallet of the top-up. */
    wallet: text('wallet').notNull(),
    state: text('state').$type<'submitted' | 'rejected' | 'failed' | 'dropped'>().notNull(),
    /** `transaction_not_found` for a transaction that no endpoint has known so far; null afterwards. */
    reason: text('reason'),
    submittedAt: instant('submitted_at').notNull(),
    checkedAt: instant('checked_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.handle, table.txHash] }),
    index('topup_submissions_due').on(table.checkedAt).where(sql`${table.state} = 'submitted'`),
    index('topup_submissions_wallet').on(table.wallet, table.submittedAt),
    index('topup_submissions_age').on(table.submittedAt),
  ],
)

/** Read position of each chain in the search for payments. */
export const paymentCursors = pgTable('payment_cursors', {
  chain: text('chain').$type<'flare' | 'xrpl'>().primaryKey(),
  /** Last block or ledger that was read completely; null before the first reading. */
  position: bigint('position', { mode: 'number' }),
  /** Newest block seen. */
  tip: bigint('tip', { mode: 'number' }),
  /** Earlier payments are ignored. */
  sinceAt: instant('since_at').notNull(),
  /** Flare: the address whose balance is compared with the payments; null before the first comparison. */
  balanceOf: text('balance_of'),
  /** Block up to which the balance was compared. */
  balanceBlock: bigint('balance_block', { mode: 'number' }),
  /** Balance at the end of that block. */
  balanceUnits: units('balance_units'),
})

/** Blocks of Flare that could not be read for payments. */
export const paymentGaps = pgTable(
  'payment_gaps',
  {
    blockNumber: bigint('block_number', { mode: 'number' }).primaryKey(),
    /** Number of failed readings. */
    tries: integer('tries').notNull(),
    firstFailedAt: instant('first_failed_at').notNull(),
    /** Time at which the scan continued after the block; null while the scan still waits for the block. */
    recordedAt: instant('recorded_at'),
    /** Time of the next reading of a recorded gap. */
    nextTryAt: instant('next_try_at'),
  },
  (table) => [index('payment_gaps_due').on(table.nextTryAt)],
)
