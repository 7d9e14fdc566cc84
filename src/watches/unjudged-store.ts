/**
 * Watches that cannot be judged because of themselves, such as one whose settings cannot be read. While that is so, their
 * state of the outage has the phase `unknown`, whether or not their owners were notified.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { isJudged } from './state-store.ts'
import { OUTAGE_STATE_KEY } from './store.ts'
import { watches } from './tables.ts'

/** Records that these watches could not be judged at an instant; an earlier instant stays. */
export async function mark(db: Db, watchIds: readonly number[], since: Date): Promise<void> {
  if (watchIds.length > 0)
    await markWhere(db, sql`${watches.id} = any(${sql.param([...watchIds])}::int[])`, since)
}

/** Records that no running watch of a target could be judged at an instant; an earlier instant stays. */
export async function markWatchesOf(db: Db, targetId: number, since: Date): Promise<void> {
  await markWhere(db, sql`${watches.targetId} = ${targetId} and ${isJudged()}`, since)
}

async function markWhere(db: Db, condition: SQL, since: Date): Promise<void> {
  await db.execute(sql`
    insert into signal_states (watch_id, signal, state, phase, since, last_evidence_at, changes)
    select ${watches.id}, ${OUTAGE_STATE_KEY}, '{}', 'unknown', ${since}, ${since}, '{}' from ${watches} where ${condition}
    on conflict (watch_id, signal) do update set phase = excluded.phase`)
}

/** Records that these watches were judged again. */
export async function unmark(db: Db, watchIds: readonly number[]): Promise<void> {
  if (watchIds.length === 0) return
  await db.execute(sql`
    update signal_states set phase = 'ok'
    where signal = ${OUTAGE_STATE_KEY} and phase = 'unknown' and watch_id = any(${sql.param([...watchIds])}::int[])`)
}
