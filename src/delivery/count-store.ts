/** Counts of deliveries. */
import { and, gte, lt, ne, sql } from 'drizzle-orm'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { CANARY_WALLET } from '#src/kernel/canary.ts'
import { KEPT_MAX } from './model.ts'
import { deliveries } from './tables.ts'

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

/** Maximum number of due deliveries of a channel that are counted, for each of its two queues. */
const COUNTED_MAX = 50_000

/**
 * Number of due deliveries by channel, including channels without due deliveries. The count ends at
 * 100,000. `oldestAt`: due time of the oldest delivery outside backlogs.
 */
export async function countDue(
  db: Db,
  now: Date,
): Promise<readonly { channel: string; due: number; oldestAt: Date }[]> {
  const isDue = sql`d.channel = c.key and d.status in ('pending', 'retrying')
    and d.next_attempt_at <= ${now}`
  return await db.execute<{ channel: string; due: number; oldestAt: Date }>(sql`
    select c.key as channel, front.due + backlog.due as due,
      coalesce(front."oldestAt", ${now}::timestamptz) as "oldestAt"
    from unnest(${sql.param([...CHANNEL_KEYS])}::text[]) as c(key)
    cross join lateral (
      select count(*)::int as due, min(at) as "oldestAt" from (
        select d.next_attempt_at as at from deliveries d where ${isDue} and not d.backlog
        limit ${COUNTED_MAX}) counted
    ) front
    cross join lateral (
      select count(*)::int as due from (
        select from deliveries d where ${isDue} and d.backlog and d.next_attempt_at is not null
        limit ${COUNTED_MAX}) counted
    ) backlog`)
}

/**
 * Number of unsent alerts by recipient, including alerts that are retained because the destination is off.
 */
export async function countWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  if (recipientIds.length === 0) return new Map()
  const rows = await db.execute<{ recipientId: number; waiting: number }>(sql`
    select recipient_id as "recipientId", least(count(*), ${KEPT_MAX})::int as waiting
    from deliveries d
    where recipient_id = any(${sql.param([...recipientIds])}::int[])
      and (status in ('pending', 'retrying') or held_until is not null or kept_until > ${now})
      and not (d.test or d.kind = 'notice')
    group by recipient_id`)
  return new Map(rows.map(({ recipientId, waiting }) => [recipientId, waiting]))
}
