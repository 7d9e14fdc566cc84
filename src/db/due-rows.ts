import { and, isNotNull, lte, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Db } from './connection.ts'
import { type ColumnKey, columnsOf, type Row } from './queue.ts'

/**
 * Rows that are due by a column. One transaction works on them and locks them, so that no lease remains
 * when the process dies.
 */
export interface DueRows<Table extends PgTable, Id extends ColumnKey<Table>> {
  readonly table: Table
  /** Properties that name a row. */
  readonly id: readonly Id[]
  /** Due time of a row; null if it is not due. */
  readonly dueAt: ColumnKey<Table>
  /** Condition that due rows must fulfil. */
  readonly where?: SQL
}

/** Ids of the rows that are due, the longest due first. */
export async function listDueIds<Table extends PgTable, Id extends ColumnKey<Table>>(
  db: Db,
  due: DueRows<Table, Id>,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<Pick<Row<Table>, Id>[]> {
  const column = columnsOf(due)
  const rows = await db
    .select(Object.fromEntries(due.id.map((key) => [key, column(key)])))
    .from(due.table as PgTable)
    .where(isDue(due, now))
    .orderBy(column(due.dueAt), ...due.id.map(column))
    .limit(limit)
  // Safe: these columns were selected.
  return rows as Pick<Row<Table>, Id>[]
}

/**
 * Reads those of the given rows that are due, the longest due first, and locks them until the transaction
 * ends. Rows that another transaction has locked are left for the next run.
 */
export async function lockIfDue<Table extends PgTable, Id extends ColumnKey<Table>>(
  tx: Db,
  due: DueRows<Table, Id>,
  { now, among }: { readonly now: Date; readonly among: readonly Pick<Row<Table>, Id>[] },
): Promise<Row<Table>[]> {
  const column = columnsOf(due)
  const values = due.id.map(
    (key) =>
      sql`${sql.param(among.map((row) => row[key]))}::${sql.raw(valueTypeOf(column(key)))}[]`,
  )
  const ids = sql.join(due.id.map(column), sql`, `)
  const isAmong =
    due.id.length === 1
      ? sql`${ids} = any(${sql.join(values)})`
      : sql`(${ids}) in (select * from unnest(${sql.join(values, sql`, `)}))`
  const rows = await tx
    .select()
    .from(due.table as PgTable)
    .where(and(isDue(due, now), isAmong))
    .orderBy(column(due.dueAt), ...due.id.map(column))
    .for('update', { skipLocked: true })
  // Safe: without a selection of columns, rows of the table are returned.
  return rows as Row<Table>[]
}

/** Type of the values of a column. A column of type `serial` has values of type `int`. */
function valueTypeOf(column: PgColumn): string {
  return column.getSQLType().replace('serial', 'int')
}

function isDue<Table extends PgTable, Id extends ColumnKey<Table>>(
  due: DueRows<Table, Id>,
  now: Date,
): SQL | undefined {
  const dueAt = columnsOf(due)(due.dueAt)
  return and(isNotNull(dueAt), lte(dueAt, now), due.where)
}
