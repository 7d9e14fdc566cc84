import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Db } from './connection.ts'

/** What stored positions are compared with. */
export interface Present {
  /** Time by the clock. */
  readonly now: Date
  /** The latest time that a position may have: the clock's with a tolerance. */
  readonly latest: Date
  /** The newest confirmed block. */
  readonly head: { readonly number: number; readonly hash: string; readonly at: Date }
  /** The highest block number that a position may have. */
  readonly highest: number
}

/** Rows of a room that may be ahead of the present, and how they are put back. */
export interface LaterRows {
  readonly table: string
  /** Changes or deletes the rows that are ahead, and only those. */
  putBack(present: Present): SQL
}

/** Sets times that are ahead to the present. */
export function timesOf(name: string, table: PgTable, columns: readonly PgColumn[]): LaterRows {
  return {
    table: name,
    putBack: ({ now, latest }) => {
      const set = columns.map((column) => sql`${nameOf(column)} = least(${column}, ${stamp(now)})`)
      return sql`update ${table} set ${sql.join(set, sql`, `)} where ${isLater(columns, latest)}`
    },
  }
}

/** Deletes rows whose time is ahead. */
export function rowsOf(name: string, table: PgTable, column: PgColumn): LaterRows {
  return {
    table: name,
    putBack: ({ latest }) => sql`delete from ${table} where ${isLater([column], latest)}`,
  }
}

/** Whether one of these times is ahead. */
export function isLater(columns: readonly PgColumn[], latest: Date): SQL {
  return sql.join(
    columns.map((column) => sql`${column} > ${stamp(latest)}`),
    sql` or `,
  )
}

/** A time in SQL. */
export function stamp(at: Date): SQL {
  return sql`${at.toISOString()}::timestamptz`
}

/** Name of a column, as the target of an assignment. */
function nameOf(column: PgColumn): SQL {
  return sql`${sql.identifier(column.name)}`
}

/** What was put back: the number of changed or deleted rows of a table. */
export interface PutBack {
  readonly table: string
  readonly rows: number
}

/** Puts the rows back that are ahead. @returns the tables that had such rows */
export async function putBackRows(
  db: Db,
  all: readonly LaterRows[],
  present: Present,
): Promise<readonly PutBack[]> {
  // Sent without waiting for each other: a connection runs them in this order.
  const changed = all.map(async ({ table, putBack }) => {
    return { table, rows: await countChanged(db, putBack(present)) }
  })
  return (await Promise.all(changed)).filter(({ rows }) => rows > 0)
}

/** Runs a statement that changes or deletes rows, or that returns one row for each. @returns their number */
export async function countChanged(db: Db, statement: SQL): Promise<number> {
  const { count } = await db.execute(statement)
  return count
}
