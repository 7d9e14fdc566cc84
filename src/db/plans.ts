import { type Placeholder, sql } from 'drizzle-orm'
import type { Db } from './connection.ts'

/**
 * Runs a statement of a transaction whose plan is made without scans of whole tables that have an index. A table
 * that was analyzed while it was empty looks free to scan, and a prepared statement keeps that plan while the
 * table fills.
 *
 * The setting is changed and restored beside the statement: the connection runs the three in this order, and
 * nothing waits for another answer.
 */
export async function withoutScans<T>(tx: Db, statement: () => Promise<T>): Promise<T> {
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
 * A limit that the plan does not know. It makes PostgreSQL expect a tenth of the rows, so that it reads them in the
 * order of an index. For a known limit above the number of rows that it expects, it would read and sort them all:
 * three million, where a prepared statement expects the average of all wallets.
 */
export function unplannedLimit(limit: number): Placeholder {
  // Safe: drizzle writes any SQL after `limit`.
  return sql`(select ${limit}::int)` as unknown as Placeholder
}
