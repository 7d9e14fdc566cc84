import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Db } from './connection.ts'

/**
 * Deletes rows that are no longer needed, at most `limit`, so that a transaction stays short. Rows that
 * another transaction locks are left for the next run.
 *
 * @param id properties of the primary key
 * @param where condition on the rows, in terms of the table's columns
 * @returns the number of deleted rows
 */
export async function deleteBatch<Table extends PgTable>(
  db: Db,
  table: Table,
  {
    id,
    where,
    limit,
  }: {
    readonly id: readonly (keyof Table['_']['columns'] & string)[]
    readonly where: SQL
    readonly limit: number
  },
): Promise<number> {
  const columns: Record<string, PgColumn> = getTableColumns(table)
  const ids = sql.join(
    id.map((key) => sql`${columns[key]}`),
    sql`, `,
  )
  // A materialized CTE is computed once. A subquery with a limit may be computed again, and then locks other rows.
  const deleted = await db.execute(sql`
    delete from ${table} where (${ids}) in (
      with batch as materialized (
        select ${ids} from ${table} where ${where} limit ${limit} for update skip locked)
      select * from batch
    ) returning 1`)
  return deleted.length
}
