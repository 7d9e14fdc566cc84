/**
 * Deferred deliveries of a recipient, counted and moved in the database, whatever their number. The table `delivery_log`
 * belongs to the room `delivery`, so only statements that may join it with alerts are here.
 */
import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { isSamePartitionKey } from '#src/db/partitions.ts'
import type { DeferredDelivery } from '#src/delivery/service.ts'

/** Maximum number of rows changed by one statement. */
const ROWS_MAX = 5000

/** Counts of the due deferred alerts of a recipient. */
export interface DeferredCounts extends Record<string, unknown> {
  /** Lines: alerts, and recoveries of alerts that are not among them. */
  readonly lines: number
  /** Number of lines that are alerts. */
  readonly alerts: number
  /** Number of alerts that have recovered meanwhile. */
  readonly recovered: number
  /** Highest urgency: 0 info, 1 warning, 2 critical. */
  readonly urgency: number
  readonly firstAt: Date | null
  readonly lastAt: Date | null
}

/** A deferred delivery of an alert. */
export interface DeferredAlert extends DeferredDelivery {
  /** Whether the delivery's alert is open. */
  readonly isFiring: boolean
}

/** Selects a recipient's due deferred alerts: all alerts, or only critical ones. */
export interface DueDeferred {
  readonly recipientId: number
  readonly until: Date
  readonly onlyCritical: boolean
}

/** Critical alerts, and their recoveries. */
const CRITICAL = sql`(d.urgency = 2 or d.recovery and exists (select from alerts a
  where a.id = d.alert_id and ${isSamePartitionKey('a.fired_at', 'd.fired_at')}
    and a.episode_severity = 'critical'))`

function isDue({ recipientId, until, onlyCritical }: DueDeferred) {
  const critical = onlyCritical ? sql`and ${CRITICAL}` : sql``
  return sql`d.recipient_id = ${recipientId} and d.deferred_until <= ${until} and d.kind <> 'notice'
    ${critical}`
}

/**
 * Condition: a due delivery has a separate line. The line of an alert also says that it recovered, so such
 * a recovery has none.
 */
function isLine({ recipientId, until, onlyCritical }: DueDeferred) {
  const critical = onlyCritical ? sql`and e.urgency = 2` : sql``
  return sql`not (d.recovery and exists (select from delivery_log e
    where e.alert_id = d.answers and e.recipient_id = ${recipientId} and e.deferred_until <= ${until}
      ${critical}))`
}

/** Counts deferred alerts. */
export async function countDeferred(tx: Db, due: DueDeferred): Promise<DeferredCounts> {
  const [counted] = await tx.execute<DeferredCounts>(sql`
    select (count(*) filter (where ${isLine(due)}))::int as lines,
      (count(*) filter (where not d.recovery))::int as alerts,
      (count(*) filter (where a.is_episode and a.state = 'recovered'))::int as recovered,
      coalesce(max(d.urgency), 0)::int as urgency,
      min(d.fired_at) as "firstAt", max(d.fired_at) as "lastAt"
    from delivery_log d
    left join alerts a on a.id = d.alert_id and a.fired_at = d.fired_at
    where ${isDue(due)}`)
  if (counted === undefined) throw new Error('an aggregate query returned no row')
  return counted
}

/** Deferred alerts that have a separate line: open alerts first, then the newest. */
export async function listNewestDeferred(
  tx: Db,
  due: DueDeferred,
  limit: number,
): Promise<readonly DeferredAlert[]> {
  return await tx.execute<DeferredAlert>(sql`
    select d.id, d.order_key as "orderKey", d.alert_id as "alertId", d.fired_at as "firedAt", d.envelope,
      coalesce(a.is_episode and a.recovered_at is null, false) as "isFiring"
    from delivery_log d
    left join alerts a on a.id = d.alert_id and a.fired_at = d.fired_at
    where ${isDue(due)} and ${isLine(due)}
    order by "isFiring" desc, d.fired_at desc, d.position desc, d.id desc
    limit ${limit}`)
}

/** Marks deferred alerts as contained in a summary delivery. */
export async function markSummarized(
  tx: Db,
  due: DueDeferred,
  summaryDeliveryId: string,
): Promise<void> {
  for (;;) {
    const marked = await tx.execute(sql`
      update delivery_log set deferred_until = null, summary_delivery_id = ${summaryDeliveryId}
      where id = any(array(select d.id from delivery_log d where ${isDue(due)} limit ${ROWS_MAX}))
      returning 1`)
    if (marked.length < ROWS_MAX) return
  }
}

/** New times of a recipient's deferred deliveries. */
export interface NewDeferredTimes {
  /** Deliveries due by this time keep their time; null: they are rescheduled, too. */
  readonly keepDueAt: Date | null
  readonly notices: Date
  /** New time of critical alerts and their recoveries. */
  readonly critical: Date
  readonly others: Date
}

/**
 * Reschedules the next deferred deliveries of a recipient, by id, above `after`.
 *
 * @returns the last id; undefined when there are no more
 */
export async function rescheduleDeferred(
  tx: Db,
  recipientId: number,
  times: NewDeferredTimes,
  after: string | undefined,
): Promise<string | undefined> {
  const { keepDueAt, notices, critical, others } = times
  const rows = await tx.execute<{ id: string }>(sql`
    with chosen as (
      select id from delivery_log
      where recipient_id = ${recipientId} and deferred_until is not null
        and (${keepDueAt}::timestamptz is null or deferred_until > ${keepDueAt}::timestamptz)
        and (${after ?? null}::uuid is null or id > ${after ?? null}::uuid)
      order by id limit ${ROWS_MAX} for update
    )
    update delivery_log d set deferred_until = case
      when d.kind = 'notice' then ${notices}::timestamptz
      when ${CRITICAL} then ${critical}::timestamptz
      else ${others}::timestamptz end
    where d.id = any(array(select id from chosen))
    returning d.id`)
  if (rows.length < ROWS_MAX) return undefined
  return rows
    .map(({ id }) => id)
    .toSorted()
    .at(-1)
}
