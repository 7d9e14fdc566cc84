import { index, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** Answers kept for repeats of the same request. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    wallet: text('wallet').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the canonical input, hex. */
    fingerprint: text('fingerprint').notNull(),
    status: integer('status').notNull(),
    /** The answer as JSON, sealed with SECRET_KEY: it may hold a secret. */
    answer: text('answer').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.operation, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
)
