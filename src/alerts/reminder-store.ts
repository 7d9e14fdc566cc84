/** Alerts that are told again. */
import { and, asc, isNotNull, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { AlertRow } from './store.ts'
import { alerts } from './tables.ts'

/** Takes alerts that are due to be told again; what somebody else holds is left for the next time. */
export function lockDue(tx: Db, now: Date, limit: number): Promise<AlertRow[]> {
  return tx
    .select()
    .from(alerts)
    .where(and(isNotNull(alerts.remindAt), lte(alerts.remindAt, now)))
    .orderBy(asc(alerts.remindAt), asc(alerts.id))
    .limit(limit)
    .for('update', { skipLocked: true })
}

/** How an alert goes on after it was due. */
export interface Reminded {
  readonly id: number
  readonly remindAt: Date | null
  readonly remindersSent: number
}

/** Writes how alerts go on. */
export async function saveReminded(tx: Db, rows: readonly Reminded[]): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    update alerts a set remind_at = r."remindAt", reminders_sent = r."remindersSent"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "remindAt" timestamptz,
      "remindersSent" int)
    where a.id = r.id`)
}

/** Which of these alerts have a later change of their signal beside them. */
export async function listOvertaken(tx: Db, ids: readonly number[]): Promise<number[]> {
  const rows = await tx.execute<{ id: number }>(sql`
    select a.id from alerts a
    where a.id = any(${sql.param([...ids])}::int[]) and exists (
      select from alerts b
      where b.watch_id = a.watch_id and b.signal is not distinct from a.signal
        and b.fired_at >= a.fired_at and (b.position, b.id) > (a.position, a.id)
        and (b.is_episode or b.recovery_of is not null))`)
  return rows.map(({ id }) => id)
}
