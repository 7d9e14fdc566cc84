import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { alertBudgets } from '../tables.ts'

/** Alerts of one watch for one recipient that are about to be sent. */
export interface BudgetUse {
  readonly watchId: number
  readonly recipientId: number
  /** Alerts allowed per window. */
  readonly allowed: number
  /** Length of the window. */
  readonly hours: number
  readonly count: number
}

/** Result of counting. */
export interface BudgetResult extends Record<string, unknown> {
  readonly watchId: number
  readonly recipientId: number
  /** Alerts of this window, including these. */
  readonly used: number
  /**
   * Whether these alerts are the first beyond the budget, and the recipient was not informed within the
   * last windows.
   */
  readonly isFirst: boolean
}

const WINDOW = sql.raw(`make_interval(hours => excluded.hours)`)

/**
 * Counts alerts against the budget, in one statement. Concurrent counts of one watch and recipient wait for
 * each other, so each alert has its own number within the window.
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
  const isOver = sql`(b.started_at <= excluded.started_at - ${WINDOW})`
  const startedAt = sql`case when ${isOver} then excluded.started_at else b.started_at end`
  const fresh = sql`(case when ${isOver} then excluded.throttled
    else greatest(0, b.used + excluded.used - excluded.allowed)
      - greatest(0, b.used - excluded.allowed) end)`
  return await tx.execute<BudgetResult>(sql`
    insert into alert_budgets as b (watch_id, recipient_id, allowed, hours, started_at, used, throttled,
      summary_at, throttled_at, announced_in)
    select r.watch_id, r.recipient_id, r.allowed, r.hours, ${now}::timestamptz, r.count,
      greatest(0, r.count - r.allowed),
      case when r.count > r.allowed then ${now}::timestamptz + make_interval(hours => r.hours) end,
      case when r.count > r.allowed then ${now}::timestamptz end,
      case when r.count > r.allowed then ${id}::uuid end
    from unnest(${column(({ watchId }) => watchId)}::int[],
      ${column(({ recipientId }) => recipientId)}::int[],
      ${column(({ allowed }) => allowed)}::int[],
      ${column(({ hours }) => hours)}::int[],
      ${column(({ count }) => count)}::int[]) as r(watch_id, recipient_id, allowed, hours, count)
    -- One order for all, so that two batches never wait for each other.
    order by r.recipient_id, r.watch_id
    on conflict (recipient_id, watch_id) do update set
      allowed = excluded.allowed, hours = excluded.hours,
      started_at = ${startedAt},
      used = case when ${isOver} then excluded.used else b.used + excluded.used end,
      throttled = b.throttled + ${fresh},
      summary_at = case when ${fresh} > 0 then coalesce(b.summary_at, ${startedAt} + ${WINDOW})
        else b.summary_at end,
      throttled_at = case when ${fresh} > 0 then excluded.started_at else b.throttled_at end,
      announced_in = case when ${fresh} > 0
          and (b.throttled_at is null or b.throttled_at < ${startedAt} - ${WINDOW})
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

/** Deletes rows whose window began three windows before an instant and that have no pending summary. */
export async function deleteIdleBudgets(db: Db, now: Date): Promise<void> {
  await db.execute(sql`
    delete from ${alertBudgets}
    where started_at < ${now}::timestamptz - make_interval(hours => 3 * hours) and summary_at is null`)
}
