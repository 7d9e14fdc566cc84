import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  pgTable,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core'
import type { EnvelopeKind, HelpPart } from '#src/channels/define.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { DeliveryStatus } from './model.ts'

/** Deliveries that may share a message. Queries repeat these words, so that PostgreSQL takes the index. */
export const IS_GROUPED = sql.raw(`channel <> 'webhook'`)

/** The outbox: one envelope for one destination. Partitioned by id, which begins with the time. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid('id').primaryKey(),
    wallet: text('wallet').notNull(),
    alertId: integer('alert_id'),
    recipientId: integer('recipient_id').notNull(),
    /** What it is about: alerts of one watch are grouped. */
    watchId: integer('watch_id'),
    channel: text('channel').notNull().$type<ChannelKey>(),
    /** Who serves the destination: bounds concurrency. */
    partitionKey: text('lane').notNull(),
    /** Destination, watch and signal: deliveries of one key go out one after another, in order. */
    orderKey: text('order_key').notNull(),
    /** When the alert fired, by its source's time: the order within a key. */
    firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
    /** The alert's position: the order of what fired at one moment; then by id. */
    position: bigint('position', { mode: 'number' }).notNull(),
    /** `json`, not `jsonb`: kept as written, so that every attempt sends the same bytes. */
    envelope: json('envelope').notNull().$type<unknown>(),
    kind: text('kind').notNull().$type<EnvelopeKind>(),
    /** The alert it answers. */
    answers: integer('answers'),
    /** It tells that something is over. */
    recovery: boolean('recovery').notNull(),
    test: boolean('test').notNull(),
    /** 0 info, 1 warning, 2 critical: the higher goes first, across keys. */
    urgency: smallint('urgency').notNull(),
    /**
     * It was tried before, or could not be taken when it was looked at. It is claimed recipient by
     * recipient; all others are claimed by urgency and age over all recipients.
     */
    backlog: boolean('backlog').notNull().default(false),
    /** The last attempt got no answer. It is tried again as soon as the channel works. */
    unanswered: boolean('unanswered').notNull().default(false),
    status: text('status').notNull().$type<DeliveryStatus>(),
    attempts: integer('attempts').notNull(),
    /** Null while an earlier delivery of the same key is unfinished, and at the end. */
    nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true }),
    /** When it is due by the table, while it is tried earlier; also what must not be tried earlier. */
    plannedAt: timestamp('planned_at', { withTimezone: true }),
    /** Of a held one: when it is told, in a summary; null once one was written that tells it. */
    deferredUntil: timestamp('held_until', { withTimezone: true }),
    /** Of a held one: the delivery that tells it instead. What becomes of that is what became of it. */
    summaryDeliveryId: uuid('told_in'),
    /** Until then it can still be sent to a destination that was off. */
    retainedUntil: timestamp('kept_until', { withTimezone: true }),
    /** While a worker holds it; another may take it afterwards. */
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
    lastStatusCode: integer('last_status_code'),
    lastError: text('last_error'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
    deliveredAt: timestamp('delivered_at', { withTimezone: true }),
    /** What the message it came in is called at its destination, where that has a name. */
    messageId: text('message_id'),
    /** The sent message it came in, alone or with others. */
    carriedBy: uuid('carried_by'),
  },
  (table) => [
    index('deliveries_due')
      .on(table.channel, table.urgency, table.nextAttemptAt, table.id)
      .where(sql`status in ('pending', 'retrying') and not backlog`),
    index('deliveries_backlog')
      .on(table.channel, table.recipientId, table.urgency, table.nextAttemptAt, table.id)
      .where(sql`status in ('pending', 'retrying') and backlog and next_attempt_at is not null`),
    index('deliveries_unanswered').on(table.channel, table.nextAttemptAt).where(sql`unanswered`),
    index('deliveries_order')
      .on(table.orderKey, table.firedAt, table.position, table.id)
      .where(sql`status in ('pending', 'retrying')`),
    index('deliveries_created').on(table.createdAt),
    index('deliveries_alert').on(table.alertId),
    index('deliveries_recipient').on(table.recipientId, table.createdAt),
    index('deliveries_waiting')
      .on(table.recipientId, table.firedAt, table.position, table.id)
      .where(
        sql`status in ('pending', 'retrying') and ${IS_GROUPED} and next_attempt_at is not null`,
      ),
    index('deliveries_retrying')
      .on(table.recipientId, table.nextAttemptAt)
      .where(sql`status = 'retrying' and planned_at is null`),
    index('deliveries_held')
      .on(table.recipientId, table.deferredUntil)
      .where(sql`held_until is not null`),
    index('deliveries_kept')
      .on(table.recipientId, table.firedAt)
      .where(sql`kept_until is not null`),
    index('deliveries_carried').on(table.carriedBy).where(sql`carried_by is not null`),
  ],
)

/**
 * What stands in chats and mailboxes: one message each, with the deliveries that came in it. Partitioned
 * by id.
 */
export const sentMessages = pgTable(
  'sent_messages',
  {
    /** Id of the first delivery in it. */
    id: uuid('id').primaryKey(),
    wallet: text('wallet').notNull(),
    recipientId: integer('recipient_id').notNull(),
    channel: text('channel').notNull().$type<ChannelKey>(),
    partitionKey: text('lane').notNull(),
    /** Null where it is about several watches, or none. */
    watchId: integer('watch_id'),
    kind: text('kind').notNull().$type<EnvelopeKind>(),
    /** It tells that something is over. */
    recovery: boolean('recovery').notNull(),
    /** It arrived with a sound. */
    loud: boolean('loud').notNull(),
    /** Deliveries in it. */
    parts: integer('parts').notNull(),
    /** When the first delivery in it was written: the start of its group. */
    openedAt: timestamp('opened_at', { withTimezone: true }).notNull(),
    sentAt: timestamp('sent_at', { withTimezone: true }).notNull(),
    /** Its name at the destination; null where it cannot be changed there, or is gone. */
    messageId: text('message_id'),
    /** Grows with everything that changes what it is to show. */
    version: integer('version').notNull(),
    /** When it is to be brought up to date; null while it is. */
    reviseAt: timestamp('revise_at', { withTimezone: true }),
    revisions: integer('revisions').notNull(),
    /** The part of the help that is open below it. */
    help: text('help').$type<HelpPart>(),
    /** While a worker changes it. */
    leasedUntil: timestamp('leased_until', { withTimezone: true }),
  },
  (table) => [
    index('sent_messages_recent').on(table.recipientId, table.sentAt),
    index('sent_messages_name').on(table.recipientId, table.messageId),
    index('sent_messages_stale')
      .on(table.channel, table.recipientId, table.reviseAt)
      .where(sql`revise_at is not null`),
  ],
)
