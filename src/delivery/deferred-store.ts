/** Deferred deliveries, grouped by alert. */
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
    select alert_id as "alertId", recipient_id as "recipientId", max(held_until) as until,
      bool_or(status in ('pending', 'retrying', 'delivered') or told_in is not null) as "isSent",
      bool_and(status = 'disabled' and told_in is null) as "isMissed",
      bool_or(status = 'disabled' and kept_until is not null) as "isRetained"
    from deliveries
    where wallet = any(${sql.param([...wallets])}::text[])
      and alert_id = any(${sql.param([...alertIds])}::int[])
    group by alert_id, recipient_id`)
}
