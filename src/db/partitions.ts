import { setTimeout as wait } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Db, isOtherPartition, transact } from './connection.ts'
import { postgresError } from './session.ts'

/**
 * A table partitioned by time, with a default partition for rows outside of all other partitions. Dropping
 * a partition frees disk space at once; deleting millions of rows would leave millions of dead rows to
 * vacuum.
 */
export interface TimedTable {
  readonly name: string
  /** Length of a partition in days. */
  readonly days: number
  /** Minimum retention of a row in days; the maximum is one partition length more. */
  readonly retentionDays: number
  /** Column of the partition key. */
  readonly key: string
  /** Lowest value of the key at an instant. */
  lowest(at: Date): string
  /** Column with the age of a row, for the default partition. */
  readonly age: string
}

interface Part {
  readonly name: string
  readonly from: Date
  readonly to: Date
}

/** Maximum wait for a lock, because all other statements queue behind it. */
const LOCK_MS = 500
const LOCK_ATTEMPTS = 3
/** Maximum number of rows that one statement deletes. */
const ROWS_MAX = 1000

/**
 * Condition: the partition key equals a value of another row. Both arguments are SQL. The condition uses no index,
 * so add `key = any(array(…))`, which does.
 *
 * A statement that locks, changes or deletes rows must compare the key of a partitioned table with other
 * rows only in these two ways. Otherwise PostgreSQL 18 may end all connections
 * (docs/decisions/0012-joins-by-partition-key.md).
 */
export function isSamePartitionKey(key: string, value: string): SQL {
  return sql.raw(`${key}::text = ${value}::text`)
}

/**
 * Creates the partitions of this period and the next, and partitions that were missed since the last run.
 * Drops partitions that are older than their retention, and deletes such rows from the default partition.
 *
 * Rows of the default partition that belong into a new partition are moved. Steps blocked by a long
 * transaction are left to the next run.
 */
export async function arrangePartitions(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  table: TimedTable,
): Promise<void> {
  const now = clock.now()
  const retainedFrom = new Date(now.getTime() - table.retentionDays * DAY_MS)
  const parts = await listParts(db, table)
  const made: string[] = []
  for (const part of missingParts(table, parts, now)) {
    if (await withLockTimeout(db, (tx) => addPart(tx, table, part))) made.push(part.name)
    else break
  }
  const dropped: string[] = []
  for (const { name, to } of parts) {
    if (to > retainedFrom) continue
    const drop = sql.raw(`drop table ${quoted(name)}`)
    if (await withLockTimeout(db, (tx) => tx.execute(drop))) dropped.push(name)
  }
  const deleted = await deleteOld(db, table, retainedFrom)
  if (made.length + dropped.length + deleted === 0) return
  log.info({ table: table.name, made, dropped, deleted }, 'partitions arranged')
}

async function listParts(db: Db, { name }: TimedTable): Promise<readonly Part[]> {
  const rows = await db.execute<{ name: string }>(sql`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${name}::regclass order by 1`)
  return rows.flatMap((row) => {
    const [, from, to] = /_(\d{8})_(\d{8})$/.exec(row.name) ?? []
    if (from === undefined || to === undefined) return []
    return [{ name: row.name, from: dayOf(from), to: dayOf(to) }]
  })
}

function missingParts(table: TimedTable, parts: readonly Part[], now: Date): readonly Part[] {
  const { name, days, retentionDays } = table
  const length = days * DAY_MS
  const startOf = (ms: number) => Math.floor(ms / length) * length
  const end = startOf(now.getTime()) + 2 * length
  const known = parts.map(({ to }) => to.getTime())
  const missed = known.length === 0 ? startOf(now.getTime()) : Math.max(...known)
  let from = Math.max(missed, startOf(now.getTime() - retentionDays * DAY_MS))
  const missing: Part[] = []
  while (from < end) {
    const part = { from: new Date(from), to: new Date(startOf(from) + length) }
    missing.push({ ...part, name: `${name}_${dayText(part.from)}_${dayText(part.to)}` })
    from = part.to.getTime()
  }
  return missing
}

/**
 * Creates a table and attaches it as a partition. This takes no lock on the other partitions; `create table …
 * partition of` would.
 */
async function addPart(tx: Db, table: TimedTable, { name, from, to }: Part): Promise<void> {
  const all = quoted(table.name)
  const defaultPartition = quoted(`${table.name}_default`)
  const part = quoted(name)
  const key = quoted(table.key)
  const [low, high] = [`'${table.lowest(from)}'`, `'${table.lowest(to)}'`]
  const run = (text: string) => tx.execute(sql.raw(text))
  await run(`create table ${part} (like ${all} including all)`)
  const inPeriod = `${key} >= ${low} and ${key} < ${high}`
  const misplaced = await run(`select from ${defaultPartition} where ${inPeriod} limit 1`)
  if (misplaced.length > 0) {
    await run(`lock table ${defaultPartition} in access exclusive mode`)
    await run(`with moved as (delete from ${defaultPartition} where ${inPeriod} returning *)
      insert into ${part} select * from moved`)
  }
  await run(`alter table ${all} attach partition ${part} for values from (${low}) to (${high})`)
}

async function deleteOld(db: Db, { name, age }: TimedTable, before: Date): Promise<number> {
  const defaultPartition = sql.identifier(`${name}_default`)
  let deleted = 0
  for (;;) {
    const gone = await db.execute(sql`
      delete from ${defaultPartition} where id in (
        select id from ${defaultPartition} where ${sql.identifier(age)} < ${before} limit ${ROWS_MAX})
      returning id`)
    deleted += gone.length
    if (gone.length < ROWS_MAX) return deleted
  }
}

/**
 * Runs a step that needs an exclusive lock.
 * @returns false if the lock was not available in time
 */
async function withLockTimeout(db: Db, work: (tx: Db) => Promise<unknown>): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await transact(db, async (tx) => {
        await tx.execute(sql.raw(`set local lock_timeout = ${LOCK_MS}`))
        await work(tx)
      })
      return true
    } catch (error) {
      if (!isLockConflict(error)) throw error
      if (attempt === LOCK_ATTEMPTS) return false
      await wait(LOCK_MS)
    }
  }
}

/**
 * Whether the step must be retried: another transaction held a lock too long, or added a row of the new partition
 * to the default partition.
 */
function isLockConflict(error: unknown): boolean {
  return postgresError(error)?.code === '55P03' || isOtherPartition(error)
}

function quoted(name: string): string {
  return `"${name}"`
}

function dayText(at: Date): string {
  return at.toISOString().slice(0, 10).replaceAll('-', '')
}

function dayOf(text: string): Date {
  return new Date(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}T00:00:00.000Z`)
}
