import { sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

export const alerts = pgTable(
  'alerts',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    wallet: text('wallet').notNull(),
    /** Kept when the watch is deleted: history stays. */
    watchId: integer('watch_id').notNull(),
    watchLabel: text('watch_label').notNull(),
    type: text('type').notNull(),
    signal: text('signal'),
    group: text('group'),
    event: text('event').notNull(),
    severity: text('severity').notNull(),
    state: text('state').notNull(),
    data: jsonb('data').notNull().$type<unknown>(),
    /** Of the observation that raised it: rising for a watch; on the chain the block's number. */
    position: bigint('position', { mode: 'number' }).notNull(),
    firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
    recoveredAt: timestamp('recovered_at', { withTimezone: true }),
    /** The alert this recovery closes. */
    recoveryOf: integer('recovery_of'),
    acknowledgedAt: timestamp('acknowledged_at', { withTimezone: true }),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
  },
  (table) => [
    // Replaying an observation raises nothing twice. An alert without a signal has the empty signal here.
    uniqueIndex('alerts_once').on(
      table.watchId,
      sql`coalesce(${table.signal}, '')`,
      table.event,
      table.position,
    ),
    index('alerts_wallet').on(table.wallet, table.firedAt, table.id),
    index('alerts_created').on(table.createdAt),
    index('alerts_watch').on(table.watchId, table.firedAt),
  ],
)
