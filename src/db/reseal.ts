import { sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Db } from './connection.ts'

/** Number of rows that one statement reads or writes. */
const BATCH = 500

/** One sealed column of a table. */
export interface SealedColumn {
  /** Purpose for which the column's texts are sealed. */
  readonly purpose: string
  readonly table: PgTable
  /** The primary key. */
  readonly key: readonly PgColumn[]
  readonly sealed: PgColumn
}

/** A stored text that was sealed, and the key of its row. */
interface SealedRow {
  readonly key: readonly (string | number)[]
  readonly sealed: string
}

interface Resealed extends SealedRow {
  readonly resealed: string
}

interface Deps {
  readonly db: Db
  readonly box: SecretBox
  readonly log: Logger
}

/**
 * Re-encrypts every text of a column that was sealed with the previous secret key, with the current key,
 * batch by batch. A text that neither key opens stays as it is and is logged. Stops between batches when
 * aborted.
 *
 * @returns number of texts replaced
 */
export async function resealColumn(
  deps: Deps,
  column: SealedColumn,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  let rows = await read(deps.db, column, undefined)
  while (rows.length > 0 && !signal.aborted) {
    const resealed = rows.flatMap((row) => reseal(deps, column.purpose, row))
    if (resealed.length > 0) await write(deps.db, column, resealed)
    count += resealed.length
    rows = await read(deps.db, column, rows.at(-1)?.key)
  }
  return count
}

/** Rows after a key, in order of keys. */
async function read(
  db: Db,
  { table, key, sealed }: SealedColumn,
  after: SealedRow['key'] | undefined,
): Promise<readonly SealedRow[]> {
  const names = sql.join([...key], sql`, `)
  const values = after?.map((value) => sql`${value}`) ?? []
  const rows = await db.execute<{ key: SealedRow['key']; sealed: string }>(sql`
    select json_build_array(${names}) as key, ${sealed} as sealed from ${table}
    ${after === undefined ? sql`` : sql`where (${names}) > (${sql.join(values, sql`, `)})`}
    order by ${names} limit ${BATCH}`)
  return rows.map((row) => ({ key: row.key, sealed: row.sealed }))
}

/** Replaces texts that have not changed since they were read. */
async function write(
  db: Db,
  { table, key, sealed }: SealedColumn,
  rows: readonly Resealed[],
): Promise<void> {
  const array = (type: string, pick: (row: Resealed) => string | number | undefined) =>
    sql`${sql.param(rows.map(pick))}::${sql.raw(type)}[]`
  const values = [
    ...key.map((column, index) => array(column.getSQLType(), (row) => row.key[index])),
    array('text', (row) => row.sealed),
    array('text', (row) => row.resealed),
  ]
  const names = key.map((_, index) => sql.raw(`key_${index}`))
  const isRow = key.map((column, index) => sql`${column} = row.${names[index]}`)
  await db.execute(sql`
    update ${table} set ${sql.identifier(sealed.name)} = row.resealed
    from unnest(${sql.join(values, sql`, `)})
      as row(${sql.join([...names], sql`, `)}, sealed, resealed)
    where ${sql.join(isRow, sql` and `)} and ${sealed} = row.sealed`)
}

function reseal({ box, log }: Deps, purpose: string, row: SealedRow): readonly Resealed[] {
  try {
    const resealed = box.reseal(purpose, row.sealed)
    return resealed === undefined ? [] : [{ ...row, resealed }]
  } catch {
    log.error(
      { purpose, row: row.key },
      'a stored text opens with neither SECRET_KEY nor SECRET_KEY_PREVIOUS; it stays as it is',
    )
    return []
  }
}
