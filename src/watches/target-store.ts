import { and, asc, eq, gt, isNull, lte, or, sql } from 'drizzle-orm'
import type { BlockRef } from '#src/chain/chain.ts'
import { joinedJson, valueArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import { deleteBatch } from '#src/db/delete-batch.ts'
import { type Address, Hash } from '#src/kernel/units.ts'
import { observationCursors, publishedBlocks, sliceOfKey, TIP_CURSOR, targets } from './tables.ts'

/** The columns of a target that observation needs; the observation is encoded. */
export interface TargetRow {
  readonly id: number
  readonly slice: number
  readonly key: string
  readonly target: unknown
  readonly keySettings: unknown
  readonly observation: unknown
  readonly summary: unknown
  /** Whether its watches must be judged even without a change. */
  readonly mustJudge: boolean
  readonly recheckAt: Date | null
  readonly noDataSince: Date | null
  readonly watchCount: number
}

const TARGET_COLUMNS = {
  id: targets.id,
  slice: sql<number>`${sliceOfKey}`,
  key: targets.key,
  target: targets.target,
  keySettings: targets.keySettings,
  observation: targets.observation,
  summary: targets.summary,
  mustJudge: targets.mustJudge,
  recheckAt: targets.recheckAt,
  noDataSince: targets.noDataSince,
  watchCount: targets.watchCount,
}

const columns = sql`
  id, ${sliceOfKey} as slice, key, target, key_settings as "keySettings", observation, summary, must_judge as "mustJudge",
  recheck_at as "recheckAt", no_data_since as "noDataSince", watch_count as "watchCount"`

/** Last target of a slice that was read; 0 before the first. */
export interface SlicePage {
  readonly slice: number
  readonly after: number
}

/** The next watched targets of a type in these slices, at most `limit` of each slice. */
export async function listTargets(
  db: Db,
  type: string,
  pages: readonly SlicePage[],
  limit: number,
): Promise<TargetRow[]> {
  const rows = await db.execute<TargetRow & Record<string, unknown>>(sql`
    select t.* from jsonb_to_recordset(${JSON.stringify(pages)}::jsonb)
        as page(slice smallint, after int)
      cross join lateral (
        select ${columns} from targets
        where type = ${type} and ${sliceOfKey} = page.slice and id > page.after and watch_count > 0
        order by id limit ${limit}
      ) t`)
  return [...rows]
}

/**
 * Watched targets of a type in these slices whose watches must be judged even without a change, because one joined or
 * changed since the last observation. Ordered by id.
 */
export function listTargetsToJudge(
  db: Db,
  type: string,
  slices: readonly number[],
  page: { readonly after: number; readonly limit: number },
): Promise<TargetRow[]> {
  return db
    .select(TARGET_COLUMNS)
    .from(targets)
    .where(
      and(
        eq(targets.type, type),
        eq(targets.mustJudge, true),
        isIn(slices),
        gt(targets.id, page.after),
        gt(targets.watchCount, 0),
      ),
    )
    .orderBy(asc(targets.id))
    .limit(page.limit)
}

function isIn(slices: readonly number[]) {
  return sql`${sliceOfKey} = any(${sql.param([...slices])}::int[])`
}

/** Watched targets of a type in these slices with one of these keys, ordered by id. */
export function listTargetsOf(
  db: Db,
  type: string,
  slices: readonly number[],
  keys: readonly string[],
): Promise<TargetRow[]> {
  const isNamed = sql`${targets.key} = any(${valueArray(keys, 'text')})`
  return db
    .select(TARGET_COLUMNS)
    .from(targets)
    .where(and(eq(targets.type, type), isNamed, isIn(slices), gt(targets.watchCount, 0)))
    .orderBy(asc(targets.id))
}

/**
 * Locks targets until the transaction ends and returns their current rows. Of several it leaves out those that another
 * transaction has locked, so that it can be part of no deadlock; it waits for a single one.
 */
export async function lockTargets(db: Db, ids: readonly number[]): Promise<TargetRow[]> {
  return db
    .select(TARGET_COLUMNS)
    .from(targets)
    .where(sql`${targets.id} = any(${sql.param([...ids])}::int[])`)
    .orderBy(asc(targets.id))
    .for('update', ids.length > 1 ? { skipLocked: true } : {})
}

/** A target's last observation and the summary of its watches, encoded. */
export interface ObservedTarget {
  readonly id: number
  readonly observation: unknown
  readonly observedAt: Date
  readonly summary: unknown
  /** Time at which its watches must be judged even without a change; null if there is none. */
  readonly recheckAt: Date | null
}

/** Writes the last observations of targets, after their watches were judged. */
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

/** Records that the chain answers for these targets again, without new data. */
export async function clearNoData(db: Db, ids: readonly number[]): Promise<void> {
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
export function deleteUnwatchedTargets(db: Db, limit: number): Promise<number> {
  // A watch that joins meanwhile locks the row and raises its count, so that the target is not deleted.
  const where = sql`${targets.watchCount} = 0
    and not exists (select from watches w where w.target_id = ${targets.id})`
  return deleteBatch(db, targets, { id: ['id'], where, limit })
}

export type ObservationCursor = typeof observationCursors.$inferSelect

/** Channel that is notified when a newer block was published. */
const BLOCKS_CHANNEL = 'blocks'

/** Progress of a type; undefined before its first observation. */
export async function findObservationCursor(
  db: Db,
  type: string,
): Promise<ObservationCursor | undefined> {
  const [row] = await db.select().from(observationCursors).where(eq(observationCursors.type, type))
  return row
}

/** Progress of every type, and of the tip of the chain. */
export async function listObservationCursors(db: Db): Promise<readonly ObservationCursor[]> {
  return db.select().from(observationCursors)
}

/** Writes the progress of a type; omitted values stay. The block never goes back. */
export async function saveObservationCursor(
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

/**
 * Publishes the newest confirmed block for all observers, and wakes them; an older block changes nothing.
 */
export async function publishBlock(tx: Db, { number, hash, at }: BlockRef): Promise<void> {
  const block = { blockNumber: number, blockHash: hash, blockAt: at }
  const published = await tx
    .insert(publishedBlocks)
    .values({ name: TIP_CURSOR, ...block })
    .onConflictDoUpdate({
      target: publishedBlocks.name,
      set: block,
      setWhere: sql`(${publishedBlocks.blockNumber}, ${publishedBlocks.blockHash}) <> (${number}, ${hash})
        and ${publishedBlocks.blockNumber} <= ${number}`,
    })
    .returning({ name: publishedBlocks.name })
  if (published.length > 0) await tx.execute(sql`select pg_notify(${BLOCKS_CHANNEL}, '')`)
}

/** The newest published block; undefined before the first is published. */
export async function findPublishedBlock(db: Db): Promise<BlockRef | undefined> {
  const [row] = await db.select().from(publishedBlocks).where(eq(publishedBlocks.name, TIP_CURSOR))
  return row && { number: row.blockNumber, hash: Hash.parse(row.blockHash), at: row.blockAt }
}

/** Identity addresses of the providers that watches of type `provider-fsp` are about. */
export async function listWatchedProviders(db: Db): Promise<Address[]> {
  const rows = await db
    .select({ provider: sql<Address>`${targets.target} ->> 'provider'` })
    .from(targets)
    .where(and(eq(targets.type, 'provider-fsp'), gt(targets.watchCount, 0)))
  return rows.map(({ provider }) => provider)
}
