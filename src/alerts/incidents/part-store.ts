/** The stored parts of incidents: alerts and recoveries. */
import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { AlertRow } from '../store.ts'
import { alerts } from '../tables.ts'

/**
 * Parts of these incidents of a wallet, newest first, of each the newest `max`.
 */
export async function listIncidentParts(
  db: Db,
  wallet: string,
  incidentIds: readonly number[],
  max: number,
): Promise<readonly AlertRow[]> {
  if (incidentIds.length === 0) return []
  return await db
    .select()
    .from(alerts)
    .where(
      and(
        eq(alerts.wallet, wallet),
        sql`${alerts.id} = any(array(
          select part.id from unnest(${sql.param([...incidentIds])}::int[]) as i(id)
          cross join lateral (
            select a.id from alerts a where a.wallet = ${wallet} and a.incident_id = i.id
            order by a.fired_at desc, a.id desc limit ${max}
          ) part))`,
      ),
    )
    .orderBy(desc(alerts.firedAt), desc(alerts.id))
}
