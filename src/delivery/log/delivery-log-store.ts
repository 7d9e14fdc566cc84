/** Messages sent to one recipient. */
import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { deleteHeads } from '../claims/head-store.ts'
import type { DeliveryStatus } from '../model.ts'
import { DELIVERY_STATE_COLUMNS, DELIVERY_STATE_JOIN } from '../store.ts'

export interface DeliveryLogRow extends Record<string, unknown> {
  readonly id: string
  /** Title of the message, in the language it was sent in. */
  readonly title: string
  readonly test: boolean
  readonly status: DeliveryStatus
  readonly attempts: number
  readonly createdAt: Date
  readonly deliveredAt: Date | null
  readonly nextAttemptAt: Date | null
  readonly lastStatusCode: number | null
  readonly lastError: string | null
}

/**
 * Deliveries to a recipient of the wallet up to the instant `until`, newest first; the first `skip`
 * deliveries of that instant are left out.
 */
export async function listDeliveryLog(
  db: Db,
  of: { readonly wallet: string; readonly recipientId: number },
  page: { readonly until: Date | undefined; readonly skip: number; readonly limit: number },
): Promise<DeliveryLogRow[]> {
  const { until, skip, limit } = page
  // A condition that also allows null would make PostgreSQL's cached plan read all newer deliveries first. So there is
  // none without an instant.
  const untilCondition = until === undefined ? sql`` : sql`and d.created_at <= ${until}`
  return await db.execute<DeliveryLogRow>(sql`
    select d.id, d.envelope->'message'->>'title' as title, d.test, d.created_at as "createdAt",
      ${DELIVERY_STATE_COLUMNS}
    from deliveries d ${DELIVERY_STATE_JOIN}
    where d.wallet = ${of.wallet} and d.recipient_id = ${of.recipientId} ${untilCondition}
    order by d.created_at desc, d.id
    limit ${limit} offset ${skip}`)
}

/**
 * Time of a recipient's newest test after `since` that did not fail; undefined if there is none. `watchId` null: tests
 * that are about no watch.
 */
export async function findLastTest(
  db: Db,
  of: { readonly wallet: string; readonly recipientId: number; readonly watchId: number | null },
  since: Date,
): Promise<Date | undefined> {
  const [row] = await db.execute<{ createdAt: Date }>(sql`
    select created_at as "createdAt" from deliveries
    where wallet = ${of.wallet} and recipient_id = ${of.recipientId} and created_at > ${since}
      and test and status not in ('failed', 'disabled') and watch_id is not distinct from ${of.watchId}
    order by created_at desc limit 1`)
  return row?.createdAt
}

/** Number of deliveries to a recipient since an instant that failed, temporarily or permanently. */
export async function countFailedDeliveries(
  db: Db,
  of: { readonly wallet: string; readonly recipientId: number },
  since: Date,
): Promise<number> {
  const [row] = await db.execute<{ failed: number }>(sql`
    select count(*)::int as failed from deliveries
    where wallet = ${of.wallet} and recipient_id = ${of.recipientId} and created_at >= ${since}
      and status in ('retrying', 'failed')`)
  return row?.failed ?? 0
}

/** Deletes all sent and unsent deliveries of these recipients. */
export async function deleteDeliveriesOfRecipients(
  tx: Db,
  recipientIds: readonly number[],
): Promise<void> {
  const ids = sql.param([...recipientIds])
  // In this order a delivery that is moved to the log meanwhile, and its message, are found there.
  await tx.execute(sql`delete from delivery_queue where recipient_id = any(${ids}::int[])`)
  await tx.execute(sql`delete from delivery_log where recipient_id = any(${ids}::int[])`)
  await tx.execute(sql`delete from sent_messages where recipient_id = any(${ids}::int[])`)
  await deleteHeads(tx, recipientIds)
}

/** Removes these names from the envelopes of these alerts and recoveries, in the queue before the log. */
export async function removeTakers(
  tx: Db,
  alertIds: readonly number[],
  names: readonly string[],
): Promise<void> {
  for (const table of ['delivery_queue', 'delivery_log']) {
    await tx.execute(sql`
      update ${sql.identifier(table)} d set envelope = (d.envelope::jsonb - 'takenBy')::json
      where d.alert_id = any(${sql.param([...alertIds])}::int[])
        and d.envelope ->> 'takenBy' = any(${sql.param([...names])}::text[])`)
  }
}
