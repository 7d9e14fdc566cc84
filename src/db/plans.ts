import { sql } from 'drizzle-orm'
import type { Db } from './connection.ts'

/**
 * Plans the next statements of a transaction without scans of whole tables that have an index. A table that was
 * analyzed while it was empty looks free to scan, and a prepared statement keeps that plan while the table
 * fills.
 *
 * @returns restores the setting for the rest of the transaction; its end restores it, too
 */
export async function forbidScans(tx: Db): Promise<() => Promise<void>> {
  const [before] = await tx.execute<{ was: string }>(sql`
    select current_setting('enable_seqscan') as was, set_config('enable_seqscan', 'off', true)`)
  return async () => {
    await tx.execute(sql`select set_config('enable_seqscan', ${before?.was ?? 'on'}, true)`)
  }
}
