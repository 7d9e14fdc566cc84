import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

export const accounts = pgTable(
  'accounts',
  {
    wallet: text('wallet').primaryKey(),
    balanceCredits: bigint('balance_credits', { mode: 'number' }).notNull(),
    /** Slots taken by watches; changed in the transaction that creates or deletes a watch. */
    occupiedSlots: integer('occupied_slots').notNull(),
    termsVersion: text('terms_version'),
    termsAcceptedAt: timestamp('terms_accepted_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    check('accounts_balance_not_negative', sql`${table.balanceCredits} >= 0`),
    check('accounts_slots_not_negative', sql`${table.occupiedSlots} >= 0`),
  ],
)

/** Every change of a balance, never edited: the sum of a wallet's deltas is its balance. */
export const ledgerEntries = pgTable(
  'ledger_entries',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    type: text('type').notNull(),
    deltaCredits: bigint('delta_credits', { mode: 'number' }).notNull(),
    balanceAfterCredits: bigint('balance_after_credits', { mode: 'number' }).notNull(),
    /** What caused it; an entry of one reference is written once. */
    reference: text('reference').notNull().unique(),
    note: text('note'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    index('ledger_entries_wallet').on(table.wallet, table.createdAt, table.id),
    check('ledger_balance_not_negative', sql`${table.balanceAfterCredits} >= 0`),
  ],
)
