/** Counts of deliveries. */
import { and, gte, lt, ne, type SQL, sql } from 'drizzle-orm'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { unplannedLimit } from '#src/db/plans.ts'
import { CANARY_WALLET } from '#src/kernel/canary.ts'
import { RETAINED_MAX } from '../model.ts'
import { deliveries } from '../tables.ts'

/** Number of deliveries of all people created in a period, and their results. */
export async function countDeliveriesInSpan(db: Db, since: Date, until: Date | undefined) {
  const { status, createdAt } = deliveries
  const [row] = await db
    .select({
      sent: sql`count(*) filter (where ${status} in ('delivered', 'failed', 'retrying'))`.mapWith(
        Number,
      ),
      delivered: sql`count(*) filter (where ${status} = 'delivered')`.mapWith(Number),
      failed: sql`count(*) filter (where ${status} = 'failed')`.mapWith(Number),
    })
    .from(deliveries)
    .where(
      and(
        ne(deliveries.wallet, CANARY_WALLET),
        gte(createdAt, since),
        until === undefined ? undefined : lt(createdAt, until),
      ),
    )
  return { sent: row?.sent ?? 0, delivered: row?.delivered ?? 0, failed: row?.failed ?? 0 }
}

/** Maximum number of recipients of a channel whose due deliveries are counted, and of due deliveries of each. */
const RECIPIENTS_MAX = 10_000
const COUNTED_MAX = 10_000

/**
 * Number of due deliveries by channel, including channels without due deliveries, of the 10,000 recipients that have waited
 * longest, at most 10,000 of each. `oldestAt`: time since which a delivery that was never tried has been due, where the
 * recipient answers.
 */
export async function countDue(
  db: Db,
  now: Date,
): Promise<readonly { channel: string; due: number; oldestAt: Date }[]> {
  return await db.execute<{ channel: string; due: number; oldestAt: Date }>(sql`
    select c.key as channel, coalesce(sum(d.due), 0)::int as due,
      coalesce(min(d.oldest_at) filter (where not h.is_silent), ${now}::timestamptz) as "oldestAt"
    from unnest(${sql.param([...CHANNEL_KEYS])}::text[]) as c(key)
    left join lateral (
      select h.recipient_id, h.is_silent from delivery_heads h
      where h.channel = c.key and h.due_at <= ${now}
      order by h.due_at limit ${RECIPIENTS_MAX}
    ) h on true
    left join lateral (
      select count(*) as due, min(at) filter (where status = 'pending') as oldest_at from (
        select d.status, d.next_attempt_at as at from delivery_queue d
        where d.recipient_id = h.recipient_id and d.next_attempt_at <= ${now}
        limit ${COUNTED_MAX}) counted
    ) d on true
    group by c.key`)
}

/**
 * Number of unsent alerts by recipient, at most `RETAINED_MAX`, including alerts that are retained because the destination
 * is off.
 */
export async function countWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  if (recipientIds.length === 0) return new Map()
  const part = (table: SQL, more: SQL) => sql`(
    select from ${table} d
    where d.recipient_id = asked.recipient_id and not (d.test or d.kind = 'notice') ${more})`
  // In the order of an index that has only what is asked for.
  const inOrder = (condition: SQL, order: SQL) =>
    part(
      sql`delivery_log`,
      sql`and ${condition} order by ${order} limit ${unplannedLimit(RETAINED_MAX)}`,
    )
  const parts = [
    inOrder(sql`d.retained_until > ${now}`, sql`d.fired_at desc`),
    inOrder(sql`d.deferred_until is not null`, sql`d.deferred_until`),
    part(sql`delivery_queue`, sql``),
  ]
  const rows = await db.execute<{ recipientId: number; waiting: number }>(sql`
    select asked.recipient_id as "recipientId", counted.waiting
    from unnest(${sql.param([...recipientIds])}::int[]) as asked(recipient_id)
    cross join lateral (
      select count(*)::int as waiting
      from (${sql.join(parts, sql` union all `)} limit ${RETAINED_MAX}) found
    ) counted`)
  return new Map(rows.map(({ recipientId, waiting }) => [recipientId, waiting]))
}
