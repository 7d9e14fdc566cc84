import { sql } from 'drizzle-orm'
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
