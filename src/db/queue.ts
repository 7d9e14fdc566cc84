import {
  and,
  eq,
  getTableColumns,
  type InferSelectModel,
  isNotNull,
  lte,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { PgColumn, PgTable, PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { Clock } from '#src/kernel/clock.ts'
import type { Db } from './connection.ts'

export type Row<Table extends PgTable> = InferSelectModel<Table>
export type ColumnKey<Table extends PgTable> = keyof Row<Table> & string

/**
 * A table whose rows are units of work: several processes claim due rows, each for the time of a lease. The
 * row of a process that dies is due again when its lease ends.
 */
export interface Queue<Table extends PgTable> {
  readonly table: Table
  /** Properties of the primary key. */
  readonly id: readonly ColumnKey<Table>[]
  /** Due time of a row, by which due rows are ordered; a row with null is not in the queue. */
  readonly dueAt?: ColumnKey<Table>
  /**
   * End of the lease; null if the row is not leased. By default a claim moves `dueAt` to the end of the
   * lease.
   */
  readonly leasedUntil?: ColumnKey<Table>
  /** Number of claims of a row, counted by `claimDueRows`. */
  readonly attempts?: ColumnKey<Table>
  /** Only rows for which this holds are in the queue. */
  readonly where?: SQL
  /** Rows with a common key are claimed in the order of their id, one at a time. */
  readonly partition?: {
    readonly key: ColumnKey<Table>
    /** Turn of a row among the rows of all keys; rows with a lower turn are claimed first. */
    readonly turn: ColumnKey<Table>
    /** Time at which a row was finished; only unfinished rows are in the queue. */
    readonly doneAt: ColumnKey<Table>
  }
}

/** Limits of one claim. */
export interface ClaimLimits {
  readonly now: Date
  readonly leaseMs: number
  /** Maximum number of rows. */
  readonly limit: number
}

/** Claims due rows, the longest due first; rows that another process is claiming are skipped. */
export async function claimDueRows<Table extends PgTable>(
  db: Db,
  queue: Queue<Table>,
  { now, leaseMs, limit }: ClaimLimits,
): Promise<Row<Table>[]> {
  const { table } = queue
  const column = columnsOf(queue)
  const dueAt = queue.dueAt && column(queue.dueAt)
  const leasedUntil = queue.leasedUntil && column(queue.leasedUntil)
  const turn = queue.partition && column(queue.partition.turn)
  const ids = sql.join(queue.id.map(column), sql`, `)
  const isDue = and(
    queue.where,
    dueAt && lte(dueAt, now),
    leasedUntil && isUnleased(leasedUntil, now),
    isFirstOfPartition(queue, now),
  )
  const attempts = queue.attempts && column(queue.attempts)
  const leased = {
    [leaseOf(queue)]: new Date(now.getTime() + leaseMs),
    ...(attempts && { [queue.attempts ?? '']: sql`${attempts} + 1` }),
  }
  // A materialized CTE is computed once. A subquery with a limit may be computed again, and then locks other rows.
  const rows = await db
    .update(table)
    .set(setOf<Table>(leased))
    .where(
      sql`(${ids}) in (
        with due as materialized (
          select ${ids} from ${table} where ${isDue}
          order by ${sql.join([turn ?? dueAt ?? ids, ...(turn ? [ids] : [])], sql`, `)}
          limit ${limit} for update skip locked)
        select * from due)`,
    )
    .returning()
  // Safe: without a selection of columns, rows of the table are returned.
  return rows as Row<Table>[]
}

/** Claims due rows in batches and yields them, until none is due or the signal is aborted. */
export async function* claimAllDueRows<Table extends PgTable>(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  queue: Queue<Table>,
  options: Omit<ClaimLimits, 'now'> & { readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Row<Table>, void, undefined> {
  while (!options.signal?.aborted) {
    const rows = await claimDueRows(db, queue, { ...options, now: clock.now() })
    if (rows.length === 0) return
    for (const row of rows) {
      if (options.signal?.aborted) return
      yield row
    }
  }
}

/**
 * Makes a claimed row due at an instant; null takes it out of a queue that has `dueAt`. A row that left
 * the queue meanwhile stays out.
 */
export async function reschedule<Table extends PgTable>(
  db: Db,
  queue: Queue<Table>,
  row: Partial<Row<Table>>,
  at: Date | null,
): Promise<void> {
  const column = columnsOf(queue)
  await db
    .update(queue.table)
    .set(setOf<Table>({ [leaseOf(queue)]: at }))
    .where(
      and(
        ...queue.id.map((key) => eq(column(key), row[key])),
        queue.dueAt && isNotNull(column(queue.dueAt)),
      ),
    )
}

/**
 * Condition: the row is the first unfinished row of its partition, and no row of the partition is claimed.
 */
function isFirstOfPartition<Table extends PgTable>(queue: Queue<Table>, now: Date) {
  const { partition } = queue
  if (partition === undefined) return undefined
  const column = columnsOf(queue)
  const other = (key: ColumnKey<Table>) => sql`other.${sql.identifier(column(key).name)}`
  const ids = (of: (key: ColumnKey<Table>) => unknown) =>
    sql`(${sql.join(
      queue.id.map((key) => sql`${of(key)}`),
      sql`, `,
    )})`
  return sql`${column(partition.doneAt)} is null and not exists (
    select from ${queue.table} other
    where ${other(partition.key)} = ${column(partition.key)} and ${other(partition.doneAt)} is null
      and ${ids(other)} <> ${ids(column)}
      and (${ids(other)} < ${ids(column)} or ${other(leaseOf(queue))} > ${now}))`
}

function isUnleased(leasedUntil: PgColumn, now: Date): SQL {
  return sql`(${leasedUntil} is null or ${lte(leasedUntil, now)})`
}

function leaseOf<Table extends PgTable>({ leasedUntil, dueAt }: Queue<Table>): ColumnKey<Table> {
  const key = leasedUntil ?? dueAt
  if (key === undefined) throw new Error('a queue needs a column for its leases')
  return key
}

export function columnsOf<Table extends PgTable>({ table }: { readonly table: Table }) {
  const columns: Record<string, PgColumn> = getTableColumns(table)
  return (key: ColumnKey<Table>): PgColumn => {
    const column = columns[key]
    if (column === undefined) throw new Error(`a queue names an unknown column: ${key}`)
    return column
  }
}

/** Safe: the keys are properties of the table, and the values fit their columns. */
function setOf<Table extends PgTable>(values: Record<string, unknown>): PgUpdateSetSource<Table> {
  return values as PgUpdateSetSource<Table>
}
