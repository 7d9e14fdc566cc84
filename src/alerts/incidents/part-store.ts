/** The stored parts of incidents: alerts and recoveries. */
import { and, desc, eq, sql } from 'drizzle-orm'
import type { IncidentState } from '#src/channels/define.ts'
import { ANY_LENGTH } from '#src/db/arrays.ts'
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

/**
 * State of an incident now. Alerts that nothing ends count where there are no others. An incident without alerts is over:
 * they were deleted.
 */
export async function incidentStateOf(
  db: Db,
  { wallet, incidentId }: { readonly wallet: string; readonly incidentId: number },
): Promise<IncidentState> {
  const [row] = await db.execute<{ isOver: boolean | null; isTaken: boolean | null }>(sql`
    select bool_and(not p.is_open) as "isOver",
      bool_and(p.is_taken) filter (where p.is_open) as "isTaken"
    from (
      select a.recovered_at is null as is_open, a.acknowledged_at is not null as is_taken,
        a.is_episode, bool_or(a.is_episode) over () as has_episodes
      from alerts a where a.wallet = ${wallet} and a.incident_id = ${incidentId}
    ) p
    where p.is_episode or not p.has_episodes`)
  return { isOver: row?.isOver ?? true, isTaken: row?.isTaken ?? false }
}

/** An alert with its incident. */
interface Part {
  readonly id: number
  readonly wallet: string
  readonly incidentId: number
}

/** Ids of all alerts and recoveries of the incidents of these alerts. */
export async function listIdsOfIncidents(db: Db, of: readonly Part[]): Promise<readonly number[]> {
  if (of.length === 0) return []
  const each = [...new Map(of.map((part) => [`${part.wallet} ${part.incidentId}`, part])).values()]
  const rows = await db.execute<{ id: number }>(sql`
    select a.id from rows from (unnest(
      ${sql.param(each.map(({ wallet }) => wallet))}::text[],
      ${sql.param(each.map(({ incidentId }) => incidentId))}::int[]
    ), ${ANY_LENGTH}) as i(wallet, incident_id, nothing)
    join alerts a on a.wallet = i.wallet and a.incident_id = i.incident_id`)
  return rows.map(({ id }) => id)
}
