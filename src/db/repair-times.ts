import { getTableColumns, getTableName, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Db } from './connection.ts'
import { countChanged, stamp } from './later-times.ts'
import type { ColumnKey } from './queue.ts'

/** Stored times further ahead than they may be, plus this, were written before the clock was set back. */
const AHEAD_MS_MAX = 120_000

/** Times of a table that the service wrote by its clock, and how they are repaired. */
export interface StoredTimes {
  readonly table: PgTable
  /** The columns that are repaired. */
  readonly columns: readonly PgColumn[]
  /** Changes or deletes the rows, named `d`, of which a time is too far ahead of `now`, and only those. */
  repair(now: Date): SQL
}

/** Condition on a row `d` by which an index finds the rows that may be ahead; `latest`: the latest time of the past. */
type Found = (latest: Date) => SQL

/**
 * Times that may be at most so far ahead: 0 for what has happened, the longest wait for what is due, the longest lease for
 * the end of one. Those further ahead are set to now, so that what waits is due and what is leased is free.
 *
 * @param aheadMs by property: milliseconds
 */
export function timesWithin<Table extends PgTable>(
  table: Table,
  aheadMs: { readonly [Key in ColumnKey<Table>]?: number },
  found?: Found,
): StoredTimes {
  const limits = Object.entries<number | undefined>(aheadMs).map(
    ([key, ms = 0]) => [columnOf(table, key), ms] as const,
  )
  return {
    table,
    columns: limits.map(([column]) => column),
    repair(now) {
      const times = limits.map(([column, ms]) => {
        const isAhead = sql`${inRow(column)} > ${latest(now, ms)}`
        const set = sql`${nameOf(column)} = case when ${isAhead} then ${stamp(now)} else ${inRow(column)} end`
        return { isAhead, set }
      })
      const set = times.map((time) => time.set)
      const isAhead = times.map((time) => time.isAhead)
      return sql`update ${table} d set ${sql.join(set, sql`, `)}
        where (${sql.join(isAhead, sql` or `)})${and(found, now)}`
    },
  }
}

/**
 * Times of rows that were written while the clock was ahead: all of them that are still to come are moved by the distance
 * of the time of writing, as if the row had been written now.
 *
 * @param writtenAt the time of writing
 */
export function timesSince<Table extends PgTable>(
  table: Table,
  writtenAt: ColumnKey<Table>,
  moved: readonly ColumnKey<Table>[],
  found?: Found,
): StoredTimes {
  const written = columnOf(table, writtenAt)
  const others = moved.map((key) => columnOf(table, key))
  return {
    table,
    columns: [written, ...others],
    repair(now) {
      const set = [written, ...others].map(
        (column) => sql`${nameOf(column)} = case when ${inRow(column)} > ${stamp(now)}
          then ${inRow(column)} - (${inRow(written)} - ${stamp(now)}) else ${inRow(column)} end`,
      )
      return sql`update ${table} d set ${sql.join(set, sql`, `)}
        where ${inRow(written)} > ${latest(now, 0)}${and(found, now)}`
    },
  }
}

/** Rows that are deleted if their time is further ahead than this, because they are counted again. */
export function rowsWithin<Table extends PgTable>(
  table: Table,
  key: ColumnKey<Table>,
  aheadMs: number,
): StoredTimes {
  const column = columnOf(table, key)
  return {
    table,
    columns: [column],
    repair: (now) => sql`delete from ${table} d where ${inRow(column)} > ${latest(now, aheadMs)}`,
  }
}

/**
 * Repairs stored times that are further ahead of the clock than they may be, at the start of a process: they were written
 * while the clock of the database was ahead, or are those of a backup of such a database.
 */
export async function repairTimes(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  stored: readonly StoredTimes[],
): Promise<void> {
  for (const { table, columns, repair } of stored) {
    const rows = await countChanged(db, repair(clock.now()))
    if (rows === 0) continue
    const fields = { table: getTableName(table), columns: columns.map(({ name }) => name), rows }
    log.warn(fields, 'stored times were ahead of the clock and are repaired')
  }
}

function columnOf(table: PgTable, key: string): PgColumn {
  const columns: Record<string, PgColumn> = getTableColumns(table)
  const column = columns[key]
  if (column === undefined) throw new Error(`a list of times names an unknown column: ${key}`)
  return column
}

function latest(now: Date, aheadMs: number): SQL {
  return stamp(new Date(now.getTime() + aheadMs + AHEAD_MS_MAX))
}

function and(found: Found | undefined, now: Date): SQL {
  return found === undefined ? sql`` : sql` and ${found(new Date(now.getTime() + AHEAD_MS_MAX))}`
}

function nameOf(column: PgColumn): SQL {
  return sql`${sql.identifier(column.name)}`
}

function inRow(column: PgColumn): SQL {
  return sql`d.${nameOf(column)}`
}
