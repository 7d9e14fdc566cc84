/** Progress of observation by watch type and slice. */
import { asc, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { SLICES } from '#src/db/slices.ts'
import { observationCursors, sliceCursors } from './tables.ts'

/** Progress of a type in some of its slices. */
export type SliceCursor = Pick<
  typeof sliceCursors.$inferSelect,
  'type' | 'blockNumber' | 'blockAt'
> & {
  readonly slices: readonly number[]
}

/** Progress of every type in those of these slices that have been observed; slices with equal progress together. */
export async function listSliceCursors(
  db: Db,
  slices: readonly number[],
): Promise<readonly SliceCursor[]> {
  const { type, slice, blockNumber, blockAt } = sliceCursors
  return await db
    .select({
      type,
      blockNumber,
      blockAt,
      slices: sql<number[]>`array_agg(${slice} order by ${slice})`,
    })
    .from(sliceCursors)
    .where(sql`${slice} = any(${sql.param([...slices])}::smallint[])`)
    .groupBy(type, blockNumber, blockAt)
    .orderBy(sql`min(${slice})`)
}

/** New progress of a type in some slices. */
export interface ObservedSlices {
  readonly type: string
  readonly slices: readonly number[]
  readonly blockNumber: number
  readonly blockAt: Date
  readonly observedAt: Date
}

/**
 * Writes the progress of slices; each slice of a type once. Also updates the rows of the types: the block of a type is
 * the lowest block of its slices.
 */
export async function saveSliceCursors(tx: Db, seen: readonly ObservedSlices[]): Promise<void> {
  const types = [...new Set(seen.map(({ type }) => type))].toSorted()
  // Another process that writes its slices waits here, so that its row of the type includes the slices of this process.
  const known = await lockCursors(tx, types)
  if (known < types.length) {
    await tx
      .insert(observationCursors)
      .values(types.map((type) => ({ type })))
      .onConflictDoNothing()
    await lockCursors(tx, types)
  }
  // Sent without waiting for each other: a connection runs them in this order.
  await Promise.all([writeSlices(tx, seen), updateCursors(tx, types)])
}

async function writeSlices(tx: Db, seen: readonly ObservedSlices[]): Promise<void> {
  await tx.execute(sql`
    insert into slice_cursors (type, slice, block_number, block_at, observed_at)
    select r.type, s.slice, r."blockNumber", r."blockAt", r."observedAt"
    from json_to_recordset(${JSON.stringify(seen)}::json) as r(type text, slices smallint[],
        "blockNumber" int, "blockAt" timestamptz, "observedAt" timestamptz)
      cross join unnest(r.slices) as s(slice)
    on conflict (type, slice) do update set block_number = excluded.block_number,
      block_at = excluded.block_at, observed_at = excluded.observed_at`)
}

/** Locks the rows of types until the transaction ends. @returns how many there are */
async function lockCursors(tx: Db, types: readonly string[]): Promise<number> {
  const { type } = observationCursors
  const rows = await tx
    .select({ type })
    .from(observationCursors)
    .where(sql`${type} = any(${sql.param([...types])}::text[])`)
    .orderBy(asc(type))
    .for('update')
  return rows.length
}

/** Computes the rows of types from all of their slices. A row that stays as it is is not written. */
async function updateCursors(tx: Db, types: readonly string[]): Promise<void> {
  await tx.execute(sql`
    update observation_cursors c set block_number = n.block_number, block_at = n.block_at,
      observed_at = n.observed_at
    from (
      select o.type,
        greatest(o.block_number, s.block_number) as block_number,
        greatest(o.block_at, s.block_at) as block_at,
        greatest(o.observed_at, s.observed_at) as observed_at
      from observation_cursors o join (
        select type, min(block_number) as block_number, min(block_at) as block_at,
          min(observed_at) as observed_at
        from slice_cursors where type = any(${sql.param([...types])}::text[])
        group by type having count(block_number) = ${SLICES}
      ) s on s.type = o.type
    ) n
    where c.type = n.type
      and (c.block_number, c.block_at, c.observed_at) is distinct from
        (n.block_number, n.block_at, n.observed_at)`)
}
