import { and, asc, eq, gt, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { observationCursors, targets } from './tables.ts'

/** A target as the observer needs it; observation still encoded. */
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

/** Watched targets of a type, by id; with `staleOnly` those a watch joined since the last look. */
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

/** Watched targets of a type with one of these keys, by id. */
export function listTargetsOf(db: Db, type: string, keys: readonly string[]): Promise<TargetRow[]> {
  return db
    .select(TARGET_ROW)
    .from(targets)
    .where(and(eq(targets.type, type), inArray(targets.key, [...keys]), gt(targets.watchCount, 0)))
    .orderBy(asc(targets.id))
}

/** Locks the target until the transaction ends and gives it as it is then. */
export async function lockTarget(db: Db, id: number): Promise<TargetRow | undefined> {
  const [found] = await db.select(TARGET_ROW).from(targets).where(eq(targets.id, id)).for('update')
  return found
}

/** Writes what was seen last and the sum of its watches; they have been judged by it. */
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

/** Which of these targets have a judged watch that holds an alert back whose cooldown is over by then. */
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

/** Notes that the chain has answers for these targets again, though nothing new. */
export async function markData(db: Db, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .update(targets)
    .set({ noDataSince: null })
    .where(sql`${targets.id} = any(${sql.param([...ids])}::int[])`)
}

/** Notes that the chain had no answer for these targets. */
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
 * Deletes targets that no watch looks at.
 *
 * @returns how many, at most `limit`
 */
export async function deleteUnwatched(db: Db, limit: number): Promise<number> {
  // A watch that joins meanwhile holds the row, so that it is no longer without one when its turn comes.
  const gone = await db.execute(sql`
    delete from targets where watch_count = 0 and id in (
      select t.id from targets t
      where t.watch_count = 0 and not exists (select from watches w where w.target_id = t.id)
      limit ${limit} for update skip locked
    ) returning id`)
  return gone.length
}

export type Cursor = typeof observationCursors.$inferSelect

/** The cursor of the chain's own tip. */
export const TIP = 'chain'

/** How far a type has been observed; undefined before its first look. */
export async function findCursor(db: Db, type: string): Promise<Cursor | undefined> {
  const [found] = await db
    .select()
    .from(observationCursors)
    .where(eq(observationCursors.type, type))
  return found
}

/** Writes how far a type has been observed; what is not named stays. A block never goes backwards. */
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

/** Identities of the providers that somebody watches in every round. */
export async function listWatchedProviders(db: Db): Promise<Address[]> {
  const rows = await db
    .select({ provider: sql<Address>`${targets.target} ->> 'provider'` })
    .from(targets)
    .where(and(eq(targets.type, 'provider-fsp'), gt(targets.watchCount, 0)))
  return rows.map(({ provider }) => provider)
}
