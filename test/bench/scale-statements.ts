import type { Sql } from 'postgres'
import type { ScaleWorld } from './scale-world.ts'

/** Statements that are shown of each kind of work. */
const SHOWN = 6
/** Characters of a statement that are shown. */
const LENGTH = 110

/** What one statement cost since the counts were reset. */
interface StatementCost {
  readonly text: string
  readonly calls: number
  /** Execution time of all calls, in milliseconds. */
  readonly ms: number
  /** Pages of 8 KiB read from the cache or the disk. */
  readonly pages: number
}

/** Sets the counts of all statements to zero. */
export async function resetStatementCounts({
  connection: { sql },
}: Pick<ScaleWorld, 'connection'>): Promise<void> {
  await sql`select pg_stat_statements_reset()`
}

/**
 * Lines that say which statements took most of the execution time since the reset, for each unit of work. Execution
 * time includes waiting, unlike CPU time.
 */
export async function describeStatements(
  { connection: { sql } }: Pick<ScaleWorld, 'connection'>,
  units: number,
): Promise<string> {
  const costs = await readCosts(sql)
  const all = costs.reduce((sum, { ms }) => sum + ms, 0)
  const lines = costs.slice(0, SHOWN).map(({ text, calls, ms, pages }) => {
    const share = `${((1000 * ms) / units).toFixed(1)} µs, ${(pages / units).toFixed(1)} pages a unit`
    return `  ${share}, ${calls} calls: ${text.replace(/\s+/g, ' ').slice(0, LENGTH)}`
  })
  return [`  ${((1000 * all) / units).toFixed(1)} µs a unit in all statements`, ...lines].join('\n')
}

/** The dearest first. */
async function readCosts(sql: Sql): Promise<readonly StatementCost[]> {
  return await sql<StatementCost[]>`
    select query as text, calls::int, total_exec_time as ms,
      (shared_blks_hit + shared_blks_read)::float8 as pages
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
    order by total_exec_time desc`
}
