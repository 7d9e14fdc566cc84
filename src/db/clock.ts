import { sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import type { Db } from './connection.ts'

/** How far the clocks of this host and of the database may be apart. */
const TOLERANCE_MS = 300_000
/** How often a database clock asks for the time. */
const SYNC_MS = 10_000
/** It is not set anew for less, so that times do not waver by what a query takes. */
const STEP_MS = 1000

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
  const aheadMs = clock.now().getTime() - (await readMs(db))
  if (Math.abs(aheadMs) <= TOLERANCE_MS) return true
  log.error({ aheadMs }, 'clock differs from that of the database')
  return false
}

/** A clock that is set by another one now and then. */
export interface SyncedClock extends Clock {
  /** Sets it, if that was not done in the last ten seconds. Outside of transactions. */
  sync(): Promise<void>
}

/**
 * The database's clock, which all processes share: leases and times in common tables go by it, whatever the
 * hosts' clocks do. Between two syncs it goes on by the time that passes in this process. Before the first one, it
 * is the host's.
 */
export function createDatabaseClock({
  db,
  clock,
  log,
}: {
  readonly db: Db
  /** The host's. */
  readonly clock: Clock
  readonly log: Logger
}): SyncedClock {
  let set: { readonly ms: number; readonly at: number } | undefined
  let syncedAt = Number.NEGATIVE_INFINITY
  const nowMs = () =>
    set === undefined ? clock.now().getTime() : set.ms + performance.now() - set.at
  return {
    now: () => new Date(nowMs()),
    async sync() {
      if (performance.now() - syncedAt < SYNC_MS) return
      syncedAt = performance.now()
      try {
        const startedAt = performance.now()
        const ms = await readMs(db)
        const at = (startedAt + performance.now()) / 2
        const isOff = set === undefined || Math.abs(ms - (set.ms + at - set.at)) > STEP_MS
        if (isOff) set = { ms, at }
      } catch (error) {
        log.warn({ error: traceOf(error) }, 'time of the database not read')
      }
    },
  }
}

async function readMs(db: Db): Promise<number> {
  const [row] = await db.execute<{ ms: string }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`,
  )
  return Number(row?.ms)
}
