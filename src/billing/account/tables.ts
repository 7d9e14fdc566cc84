import { sql } from 'drizzle-orm'
import { bigint, check, integer, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

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
