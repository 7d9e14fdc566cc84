import { type Placeholder, sql } from 'drizzle-orm'
import type { Db } from './connection.ts'

/**
 * Runs a statement of a transaction with sequential scans off, so that its plan uses the indexes. PostgreSQL expects
 * a scan to cost nothing if the table was analyzed while it was empty, and a prepared statement keeps such a plan
 * when the table has filled.
 *
 * Three statements are sent without waiting for the answers in between: the first changes the setting, the third
 * restores it. The connection runs them in this order.
 */
export async function withoutSequentialScans<T>(tx: Db, statement: () => Promise<T>): Promise<T> {
  const [, result] = await Promise.all([
    tx.execute(sql`
      select set_config('watchdog.enable_seqscan', current_setting('enable_seqscan'), true),
        set_config('enable_seqscan', 'off', true)`),
    statement(),
    tx.execute(sql`
      select set_config('enable_seqscan', current_setting('watchdog.enable_seqscan'), true)`),
  ])
  return result
}

/**
 * A limit whose value the planner does not know. PostgreSQL then plans for a tenth of the rows, and reads them in the
 * order of an index. With a constant limit above the expected number of rows it would read and sort all rows of the
 * wallet. It expects as many as the average wallet has, in a prepared statement, but a wallet can have millions.
 */
export function unplannedLimit(limit: number): Placeholder {
  // Safe: drizzle writes any SQL after `limit`.
  return sql`(select ${limit}::int)` as unknown as Placeholder
}
