import { index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** Responses stored for repeats of the same request. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    wallet: text('wallet').notNull(),
    operation: text('operation').notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the canonical input, hex. */
    fingerprint: text('fingerprint').notNull(),
    status: integer('status').notNull(),
    /** The response as JSON, sealed with SECRET_KEY: it may contain a secret. */
    answer: text('answer').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.operation, table.key] }),
    index('idempotency_keys_created').on(table.createdAt),
  ],
)

/** Public figures of full hours, each counted once. Sums use these rows. */
export const figureHours = pgTable(
  'figure_hours',
  {
    /** Name of the counts, such as `billing`. */
    kind: text('kind').notNull(),
    /** Start of the hour. */
    hour: timestamp('hour', { withTimezone: true }).notNull(),
    /** A number by name. */
    counts: jsonb('counts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.hour] })],
)

/** The last public figures: one row, named `now`. */
export const publicFigures = pgTable('public_figures', {
  id: text('id').primaryKey(),
  figures: jsonb('figures').notNull(),
  asOf: timestamp('as_of', { withTimezone: true }).notNull(),
})

/**
 * Counts of the limits that all processes share. A count ends at `expire`; its row is deleted later.
 */
export const rateCounts = pgTable(
  'rate_counts',
  {
    /** Class and key. */
    key: text('key').primaryKey(),
    points: integer('points').notNull(),
    /** End of the count. */
    expire: timestamp('expire', { withTimezone: true }),
  },
  (table) => [index('rate_counts_expire').on(table.expire)],
)
