/** Deliveries that are not sent now: deferred for a summary, or retained for a destination that is off. */

import { sql } from 'drizzle-orm'
import { uuidArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { isSamePartitionKey } from '#src/db/partitions.ts'
import { DUE_HEAD_COLUMNS, type DueHead, markDue } from '../claims/head-store.ts'
import { RETAINED_MAX } from '../model.ts'
import { notifyWorkers, RETAINED_INTERVAL } from '../store.ts'
import { isUnleased, MOVED_COLUMNS } from '../tables.ts'

/**
 * Retains all unsent deliveries of destinations that were switched off, except those in progress. Tests and
 * notices are not retained.
 */
export async function retainUnsent(
  tx: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<void> {
  await tx.execute(sql`
    with over as (
      delete from delivery_queue d
      where d.recipient_id = any(${sql.param([...recipientIds])}::int[]) and ${isUnleased(now)}
      returning d.*
    )
    insert into delivery_log (${MOVED_COLUMNS}, urgency, status, attempts, last_status_code, last_error,
      retained_until)
    select ${MOVED_COLUMNS}, urgency, 'disabled', attempts, last_status_code, last_error,
      case when test or kind = 'notice' then null else ${now}::timestamptz + ${RETAINED_INTERVAL} end
    from over`)
}

/** The newest retained deliveries of a recipient of the wallet. */
function retainedOf(wallet: string, recipientId: number, now: Date) {
  return sql`(
    select * from delivery_log d
    where d.wallet = ${wallet} and d.recipient_id = ${recipientId} and d.retained_until > ${now}
    order by d.fired_at desc, d.position desc, d.id desc
    limit ${RETAINED_MAX})`
}

export interface RetainedRow extends Record<string, unknown> {
  readonly id: string
  readonly alertId: number | null
  readonly envelope: unknown
  readonly retainedUntil: Date
}

/** Retained deliveries of a recipient of the wallet, newest first. */
export async function listRetained(
  db: Db,
  wallet: string,
  recipientId: number,
  now: Date,
): Promise<RetainedRow[]> {
  return await db.execute<RetainedRow>(sql`
    select id, alert_id as "alertId", envelope, retained_until as "retainedUntil"
    from ${retainedOf(wallet, recipientId, now)} d
    order by fired_at desc, position desc, id desc`)
}

/**
 * Makes retained deliveries due again, in the order in which they were written and after all new ones, and drops
 * the rest. An alert may be written after one that fired later: the numbers of alerts follow the order of writing.
 *
 * @param to `without`: ids of deliveries that another message is about
 * @returns their number
 */
export async function reviveRetained(
  tx: Db,
  wallet: string,
  {
    recipientId,
    partitionKey,
    without,
    now,
  }: {
    readonly recipientId: number
    readonly partitionKey: string
    readonly without: readonly string[]
    readonly now: Date
  },
): Promise<number> {
  const revived = await tx.execute<DueHead>(sql`
    with chosen as (
      select id, row_number() over (
        order by created_at desc, alert_id desc nulls last, position desc, id desc
      ) as place
      from ${retainedOf(wallet, recipientId, now)} k
      where k.id <> all(${uuidArray([...without])})
    ),
    revived as (
      delete from delivery_log d where d.id = any(array(select id from chosen)) and d.retained_until is not null
      returning d.*
    )
    insert into delivery_queue as d (${MOVED_COLUMNS}, urgency, status, attempts, partition_key, next_attempt_at)
    select ${MOVED_COLUMNS}, 0, 'pending', 0, ${partitionKey},
      ${now}::timestamptz - place * interval '1 millisecond'
    from revived join chosen using (id)
    returning ${DUE_HEAD_COLUMNS}`)
  await markDue(tx, revived)
  await dropRetained(tx, wallet, recipientId)
  await notifyWorkers(tx, [...new Set(revived.map(({ channel }) => channel))])
  return revived.length
}

/**
 * Drops retained deliveries.
 * @returns their number
 */
export async function dropRetained(tx: Db, wallet: string, recipientId: number): Promise<number> {
  const dropped = await tx.execute(sql`
    update delivery_log set retained_until = null
    where wallet = ${wallet} and recipient_id = ${recipientId} and retained_until is not null
    returning id`)
  return dropped.length
}

/** Records the summary of each of these deferred deliveries. */
export async function recordSummarized(
  tx: Db,
  summarized: readonly { readonly id: string; readonly summaryDeliveryId: string }[],
): Promise<void> {
  await tx.execute(sql`
    update delivery_log d set deferred_until = null, summary_delivery_id = r."summaryDeliveryId"
    from json_to_recordset(${JSON.stringify(summarized)}::json) as r(id uuid, "summaryDeliveryId" uuid)
    where d.id = any(${uuidArray(summarized.map(({ id }) => id))}) and ${isSamePartitionKey('d.id', 'r.id')}`)
}

/** Time until which the next delivery of an order key can join the key's messages. */
export interface JoinWindow {
  readonly orderKey: string
  readonly until: Date
}

/**
 * For each of these order keys with a delivery in the last `seconds`: the time `seconds` after the last
 * delivery that was not deferred, or the time until which a delivery is deferred.
 */
export async function listJoinWindows(
  db: Db,
  recipientIds: readonly number[],
  {
    orderKeys,
    seconds,
    now,
  }: {
    readonly orderKeys: readonly string[]
    readonly seconds: number
    readonly now: Date
  },
): Promise<readonly JoinWindow[]> {
  const after = new Date(now.getTime() - seconds * 1000)
  const length = sql.raw(`interval '${seconds} seconds'`)
  const rows = await db.execute<{ orderKey: string; until: Date }>(sql`
    select order_key as "orderKey",
      max(case when deferred_until is null then created_at + ${length} else deferred_until end) as until
    from deliveries
    where recipient_id = any(${sql.param([...recipientIds])}::int[])
      and order_key = any(${sql.param([...orderKeys])}::text[])
      and created_at > ${after} and created_at <= ${now} and summary_delivery_id is null
      and (deferred_until is null or deferred_until > ${now} and deferred_until <= ${now}::timestamptz + ${length})
    group by order_key`)
  return rows
}

/** Cancels deferred deliveries of a deleted recipient. */
export async function cancelDeferred(tx: Db, recipientId: number): Promise<void> {
  await tx.execute(sql`
    update delivery_log set status = 'disabled', deferred_until = null
    where recipient_id = ${recipientId} and deferred_until is not null`)
}

/** Recipients with deferred deliveries that may be summarized by an instant, by id, above `after`. */
export async function listRecipientsWithDeferred(
  db: Db,
  until: Date,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const rows = await db.execute<{ recipientId: number }>(sql`
    select distinct recipient_id as "recipientId" from delivery_log
    where deferred_until <= ${until} and recipient_id > ${after}
    order by 1 limit ${limit}`)
  return rows.map(({ recipientId }) => recipientId)
}
