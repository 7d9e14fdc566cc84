import { sql } from 'drizzle-orm'
import {
  bigint,
  check,
  date,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'
import { hasWalletForm } from '#src/db/wallet-form.ts'

export const accounts = pgTable(
  'accounts',
  {
    wallet: text('wallet').primaryKey(),
    balanceCredits: bigint('balance_credits', { mode: 'number' }).notNull(),
    /** Slots taken by watches; changed in the transaction that creates or deletes a watch. */
    occupiedSlots: integer('occupied_slots').notNull(),
    /** Number of ledger entries: the position of the newest. */
    entryCount: bigint('entry_count', { mode: 'number' }).notNull(),
    /** Time of the newest ledger entry. */
    lastEntryAt: timestamp('last_entry_at', { withTimezone: true }),
    termsVersion: text('terms_version'),
    termsAcceptedAt: timestamp('terms_accepted_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    index('accounts_created').on(table.createdAt),
    check('accounts_balance_not_negative', sql`${table.balanceCredits} >= 0`),
    // Larger numbers are not exact in JavaScript.
    check('accounts_balance_exact', sql`${table.balanceCredits} <= 9007199254740991`),
    check('accounts_slots_not_negative', sql`${table.occupiedSlots} >= 0`),
    check('accounts_wallet_form', hasWalletForm(table.wallet)),
  ],
)

/**
 * Every change of a balance, append-only: the sum of a wallet's deltas is its balance.
 *
 * A wallet's entries are ordered by position, which is assigned while the account is locked; identity
 * numbers and the clocks of several processes give no order.
 */
export const ledgerEntries = pgTable(
  'ledger_entries',
  {
    wallet: text('wallet').notNull(),
    /** 1, 2, 3 … within the wallet, without a gap. */
    position: bigint('position', { mode: 'number' }).notNull(),
    type: text('type').notNull(),
    deltaCredits: bigint('delta_credits', { mode: 'number' }).notNull(),
    balanceAfterCredits: bigint('balance_after_credits', { mode: 'number' }).notNull(),
    /** Unique cause of the entry. */
    reference: text('reference').notNull().unique(),
    note: text('note'),
    /** Never earlier than that of the previous position. */
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.position] }),
    index('ledger_entries_wallet').on(table.wallet, table.createdAt, table.position),
    // Entries since the last proof, for the public figures.
    index('ledger_entries_created').on(table.createdAt),
    // Nearly all entries are of metered calls. They are left out, so that a metered call does not write to this index.
    index('ledger_entries_rare')
      .on(table.wallet, table.type, table.createdAt, table.position)
      .where(sql`type <> 'usage'`),
    check('ledger_balance_not_negative', sql`${table.balanceAfterCredits} >= 0`),
  ],
)

/** Each night's proof that the ledger adds up. */
export const ledgerProofs = pgTable('ledger_proofs', {
  /** UTC day. */
  on: date('on', { mode: 'string' }).primaryKey(),
  wallets: bigint('wallets', { mode: 'number' }).notNull(),
  entries: bigint('entries', { mode: 'number' }).notNull(),
  /** Wallets whose entries do not add up to their balance. */
  wrongWallets: bigint('wrong_wallets', { mode: 'number' }).notNull(),
  provedAt: timestamp('proved_at', { withTimezone: true }).notNull(),
  /** The totals below cover entries before this hour; null in proofs without totals. */
  totalsUntil: timestamp('totals_until', { withTimezone: true }),
  totalWallets: bigint('total_wallets', { mode: 'number' }),
  totalCreditsSold: bigint('total_credits_sold', { mode: 'number' }),
  totalCreditsSpent: bigint('total_credits_spent', { mode: 'number' }),
  totalTopups: bigint('total_topups', { mode: 'number' }),
})
