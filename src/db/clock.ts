import { sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Db } from './connection.ts'

/** How far the clocks of this host and of the database may be apart. */
const TOLERANCE_MS = 300_000

/**
 * Whether this host's clock agrees with the database's to within five minutes; logged as an error where not.
 * A clock that jumps ahead would have time pass that has not: terms that are charged, slots that end.
 */
export async function agreesWithDatabase({
  db,
  clock,
  log,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}): Promise<boolean> {
  const [row] = await db.execute<{ ms: string }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`,
  )
  const aheadMs = clock.now().getTime() - Number(row?.ms)
  if (Math.abs(aheadMs) <= TOLERANCE_MS) return true
  log.error({ aheadMs }, 'clock differs from that of the database')
  return false
}
