import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  type PgColumn,
  pgTable,
  pgView,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core'
import type { EnvelopeKind, MessagePicture, OpenPart } from '#src/channels/envelope.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { DeliveryStatus } from './model.ts'

/** Condition on an unfinished delivery `d`: no worker has a lease. */
export function isUnleased(now: Date): SQL {
  return sql`(d.leased_until is null or d.leased_until <= ${now})`
}

/** Condition on an unfinished delivery `d`: it is due, and no worker has leased it. */
export function isReady(now: Date): SQL {
  return sql`d.next_attempt_at <= ${now} and ${isUnleased(now)}`
}

/** Condition: a message `d` waits for a change. */
export const IS_OUTDATED = sql.raw('d.revise_at is not null')

/**
 * Deliveries that may share a message. Queries repeat this condition literally, so that PostgreSQL uses the
 * index.
 */
export const IS_GROUPED = sql.raw(`channel <> 'webhook'`)

/** What a delivery is, while it is unfinished and afterwards: one envelope for one destination. */
const deliveryColumns = () => ({
  /** Begins with the time. */
  id: uuid('id').primaryKey(),
  wallet: text('wallet').notNull(),
  alertId: integer('alert_id'),
  /** The incident whose message the delivery joins; null for what nothing ends, and for what is no alert. */
  incidentId: integer('incident_id'),
  recipientId: integer('recipient_id').notNull(),
  /** Watch of the alert: alerts of one watch are grouped. */
  watchId: integer('watch_id'),
  channel: text('channel').notNull().$type<ChannelKey>(),
  /** Destination, watch and signal: deliveries of one key are sent in order, one after another. */
  orderKey: text('order_key').notNull(),
  /** Time at which the alert fired, by its source. Decides the order within a key. */
  firedAt: timestamp('fired_at', { withTimezone: true }).notNull(),
  /** Position of the alert, which orders deliveries that fired at the same time; the id comes last. */
  position: bigint('position', { mode: 'number' }).notNull(),
  /** `json`, not `jsonb`: stored unchanged, so that every attempt sends the same bytes. */
  envelope: json('envelope').notNull().$type<unknown>(),
  kind: text('kind').notNull().$type<EnvelopeKind>(),
  /** The alert to which the delivery replies. */
  answers: integer('answers'),
  /** Whether it is a recovery. */
  recovery: boolean('recovery').notNull(),
  test: boolean('test').notNull(),
  /** 0 for info, 1 for warning, 2 for critical. A higher urgency is sent first, across keys. */
  urgency: smallint('urgency').notNull(),
  status: text('status').notNull().$type<DeliveryStatus>(),
  attempts: integer('attempts').notNull(),
  lastStatusCode: integer('last_status_code'),
  lastError: text('last_error'),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull(),
})

/** What only an unfinished delivery has. */
const queueColumns = () => ({
  /** Partition of the destination, for bounded concurrency. */
  partitionKey: text('partition_key').notNull(),
  /** Null while an earlier delivery of the same key is unfinished. */
  nextAttemptAt: timestamp('next_attempt_at', { withTimezone: true }),
  /**
   * Regular time of the next attempt, while an earlier attempt is planned; also the end of a mandatory
   * wait.
   */
  plannedAt: timestamp('planned_at', { withTimezone: true }),
  /** End of a worker's lease; another worker may claim the delivery afterwards. */
  leasedUntil: timestamp('leased_until', { withTimezone: true }),
})

/** What only a delivery has that is over, or that another one is about. */
const logColumns = () => ({
  /** For deferred deliveries: time of the summary; null once the summary was written. */
  deferredUntil: timestamp('deferred_until', { withTimezone: true }),
  /** For deferred deliveries: the delivery of the summary, whose result they share. */
  summaryDeliveryId: uuid('summary_delivery_id'),
  /** Time until which the delivery can still be sent to a destination that was off. */
  retainedUntil: timestamp('retained_until', { withTimezone: true }),
  deliveredAt: timestamp('delivered_at', { withTimezone: true }),
  /** Id of the delivery's message at the destination, if there is one. */
  messageId: text('message_id'),
  /** The sent message that contains it, alone or with others. */
  carriedBy: uuid('carried_by'),
})

