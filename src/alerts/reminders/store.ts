/** Storage of reminders. */
import { and, desc, eq, gte, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { AlertRow } from '../store.ts'
import { alerts } from '../tables.ts'

/** Alerts with a due reminder. */
export const DUE_REMINDERS = { table: alerts, id: ['id'], dueAt: 'remindAt' } as const

/** Ends the reminders of alerts that cannot be processed. */
export async function endReminders(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .update(alerts)
    .set({ remindAt: null })
    .where(sql`${alerts.id} = any(${sql.param([...ids])}::int[])`)
}

/**
 * The newest unacknowledged alerts and recoveries of a watch without an episode, recorded since an instant.
 */
export function listAlertsWithoutEpisode(
  tx: Db,
  { watchId, since }: { readonly watchId: number; readonly since: Date },
  limit: number,
): Promise<AlertRow[]> {
  // An alert has the time of its block, which is earlier than the time at which it is recorded.
  const firedAfter = new Date(since.getTime() - RECORDING_LAG_MS)
  return tx
    .select()
    .from(alerts)
    .where(
      and(
        eq(alerts.watchId, watchId),
        gte(alerts.firedAt, firedAfter),
        gte(alerts.createdAt, since),
        eq(alerts.isEpisode, false),
        isNotNull(alerts.notifiedAt),
        isNull(alerts.acknowledgedAt),
      ),
    )
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
    .limit(limit)
}

/** Maximum time between an observation and the record of its alert, also after an outage. */
const RECORDING_LAG_MS = DAY_MS

/** Result of a due reminder. */
export interface ReminderResult {
  readonly id: number
  readonly remindAt: Date | null
  readonly remindersSent: number
}

/** Writes the results of due reminders. */
export async function saveReminderResults(tx: Db, rows: readonly ReminderResult[]): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    update alerts a set remind_at = r."remindAt", reminders_sent = r."remindersSent"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "remindAt" timestamptz,
      "remindersSent" int)
    where a.id = r.id`)
}
