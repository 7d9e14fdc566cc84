import { lt, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { deleteBatch } from '#src/db/delete-batch.ts'
import { rateCounts } from '../tables.ts'

/** A count of the requests of one key. The column of `requests` is called `points`. */
export interface StoredCount {
  readonly key: string
  readonly requests: number
  /** End of the count; the next request starts a new one. */
  readonly expire: Date
}

/**
 * Adds requests to counts in one statement; counts that have ended start again. Counts are locked in the
 * order of their keys, which prevents deadlocks.
 *
 * @param added requests by key, each key once; `expire` is the end of the counts that start now
 * @returns the new counts by key
 */
export async function addRequestCounts(
  db: Db,
  added: readonly StoredCount[],
  now: Date,
): Promise<ReadonlyMap<string, StoredCount>> {
  const isOver = sql`(counted.expire <= ${now}::timestamptz)`
  const rows = await db.execute<StoredCount & Record<string, unknown>>(sql`
    insert into rate_counts as counted (key, points, expire)
    select key, points, expire from unnest(
      ${sql.param(added.map(({ key }) => key))}::text[],
      ${sql.param(added.map(({ requests }) => requests))}::int[],
      ${sql.param(added.map(({ expire }) => expire))}::timestamptz[]) as added (key, points, expire)
    order by key
    on conflict (key) do update set
      points = excluded.points + case when ${isOver} then 0 else counted.points end,
      expire = case when ${isOver} then excluded.expire else counted.expire end
    returning key, points as requests, expire`)
  return new Map(rows.map((row) => [row.key, row]))
}

/**
 * Subtracts requests from counts, which do not fall below zero, in one statement. Locks counts in the order of their keys,
 * as `addRequestCounts` does.
 *
 * @param taken requests to subtract by key, each key once
 * @returns the new counts by key, without those that have ended
 */
export async function subtractRequestCounts(
  db: Db,
  taken: readonly Pick<StoredCount, 'key' | 'requests'>[],
  now: Date,
): Promise<ReadonlyMap<string, StoredCount>> {
  const rows = await db.execute<StoredCount & Record<string, unknown>>(sql`
    with taken as (
      select * from unnest(
        ${sql.param(taken.map(({ key }) => key))}::text[],
        ${sql.param(taken.map(({ requests }) => requests))}::int[]) as taken (key, points)
    ), held as materialized (
      select key from rate_counts where key = any(array(select key from taken))
      order by key for update
    )
    update rate_counts as counted set points = greatest(0, counted.points - taken.points)
    from held join taken using (key)
    where counted.key = held.key and counted.expire > ${now}::timestamptz
    returning counted.key, counted.points as requests, counted.expire`)
  return new Map(rows.map((row) => [row.key, row]))
}

/**
 * Deletes at most `limit` counts that ended before a time.
 *
 * @returns the number of deleted counts
 */
export function deleteCounts(db: Db, before: Date, limit: number): Promise<number> {
  return deleteBatch(db, rateCounts, { id: ['key'], where: lt(rateCounts.expire, before), limit })
}
