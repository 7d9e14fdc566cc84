/** Deferred deliveries: their states by alert, and deferred notices. */
import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'

/** Delivery state of an alert for one recipient. */
export interface DeferredDeliveries extends Record<string, unknown> {
  readonly alertId: number
  readonly recipientId: number
  /** Time of the summary; null if nothing is deferred. */
  readonly until: Date | null
  /** Whether a message about the alert was sent, or is to be sent without a summary. */
  readonly isSent: boolean
  /** Whether all of it was kept while the destination was off, and nobody has had it sent since. */
  readonly isMissed: boolean
  /** Whether it can still be sent. */
  readonly isRetained: boolean
}

/**
 * Reads whether and until when the deliveries of these wallets' alerts are deferred, by alert and
 * recipient.
 */
export async function listDeferred(
  db: Db,
  wallets: readonly string[],
  alertIds: readonly number[],
): Promise<DeferredDeliveries[]> {
  return await db.execute<DeferredDeliveries>(sql`
    select alert_id as "alertId", recipient_id as "recipientId", max(deferred_until) as until,
      bool_or(status in ('pending', 'retrying', 'delivered') or summary_delivery_id is not null) as "isSent",
      bool_and(status = 'disabled' and summary_delivery_id is null) as "isMissed",
      bool_or(status = 'disabled' and retained_until is not null) as "isRetained"
    from deliveries
    where wallet = any(${sql.param([...wallets])}::text[])
      and alert_id = any(${sql.param([...alertIds])}::int[])
    group by alert_id, recipient_id`)
}

/** A deferred delivery; `envelope` in its stored form. */
export interface DeferredDelivery extends Record<string, unknown> {
  readonly id: string
  readonly orderKey: string
  readonly alertId: number | null
  readonly firedAt: Date
  readonly envelope: unknown
}

/** Notices deferred for a recipient up to an instant, oldest first. */
export async function listDeferredNotices(
  tx: Db,
  recipientId: number,
  until: Date,
  limit: number,
): Promise<readonly DeferredDelivery[]> {
  return await tx.execute<DeferredDelivery>(sql`
    select id, order_key as "orderKey", alert_id as "alertId", fired_at as "firedAt", envelope
    from delivery_log
    where recipient_id = ${recipientId} and deferred_until <= ${until} and kind = 'notice'
    order by fired_at, position, id limit ${limit}`)
}

/** Marks deferred deliveries that cannot be parsed as failed. */
export async function markDeferredFailed(tx: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.execute(sql`
    update delivery_log set status = 'failed', deferred_until = null, last_error = 'unreadable'
    where id = any(${sql.param([...ids])}::uuid[])`)
}
