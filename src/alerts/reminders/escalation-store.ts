/** Storage of escalations: alerts that are sent to further recipients unless a person acknowledges them. */
import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { alerts } from '../tables.ts'

/** Alerts with a due escalation. */
export const DUE_ESCALATIONS = { table: alerts, id: ['id'], dueAt: 'escalateAt' } as const

/** Schedules the escalations of alerts that were not escalated yet. */
export async function scheduleEscalations(
  tx: Db,
  rows: readonly { readonly id: number; readonly escalateAt: Date }[],
): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    update alerts a set escalate_at = r."escalateAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "escalateAt" timestamptz)
    where a.id = r.id and a.escalated_at is null and a.recovered_at is null`)
}

/** Ends the escalations of alerts. */
export async function endEscalations(tx: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await tx.update(alerts).set({ escalateAt: null }).where(isOneOf(ids))
}

/** Records that alerts were escalated at a time to these recipients. */
export async function markEscalated(
  tx: Db,
  rows: readonly { readonly id: number; readonly escalatedTo: readonly number[] }[],
  at: Date,
): Promise<void> {
  if (rows.length === 0) return
  await tx.execute(sql`
    update alerts a set escalate_at = null, escalated_at = ${at}::timestamptz, escalated_to = r."escalatedTo"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "escalatedTo" int[])
    where a.id = r.id`)
}

function isOneOf(ids: readonly number[]) {
  return sql`${alerts.id} = any(${sql.param([...ids])}::int[])`
}