/**
 * The outbox: what is to be sent, `pending` or `retrying`, and nothing else. Small, because the statement that records the
 * end of a delivery moves it to the log. Its pages have room for the updates of claims, and vacuum looks at it often.
 */
export const deliveryQueue = pgTable(
  'delivery_queue',
  { ...deliveryColumns(), ...queueColumns() },
  // An index with a condition on its first column serves only statements that name this column. When the queue was empty
  // at the last vacuum, PostgreSQL would otherwise read a whole index in place of the rows of some ids.
  (table) => [
    index('delivery_queue_due')
      .on(table.recipientId, table.urgency.desc().nullsFirst(), table.nextAttemptAt, table.id)
      .where(sql`recipient_id is not null`),
    index('delivery_queue_order')
      .on(table.orderKey, table.firedAt, table.position, table.id)
      .where(sql`order_key is not null`),
    index('delivery_queue_waiting')
      .on(table.recipientId, table.firedAt, table.position, table.id)
      .where(sql`${IS_GROUPED} and next_attempt_at is not null`),
    index('delivery_queue_alert').on(table.alertId).where(sql`alert_id is not null`),
  ],
)

/**
 * Deliveries that no worker will send: sent, given up, muted, told in a summary or kept for a destination that is off.
 * Partitioned by id.
 */
export const deliveryLog = pgTable(
  'delivery_log',
  { ...deliveryColumns(), ...logColumns() },
  (table) => [
    index('delivery_log_created').on(table.createdAt),
    index('delivery_log_alert').on(table.alertId),
    index('delivery_log_recipient').on(table.recipientId, table.createdAt),
    index('delivery_log_deferred')
      .on(table.recipientId, table.deferredUntil)
      .where(sql`deferred_until is not null`),
    index('delivery_log_retained')
      .on(table.recipientId, table.firedAt)
      .where(sql`retained_until is not null`),
    index('delivery_log_incident')
      .on(table.recipientId, table.incidentId)
      .where(sql`incident_id is not null and carried_by is not null and not recovery`),
    index('delivery_log_carried').on(table.carriedBy).where(sql`carried_by is not null`),
  ],
)

const inQueue: readonly PgColumn[] = Object.values(getTableColumns(deliveryQueue))
const inLog: readonly PgColumn[] = Object.values(getTableColumns(deliveryLog))
const isAmong = (columns: readonly PgColumn[], { name }: PgColumn) =>
  columns.some((column) => column.name === name)

/** Rows of a table with the columns of both; what it lacks is null. */
function inColumnsOfBoth(table: string, own: readonly PgColumn[]): string {
  const all = [...inQueue, ...inLog.filter((column) => !isAmong(inQueue, column))]
  const columns = all.map((column) =>
    isAmong(own, column) ? column.name : `null::${column.getSQLType()} as ${column.name}`,
  )
  return `select ${columns.join(', ')} from ${table}`
}

/** All deliveries, unfinished or over. Lists, states and counts read them here; nothing is written here. */
export const deliveries = pgView('deliveries', {
  ...deliveryColumns(),
  ...queueColumns(),
  ...logColumns(),
}).as(
  sql.raw(
    `${inColumnsOfBoth('delivery_queue', inQueue)} union all ${inColumnsOfBoth('delivery_log', inLog)}`,
  ),
)

const CHANGED = ['urgency', 'status', 'attempts', 'last_status_code', 'last_error']
/** What every move between the two tables copies. */
export const MOVED_COLUMNS = sql.raw(
  inQueue
    .filter((column) => isAmong(inLog, column) && !CHANGED.includes(column.name))
    .map(({ name }) => name)
    .join(', '),
)

/**
 * One row for each recipient that ever had a delivery to send: when its next one may be due. Workers look for work here
 * and nowhere else. A head may be early, never late: a worker that finds nothing due moves it to the true next time.
 */
