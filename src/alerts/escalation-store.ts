/** Storage of escalations: alerts that are sent to further recipients unless a person acknowledges them. */
import { and, asc, isNotNull, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { AlertRow } from './store.ts'
import { alerts } from './tables.ts'

/** Alerts with a due escalation, the longest due first. */
export async function listDue(db: Db, now: Date, limit: number): Promise<readonly number[]> {
  const rows = await db
    .select({ id: alerts.id })
    .from(alerts)
    .where(isDue(now))
    .orderBy(asc(alerts.escalateAt), asc(alerts.id))
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** Locks the due ones of these alerts; those locked elsewhere are left for the next run. */
export function lockDue(tx: Db, ids: readonly number[], now: Date): Promise<AlertRow[]> {
  return tx
    .select()
    .from(alerts)
    .where(and(isDue(now), isOneOf(ids)))
    .orderBy(asc(alerts.escalateAt), asc(alerts.id))
    .for('update', { skipLocked: true })
}

/** Schedules the escalations of alerts that were not escalated yet. */
export async function schedule(
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

/** Records that alerts were escalated. */
export async function markEscalated(tx: Db, ids: readonly number[], at: Date): Promise<void> {
  if (ids.length === 0) return
  await tx.update(alerts).set({ escalateAt: null, escalatedAt: at }).where(isOneOf(ids))
}

function isDue(now: Date) {
  return and(isNotNull(alerts.escalateAt), lte(alerts.escalateAt, now))
}

function isOneOf(ids: readonly number[]) {
  return sql`${alerts.id} = any(${sql.param([...ids])}::int[])`
}
