/** Counts of deliveries. */
import { and, gte, lt, ne, type SQL, sql } from 'drizzle-orm'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { unplannedLimit } from '#src/db/plans.ts'
import { CANARY_WALLET } from '#src/kernel/canary.ts'
import { RETAINED_MAX } from './model.ts'
import { deliveries, IS_RETRY } from './tables.ts'

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
 * Number of unsent alerts by recipient, at most `RETAINED_MAX`, including alerts that are retained because the destination
 * is off.
 */
export async function countWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  if (recipientIds.length === 0) return new Map()
  const isRetained = sql`d.retained_until > ${now}`
  const isDeferred = sql`d.deferred_until is not null and (${isRetained}) is not true`
  const isUnsent = sql`d.deferred_until is null and (${isRetained}) is not true`
  const part = (condition: SQL, more: SQL) => sql`(
    select from deliveries d
    where d.recipient_id = asked.recipient_id and ${condition} and not (d.test or d.kind = 'notice')
    ${more})`
  // In the order of an index that has only what is asked for.
  const inOrder = (condition: SQL, order: SQL) =>
    part(condition, sql`order by ${order} limit ${unplannedLimit(RETAINED_MAX)}`)
  const isOther = sql`d.status in ('pending', 'retrying')
    and (d.status = 'pending' or d.planned_at is not null)`
  const parts = [
    inOrder(isRetained, sql`d.fired_at desc`),
    inOrder(isDeferred, sql`d.deferred_until`),
    inOrder(sql`${IS_RETRY} and ${isUnsent}`, sql`d.next_attempt_at`),
    // There is no such index. PostgreSQL reads these only if it has found fewer than the limit before.
    part(sql`${isOther} and ${isUnsent}`, sql``),
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
