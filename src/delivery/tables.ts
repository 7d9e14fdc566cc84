import { sql } from 'drizzle-orm'
import { bigint, index, integer, json, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import type { ChannelKey } from '#src/channels/define.ts'
import type { DeliveryStatus } from './model.ts'

/** The outbox: one envelope for one destination. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid('id').primaryKey(),
    wallet: text('wallet').notNull(),
    alertId: integer('alert_id'),
    recipientId: integer('recipient_id').notNull(),
    channel: text('channel').notNull().$type<ChannelKey>(),
    /** Who serves the destination: bounds concurrency. */
    lane: text('lane').notNull(),
    /** Destination, watch and signal: deliveries of one key go out one after another, in order. */
    orderKey: text('order_key').notNull(),
    /** When the alert fired, by its source's time: the order within a key. */
    firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
    /** The alert's position: the order of what fired at one moment; then by id. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** `json`, not `jsonb`: kept as written, so that every attempt sends the same bytes. */
    envelope: json('envelope').notNull().$type<unknown>(),
    status: text('status').notNull().$type<DeliveryStatus>(),
    attempts: integer('attempts').notNull(),
    /** Null while an earlier delivery of the same key is unfinished, and at the end. */
    nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true }),
    /** While a worker holds it; another may take it afterwards. */
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    lastStatusCode: integer('last_status_code'),
    lastError: text('last_error'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    deliveredAt: timestamp('delivered_at', { withTimezone: true }),
  },
  (table) => [
    index('deliveries_due')
      .on(table.channel, table.nextAttemptAt, table.id)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_order')
      .on(table.orderKey, table.firedAt, table.position, table.id)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_created').on(table.createdAt),
    index('deliveries_alert').on(table.alertId),
    index('deliveries_recipient').on(table.recipientId, table.createdAt),
  ],
)