export const deliveryHeads = pgTable(
  'delivery_heads',
  {
    recipientId: integer('recipient_id').primaryKey(),
    channel: text('channel').notNull().$type<ChannelKey>(),
    /** Partition of its newest delivery. */
    partitionKey: text('partition_key').notNull(),
    /** Urgency of the most urgent delivery that is due then, or a higher one. */
    urgency: smallint('urgency').notNull(),
    /**
     * Null if nothing waits. A worker that takes the head moves it to the end of its lease, so that another worker follows
     * if it dies.
     */
    dueAt: timestamp('due_at', { withTimezone: true }),
    /** Whether the last attempt got no answer. Its retries are made due as soon as the channel works. */
    isSilent: boolean('is_silent').notNull(),
    /** Number of marks, so that a worker sees whether a delivery became due while it had the head. */
    version: integer('version').notNull(),
  },
  (table) => [
    index('delivery_heads_due')
      .on(table.channel, table.urgency, table.dueAt, table.recipientId)
      .where(sql`due_at is not null`),
    index('delivery_heads_silent').on(table.channel, table.dueAt).where(sql`is_silent`),
  ],
)

/**
 * Pictures of providers that fail several duties: one for each outage and one for its end. A row has the
 * last picture of a recipient's watch.
 */
export const outagePictures = pgTable(
  'outage_pictures',
  {
    recipientId: integer('recipient_id').notNull(),
    watchId: integer('watch_id').notNull(),
    kind: text('kind').notNull().$type<MessagePicture['kind']>(),
    provider: text('provider').notNull(),
    /** Label of the watch. */
    name: text('name').notNull(),
    /** Id, at the destination, of the message to which the picture replies. */
    messageId: text('message_id').notNull(),
    /** An alert in that message. */
    alertId: integer('alert_id').notNull(),
    plannedAt: timestamp('planned_at', { withTimezone: true }).notNull(),
    /** Whether a worker has taken the picture. A picture is tried once. */
    taken: boolean('taken').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.recipientId, table.watchId] }),
    index('outage_pictures_due').on(table.plannedAt).where(sql`not taken`),
  ],
)

/** Messages in chats and mailboxes, each with the deliveries in it. Partitioned by id. */
export const sentMessages = pgTable(
  'sent_messages',
  {
    /** Id of its first delivery. */
    id: uuid('id').primaryKey(),
    wallet: text('wallet').notNull(),
    recipientId: integer('recipient_id').notNull(),
    channel: text('channel').notNull().$type<ChannelKey>(),
    partitionKey: text('partition_key').notNull(),
    /** Null if the message is about several watches or about none, or is a test. */
    watchId: integer('watch_id'),
    kind: text('kind').notNull().$type<EnvelopeKind>(),
    /** Whether it is a recovery. */
    recovery: boolean('recovery').notNull(),
    /** Whether the message was sent with sound. */
    loud: boolean('loud').notNull(),
    /** Number of deliveries in it. */
    parts: integer('parts').notNull(),
    /** Time when the first delivery in the message was written: the start of the group. */
    openedAt: timestamp('opened_at', { withTimezone: true }).notNull(),
    sentAt: timestamp('sent_at', { withTimezone: true }).notNull(),
    /** Id of the message at its destination; null if it cannot be changed there or was deleted. */
    messageId: text('message_id'),
    /** Increases with every change of the message's intended content. */
    version: integer('version').notNull(),
    /** Due time of its next change; null while it is up to date. */
    reviseAt: timestamp('revise_at', { withTimezone: true }),
    revisions: integer('revisions').notNull(),
    /** What a person has opened below the message. */
    openPart: text('open_part').$type<OpenPart>(),
    /** End of the lease of a worker that changes it. */
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

/** What arrived at test receivers. `address` is the SHA-256 of the receiver's code, hex. */
export const receivedDeliveries = pgTable(
  'received_deliveries',
  {
    id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
    address: text('address').notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true }).notNull(),
    /** Names and values, in the order in which they are shown. */
    headers: json('headers').notNull().$type<readonly (readonly [string, string])[]>(),
    /** The body as it was sent, over which the signature is. */
    body: text('body').notNull(),
  },
  (table) => [
    index('received_deliveries_address').on(table.address, table.id),
    index('received_deliveries_age').on(table.receivedAt),
  ],
)
