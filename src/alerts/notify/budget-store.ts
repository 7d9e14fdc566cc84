import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { alertBudgets } from '../tables.ts'

/** Alerts of one watch for one recipient that are about to be sent. */
export interface BudgetUse {
  readonly watchId: number
  readonly recipientId: number
  /** Alerts allowed per hour. */
  readonly allowed: number
  readonly count: number
}

/** Result of counting. */
export interface BudgetResult extends Record<string, unknown> {
  readonly watchId: number
  readonly recipientId: number
  /** Alerts of this hour, including these. */
  readonly used: number
  /**
   * Whether these alerts are the first beyond the budget, and the recipient was not informed within the
   * last hours.
   */
  readonly isFirst: boolean
}

const HOUR = sql.raw(`interval '1 hour'`)

/**
 * Counts alerts against the budget, in one statement. Concurrent counts of one watch and recipient wait for
 * each other, so each alert has its own number within the hour.
 *
 * @param id a random UUID, unique per call
 */
export async function spendBudget(
  tx: Db,
  rows: readonly BudgetUse[],
  { now, id }: { readonly now: Date; readonly id: string },
): Promise<readonly BudgetResult[]> {
  if (rows.length === 0) return []
  const column = (read: (row: BudgetUse) => number) => sql.param(rows.map(read))
  const isOver = sql`(b.started_at <= excluded.started_at - ${HOUR})`
  const startedAt = sql`case when ${isOver} then excluded.started_at else b.started_at end`
  const fresh = sql`(case when ${isOver} then excluded.throttled
    else greatest(0, b.used + excluded.used - excluded.allowed)
      - greatest(0, b.used - excluded.allowed) end)`
  return await tx.execute<BudgetResult>(sql`
    insert into alert_budgets as b (watch_id, recipient_id, allowed, started_at, used, throttled,
      summary_at, throttled_at, announced_in)
    select r.watch_id, r.recipient_id, r.allowed, ${now}::timestamptz, r.count,
      greatest(0, r.count - r.allowed),
      case when r.count > r.allowed then ${now}::timestamptz + ${HOUR} end,
      case when r.count > r.allowed then ${now}::timestamptz end,
      case when r.count > r.allowed then ${id}::uuid end
    from unnest(${column(({ watchId }) => watchId)}::int[],
      ${column(({ recipientId }) => recipientId)}::int[],
      ${column(({ allowed }) => allowed)}::int[],
      ${column(({ count }) => count)}::int[]) as r(watch_id, recipient_id, allowed, count)
    -- One order for all, so that two batches never wait for each other.
    order by r.recipient_id, r.watch_id
    on conflict (recipient_id, watch_id) do update set
      allowed = excluded.allowed,
      started_at = ${startedAt},
      used = case when ${isOver} then excluded.used else b.used + excluded.used end,
      throttled = b.throttled + ${fresh},
      summary_at = case when ${fresh} > 0 then coalesce(b.summary_at, ${startedAt} + ${HOUR})
        else b.summary_at end,
      throttled_at = case when ${fresh} > 0 then excluded.started_at else b.throttled_at end,
      announced_in = case when ${fresh} > 0
          and (b.throttled_at is null or b.throttled_at < ${startedAt} - ${HOUR})
        then ${id}::uuid else b.announced_in end
    returning watch_id as "watchId", recipient_id as "recipientId", used,
      coalesce(announced_in = ${id}::uuid, false) as "isFirst"`)
}

/** Due summaries of throttled alerts. */
export const DUE_THROTTLE_SUMMARIES = {
  table: alertBudgets,
  id: ['recipientId', 'watchId'],
  dueAt: 'summaryAt',
} as const

/** A watch and a recipient, which together identify a summary. */
export type DueSummary = Pick<typeof alertBudgets.$inferSelect, 'watchId' | 'recipientId'>

/** Ends the count of a summary. With `until` counting continues, and the next summary is due then. */
export async function endThrottleSummary(
  tx: Db,
  { watchId, recipientId }: DueSummary,
  until: Date | null,
): Promise<void> {
  await tx.execute(sql`
    update alert_budgets set summary_at = ${until},
      throttled = case when ${until}::timestamptz is null then 0 else throttled end
    where recipient_id = ${recipientId} and watch_id = ${watchId}`)
}

/** Deletes rows whose hour began before an instant and that have no pending summary. */
export async function deleteIdleBudgets(db: Db, before: Date): Promise<void> {
  await db.execute(sql`
    delete from ${alertBudgets} where started_at < ${before} and summary_at is null`)
}
