/** What tests change of stored deliveries behind the service's back. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { MOVED_COLUMNS } from '#src/delivery/tables.ts'

const ALL = sql`true`

/** Deletes deliveries, unfinished or over. */
export async function deleteDeliveries(db: Db, which: SQL = ALL): Promise<void> {
  await db.execute(sql`
    with gone as (delete from delivery_queue where ${which}) delete from delivery_log where ${which}`)
}

/**
 * Ends unfinished deliveries, as a worker would.
 *
 * @param result assignments to columns of the log
 */
export async function endDeliveries(
  db: Db,
  which: SQL = ALL,
  result: SQL = sql`status = 'delivered'`,
): Promise<void> {
  await db.execute(sql`
    with over as (delete from delivery_queue where ${which} returning *)
    insert into delivery_log (${MOVED_COLUMNS}, urgency, status, attempts, last_status_code, last_error)
    select ${MOVED_COLUMNS}, urgency, 'ending', attempts, last_status_code, last_error from over`)
  await db.execute(sql`update delivery_log set ${result} where status = 'ending'`)
}
