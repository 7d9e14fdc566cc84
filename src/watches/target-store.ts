import { and, asc, eq, gt, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { observationCursors, targets } from './tables.ts'

/** A target as the observer needs it, with the encoded observation. */
export interface TargetRow {
  readonly id: number
  readonly key: string
  readonly target: unknown
  readonly keySettings: unknown
  readonly observation: unknown
  readonly summary: unknown
  readonly stale: boolean
  readonly recheckAt: Date | null
  readonly noDataSince: Date | null
}

const TARGET_ROW = {
  id: targets.id,
  key: targets.key,
  target: targets.target,
  keySettings: targets.keySettings,
  observation: targets.observation,
  summary: targets.summary,
  stale: targets.stale,
  recheckAt: targets.recheckAt,
  noDataSince: targets.noDataSince,
}

/**
 * Watched targets of a type, ordered by id; with `staleOnly` those that a watch joined since the last
 * observation.
 */
export function listTargets(
  db: Db,
  type: string,
  page: { readonly after: number; readonly limit: number; readonly staleOnly?: boolean },
): Promise<TargetRow[]> {
  return db
    .select(TARGET_ROW)
    .from(targets)
    .where(
      and(
        eq(targets.type, type),
        gt(targets.id, page.after),
        gt(targets.watchCount, 0),
        page.staleOnly ? eq(targets.stale, true) : undefined,
      ),
    )
    .orderBy(asc(targets.id))
    .limit(page.limit)
}

/** Watched targets of a type with one of these keys, ordered by id. */
export function listTargetsOf(db: Db, type: string, keys: readonly string[]): Promise<TargetRow[]> {
  return db
    .select(TARGET_ROW)
    .from(targets)
    .where(and(eq(targets.type, type), inArray(targets.key, [...keys]), gt(targets.watchCount, 0)))
    .orderBy(asc(targets.id))
}

/** Locks the target until the transaction ends and returns its current row. */
export async function lockTarget(db: Db, id: number): Promise<TargetRow | undefined> {
  const [row] = await db.select(TARGET_ROW).from(targets).where(eq(targets.id, id)).for('update')
  return row
}

/** Writes the last observation and the summary of its watches, after they have been judged. */
export async function saveObservation(
  db: Db,
  id: number,
  seen: {
    readonly observation: unknown
    readonly observedAt: Date
    readonly summary?: unknown
    readonly recheckAt?: Date | null
  },
): Promise<void> {
  await db
    .update(targets)
    .set({ summary: null, recheckAt: null, ...seen, stale: false, noDataSince: null })
    .where(eq(targets.id, id))
}

/** Those of the targets with a running watch whose deferred alert has its cooldown over by `now`. */
export async function listCooled(
  db: Db,
  targetIds: readonly number[],
  now: Date,
): Promise<readonly number[]> {
  if (targetIds.length === 0) return []
  const rows = await db.execute<{ id: number }>(sql`
    select distinct w.target_id as id
    from watches w join signal_states s on s.watch_id = w.id
    where w.target_id = any(${sql.param([...targetIds])}::int[])
      and w.status = 'active' and w.suspended_at is null
      and s.phase = 'pending'
      and s.last_fired_at + w.cooldown_seconds * interval '1 second' <= ${now}`)
  return rows.map(({ id }) => id)
}

/** Records that the chain answers for these targets again, without new data. */
export async function markData(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .update(targets)
    .set({ noDataSince: null })
    .where(sql`${targets.id} = any(${sql.param([...ids])}::int[])`)
}

/** Records that the chain gave no answer for these targets. */
export async function markNoData(db: Db, ids: readonly number[], since: Date): Promise<void> {
  if (ids.length === 0) return
  await db
    .update(targets)
    .set({
      noDataSince: sql`coalesce(${targets.noDataSince}, ${since.toISOString()}::timestamptz)`,
    })
    .where(sql`${targets.id} = any(${sql.param([...ids])}::int[])`)
}

/**
 * Deletes targets without watches.
 *
 * @returns their number, at most `limit`
 */
export async function deleteUnwatched(db: Db, limit: number): Promise<number> {
  // A watch that joins meanwhile locks the row and raises its count, so that the target is not deleted.
  const gone = await db.execute(sql`
    delete from targets where watch_count = 0 and id in (
      select t.id from targets t
      where t.watch_count = 0 and not exists (select from watches w where w.target_id = t.id)
      limit ${limit} for update skip locked
    ) returning id`)
  return gone.length
}

export type Cursor = typeof observationCursors.$inferSelect

/** Name of the cursor of the chain's tip. */
export const TIP = 'chain'

/** Progress of a type; undefined before its first observation. */
export async function findCursor(db: Db, type: string): Promise<Cursor | undefined> {
  const [row] = await db.select().from(observationCursors).where(eq(observationCursors.type, type))
  return row
}

/** Progress of every type, and of the tip. */
export async function listCursors(db: Db): Promise<readonly Cursor[]> {
  return db.select().from(observationCursors)
}

/** Writes the progress of a type; omitted values stay. The block never goes back. */
export async function saveCursor(
  db: Db,
  cursor: typeof observationCursors.$inferInsert,
): Promise<void> {
  const { blockNumber } = observationCursors
  const isForward =
    cursor.blockNumber == null
      ? sql`true`
      : or(isNull(blockNumber), lte(blockNumber, cursor.blockNumber))
  await db
    .insert(observationCursors)
    .values(cursor)
    .onConflictDoUpdate({
      target: observationCursors.type,
      set: cursor,
      ...(isForward && { setWhere: isForward }),
    })
}

/** Identities of the providers that are watched in every round. */
export async function listWatchedProviders(db: Db): Promise<Address[]> {
  const rows = await db
    .select({ provider: sql<Address>`${targets.target} ->> 'provider'` })
    .from(targets)
    .where(and(eq(targets.type, 'provider-fsp'), gt(targets.watchCount, 0)))
  return rows.map(({ provider }) => provider)
}
