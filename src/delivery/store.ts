import { type SQL, sql } from 'drizzle-orm'
import { REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { ANY_LENGTH, joinedJson } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { withoutSequentialScans } from '#src/db/plans.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { DUE_HEAD_COLUMNS, type DueHead, markDue } from './claims/head-store.ts'
import {
  type DeliveryEntry,
  type DeliveryStatus,
  type NewDelivery,
  RETAINED_DAYS,
} from './model.ts'
import { wakeRetries } from './results/retry-store.ts'
import { deliveryLog, MOVED_COLUMNS } from './tables.ts'

/** Maximum number of rows that one statement inserts. */
const ROWS_MAX = 1000
/** Time for which unsent deliveries are retained. */
export const RETAINED_INTERVAL = sql.raw(`interval '${RETAINED_DAYS} days'`)

/**
 * Inserts deliveries and wakes the workers, in the caller's transaction. Those that nobody will send go to the log at once.
 */
export async function insertDeliveries(tx: Db, all: readonly NewDelivery[]): Promise<void> {
  const due = all.filter(({ status }) => status === 'pending')
  const others = all.filter(({ status }) => status !== 'pending')
  const channels = [...new Set(due.map(({ channel }) => channel))]
  // The workers are woken by the commit, so none waits for another.
  await Promise.all([
    insertAll(tx, due, {
      into: sql`delivery_queue (${INSERTED_COLUMNS}, attempts, partition_key, next_attempt_at)`,
      more: sql`r.partition_key, r.created_at`,
    }),
    insertAll(tx, others, {
      into: sql`delivery_log (${INSERTED_COLUMNS}, attempts, deferred_until, retained_until)`,
      more: sql`r.deferred_until,
        case when r.status = 'disabled' then r.created_at + ${RETAINED_INTERVAL} end`,
    }),
    notifyWorkers(tx, channels),
    markDue(
      tx,
      due.map((row) => ({ ...row, urgency: urgencyOf(row), dueAt: row.createdAt })),
    ),
  ])
}

/** Columns of a new delivery, in both tables. */
const INSERTED_COLUMNS =
  sql.raw(`id, wallet, alert_id, recipient_id, channel, order_key, fired_at, position,
  envelope, status, created_at, watch_id, kind, answers, recovery, test, urgency, incident_id`)

/** Inserts deliveries into one of the tables, a thousand per statement. */
async function insertAll(
  db: Db,
  all: readonly NewDelivery[],
  { into, more }: { readonly into: SQL; readonly more: SQL },
): Promise<void> {
  for (let start = 0; start < all.length; start += ROWS_MAX) {
    const rows = all.slice(start, start + ROWS_MAX)
    const column = <T>(read: (row: NewDelivery) => T) => sql.param(rows.map(read))
    // One array per column: envelopes stay unchanged, while a recordset would decode their texts.
    await db.execute(sql`
      insert into ${into}
      select ${INSERTED_COLUMNS}, 0, ${more}
      from unnest(
        ${column(({ id }) => id)}::uuid[],
        ${column(({ wallet }) => wallet)}::text[],
        ${column(({ alertId }) => alertId)}::int[],
        ${column(({ recipientId }) => recipientId)}::int[],
        ${column(({ channel }) => channel)}::text[],
        ${column(({ partitionKey }) => partitionKey)}::text[],
        ${column(({ orderKey }) => orderKey)}::text[],
        ${column(({ firedAt }) => firedAt)}::timestamptz[],
        ${column(({ position }) => position)}::bigint[],
        string_to_array(${joinedJson(rows.map(({ envelope }) => envelope))}, e'\\x1f')::json[],
        ${column(({ status }) => status)}::text[],
        ${column(({ createdAt }) => createdAt)}::timestamptz[],
        ${column(({ deferredUntil }) => deferredUntil ?? null)}::timestamptz[],
        ${column(({ envelope }) => envelope.message.watchId)}::int[],
        ${column(({ envelope }) => envelope.kind ?? 'alert')}::text[],
        ${column(({ envelope }) => envelope.answers ?? null)}::int[],
        ${column(({ envelope }) => envelope.message.isRecovery)}::bool[],
        ${column(({ envelope }) => envelope.message.test)}::bool[],
        ${column(urgencyOf)}::smallint[],
        ${column(incidentOf)}::int[]
      ) as r(id, wallet, alert_id, recipient_id, channel, partition_key, order_key, fired_at, position,
        envelope, status, created_at, deferred_until, watch_id, kind, answers, recovery, test, urgency,
        incident_id)`)
  }
}

/** Wakes the workers of these channels once the transaction is committed. */
export async function notifyWorkers(db: Db, channels: readonly ChannelKey[]): Promise<void> {
  if (channels.length === 0) return
  await db.execute(sql`
    select pg_notify('deliveries', channel) from unnest(${sql.param([...channels])}::text[]) as channel`)
}

/** The incident whose message the delivery joins. An event that nothing ends joins one only where that follows its incident. */
function incidentOf({ channel, envelope: { message } }: NewDelivery): number | null {
  const isJoined = message.canRecover || message.isRecovery || CHANNELS[channel].followsIncident
  return isJoined ? message.incidentId : null
}

function urgencyOf({ envelope }: Pick<NewDelivery, 'envelope'>): number {
  return SEVERITIES.indexOf(envelope.message.severity)
}

/** Inserts a finished delivery: a test that was sent immediately. */
export async function insertFinishedDelivery(
  db: Db,
  row: Omit<NewDelivery, 'status' | 'deferredUntil'> & {
    readonly status: DeliveryStatus
    readonly statusCode: number | null
    readonly error: string | null
    readonly deliveredAt: Date | null
  },
): Promise<void> {
  const { message, kind = 'alert' } = row.envelope
  await db.insert(deliveryLog).values({
    ...row,
    watchId: message.watchId,
    kind,
    recovery: message.isRecovery,
    test: message.test,
    urgency: urgencyOf(row),
    attempts: 1,
    lastStatusCode: row.statusCode,
    lastError: row.error,
  })
}

/** Result of an attempt. */
export interface FinishedDelivery {
  readonly id: string
  /** Number of the attempt. A worker whose lease has ended reports an earlier number. */
  readonly attempt: number
  readonly recipientId: number
  readonly orderKey: string
  readonly status: Extract<
    DeliveryStatus,
    'retrying' | 'delivered' | 'failed' | 'disabled' | 'muted'
  >
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  /** The new value of the column `planned_at`. */
  readonly plannedAt: Date | null
  readonly statusCode: number | null
  readonly error: string | null
  readonly deliveredAt: Date | null
  /** Time until which the delivery can be sent on request, when its destination works again. */
  readonly retainedUntil: Date | null
  /**
   * Whether the recipient did not answer and is not known to be down, or the fault was that of this service; null if it
   * is known to be down.
   */
  readonly isSilent: boolean | null
  readonly messageId: string | null
  /** Message that contains it; null for webhooks. */
  readonly carriedBy: string | null
}

/**
 * Records results of attempts and makes the next delivery of each freed key due at `now`. After a success,
 * earlier failures to the same recipient are retried at once, one time per step.
 *
 * Deliveries that another worker has taken over are left to it, but a success always counts.
 *
 * @returns whether others became due
 */
export async function finishDeliveries(
  tx: Db,
  rows: readonly FinishedDelivery[],
  now: Date,
): Promise<boolean> {
  const finished = rows.filter(({ status }) => status !== 'retrying')
  const answering = finished.filter(({ status }) => status === 'delivered')
  const keys = finished.map(({ orderKey }) => orderKey)
  // Sent without waiting for each other: a connection runs them in this order.
  const [retried, , areWoken, freed] = await withoutSequentialScans(tx, () =>
    Promise.all([
      recordRetries(
        tx,
        rows.filter(({ status }) => status === 'retrying'),
      ),
      moveFinished(tx, finished),
      wakeRetries(tx, [...new Set(answering.map(({ recipientId }) => recipientId))], now),
      freeKeys(tx, keys, now),
    ]),
  )
  await markDue(tx, [...retried, ...freed])
  return areWoken || freed.length > 0
}

/** Results as rows `r`. Two transactions that lock the same deliveries lock them in the order of their ids. */
function resultRows(rows: readonly FinishedDelivery[]): SQL {
  const inOrder = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return sql`json_to_recordset(${JSON.stringify(inOrder)}::json) as r(id uuid, attempt int, status text,
      attempts int, "nextAttemptAt" timestamptz, "plannedAt" timestamptz, "statusCode" int,
      error text, "deliveredAt" timestamptz, "retainedUntil" timestamptz, "messageId" text,
      "carriedBy" uuid)`
}

/** @returns those that are tried again */
async function recordRetries(
  tx: Db,
  rows: readonly FinishedDelivery[],
): Promise<readonly DueHead[]> {
  if (rows.length === 0) return []
  const recorded = await tx.execute<DueHead>(sql`
    update delivery_queue d set status = r.status, attempts = r.attempts, leased_until = null,
      next_attempt_at = r."nextAttemptAt", planned_at = r."plannedAt",
      last_status_code = r."statusCode", last_error = r.error
    from ${resultRows(rows)}
    where d.id = r.id and d.attempts = r.attempt
    returning ${DUE_HEAD_COLUMNS}`)
  const isSilent = new Map(rows.map((row) => [row.recipientId, row.isSilent]))
  return recorded.map((mark) => ({ ...mark, isSilent: isSilent.get(mark.recipientId) ?? null }))
}

/** Moves deliveries that are over to the log, with their results. */
async function moveFinished(tx: Db, rows: readonly FinishedDelivery[]): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    with over as (
      delete from delivery_queue d using ${resultRows(rows)}
      where d.id = r.id and (d.attempts = r.attempt or r.status = 'delivered')
      returning d.*, r.status as result, r.attempts as attempts_made, r."statusCode", r.error, r."deliveredAt",
        r."retainedUntil", r."messageId", r."carriedBy"
    )
    insert into delivery_log (${MOVED_COLUMNS}, urgency, status, attempts, last_status_code, last_error, delivered_at,
      retained_until, message_id, carried_by)
    select ${MOVED_COLUMNS}, urgency, result, attempts_made, "statusCode", error, "deliveredAt",
      case when test or kind = 'notice' then null else "retainedUntil" end, "messageId", "carriedBy"
    from over`)
}

/** Makes the next delivery of each key due, if it waits for an earlier one. */
async function freeKeys(tx: Db, keys: readonly string[], now: Date): Promise<readonly DueHead[]> {
  if (keys.length === 0) return []
  return await tx.execute<DueHead>(sql`
    update delivery_queue d set next_attempt_at = ${now}
    where d.next_attempt_at is null and d.id = any(array(
      select head.id
      from rows from (unnest(${sql.param(keys)}::text[]), ${ANY_LENGTH}) as freed(order_key, nothing)
      cross join lateral (
        select e.id from delivery_queue e
        where e.order_key = freed.order_key
        order by e.fired_at, e.position, e.id
        limit 1
      ) head))
    returning ${DUE_HEAD_COLUMNS}`)
}

/**
 * Columns with the state of a delivery `d`; of a deferred delivery, the state of its summary `s`. A
 * delivery behind an unfinished delivery of its key has the next attempt of that delivery. Needs the join
 * `DELIVERY_STATE_JOIN`.
 */
export const DELIVERY_STATE_COLUMNS = sql.raw(`coalesce(s.status, d.status) as status,
  coalesce(s.attempts, d.attempts) as attempts,
  coalesce(s.last_status_code, d.last_status_code) as "lastStatusCode",
  coalesce(s.last_error, d.last_error) as "lastError",
  coalesce(s.next_attempt_at, d.next_attempt_at,
    case when coalesce(s.status, d.status) in ('pending', 'retrying') then (
      select e.next_attempt_at from delivery_queue e
      where e.order_key = coalesce(s.order_key, d.order_key)
      order by e.fired_at, e.position, e.id limit 1
    ) end) as "nextAttemptAt",
  coalesce(s.delivered_at, d.delivered_at) as "deliveredAt"`)
export const DELIVERY_STATE_JOIN = sql.raw('left join deliveries s on s.id = d.summary_delivery_id')

type AlertDelivery = DeliveryEntry & { readonly alertId: number } & Record<string, unknown>

/** Deliveries of alerts, by recipient. */
export async function listDeliveriesOfAlerts(
  db: Db,
  alertIds: readonly number[],
): Promise<AlertDelivery[]> {
  return await db.execute<AlertDelivery>(sql`
    select d.alert_id as "alertId", d.id as "deliveryId", d.recipient_id as "recipientId",
      d.channel, ${DELIVERY_STATE_COLUMNS}
    from deliveries d ${DELIVERY_STATE_JOIN}
    where d.alert_id = any(${sql.param([...alertIds])}::int[])
    order by d.recipient_id, d.id`)
}

/** Those of these alerts that have a delivery to a recipient: one row each, however many others and reminders there are. */
export async function listAlertsMeantFor(
  db: Db,
  recipientId: number,
  alertIds: readonly number[],
): Promise<{ readonly alertId: number }[]> {
  return await db.execute<{ alertId: number }>(sql`
    select distinct d.alert_id as "alertId" from deliveries d
    where d.alert_id = any(${sql.param([...alertIds])}::int[]) and d.recipient_id = ${recipientId}`)
}

/** Recipients that got an alert itself, and not only a reminder of it, with the time of their first message. */
export async function listReachedRecipients(
  db: Db,
  alertId: number,
): Promise<{ readonly recipientId: number; readonly at: Date }[]> {
  return await db.execute<{ recipientId: number; at: Date }>(sql`
    select d.recipient_id as "recipientId", min(coalesce(s.delivered_at, d.delivered_at)) as at
    from deliveries d ${DELIVERY_STATE_JOIN}
    where d.alert_id = ${alertId} and d.kind <> 'reminder'
      and coalesce(s.delivered_at, d.delivered_at) is not null
    group by d.recipient_id
    order by at, d.recipient_id`)
}

/** Recipients that got no separate message about these alerts, which were meant for them. */
export async function listUnnotifiedRecipients(
  db: Db,
  alertIds: readonly number[],
): Promise<AlertRecipient[]> {
  return await db.execute<AlertRecipient>(
    recipientsQuery(alertIds, sql`status in ('held', 'muted', 'throttled', 'disabled')`),
  )
}

/** Recipients that got no message about these alerts because all their deliveries are `muted`. */
export async function listOnlyMutedRecipients(
  db: Db,
  alertIds: readonly number[],
): Promise<AlertRecipient[]> {
  return await db.execute<AlertRecipient>(recipientsQuery(alertIds, sql`status = 'muted'`))
}

/** A recipient of an alert. */
type AlertRecipient = { readonly alertId: number; readonly recipientId: number }

/** Query for the recipients of alerts all of whose deliveries fulfil a condition. */
function recipientsQuery(alertIds: readonly number[], condition: SQL): SQL {
  return sql`
    select alert_id as "alertId", recipient_id as "recipientId" from deliveries
    where alert_id = any(${sql.param([...alertIds])}::int[])
    group by alert_id, recipient_id
    having bool_and(${condition})`
}
