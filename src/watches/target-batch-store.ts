/** Statements that lock or write several targets at once. */
import { asc, sql } from 'drizzle-orm'
import { joinedJson } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { targets } from './tables.ts'
import { TARGET_COLUMNS, type TargetRow } from './target-store.ts'

/**
 * Locks those of the targets that no other transaction has locked, until the transaction ends, and returns their
 * current rows. It waits for no lock, so it can be part of no deadlock.
 */
export async function lockFreeTargets(db: Db, ids: readonly number[]): Promise<TargetRow[]> {
  return db
    .select(TARGET_COLUMNS)
    .from(targets)
    .where(sql`${targets.id} = any(${sql.param([...ids])}::int[])`)
    .orderBy(asc(targets.id))
    .for('update', { skipLocked: true })
}

/** A target's last observation and the summary of its watches, encoded. */
export interface ObservedTarget {
  readonly id: number
  readonly observation: unknown
  readonly observedAt: Date
  readonly summary: unknown
  readonly recheckAt: Date | null
}

/** `saveObservation` for several targets. */
export async function saveObservations(db: Db, seen: readonly ObservedTarget[]): Promise<void> {
  if (seen.length === 0) return
  const column = <T>(read: (target: ObservedTarget) => T) => sql.param(seen.map(read))
  await db.execute(sql`
    update targets t set observation = r.observation, observed_at = r.observed_at,
      summary = nullif(r.summary, 'null'), recheck_at = r.recheck_at, must_judge = false, no_data_since = null
    from unnest(
      ${column(({ id }) => id)}::int[],
      string_to_array(${joinedJson(seen.map(({ observation }) => observation))}, e'\\x1f')::jsonb[],
      ${column(({ observedAt }) => observedAt)}::timestamptz[],
      string_to_array(${joinedJson(seen.map(({ summary }) => summary))}, e'\\x1f')::jsonb[],
      ${column(({ recheckAt }) => recheckAt)}::timestamptz[]
    ) as r(id, observation, observed_at, summary, recheck_at)
    where t.id = r.id`)
}
