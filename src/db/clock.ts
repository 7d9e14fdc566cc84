import { sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Db } from './connection.ts'

/** Interval between two reads of the database's time. */
const SYNC_MS = 10_000
/**
 * Minimum difference at which the clock is adjusted, so that times do not change with the duration of the
 * query.
 */
const STEP_MS = 1000

/**
 * Milliseconds by which this host's clock is ahead of the database's, negative if it is behind. 0 if the
 * database's time lies between the host's times before and after the query.
 */
export async function hostClockAheadMs({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<number> {
  const before = clock.now().getTime()
  const ms = await readMs(db)
  const after = clock.now().getTime()
  if (ms < Math.min(before, after)) return Math.min(before, after) - ms
  return Math.min(0, Math.max(before, after) - ms)
}

/** A clock that is synchronized with another clock from time to time. */
export interface SyncedClock extends Clock {
  /**
   * Synchronizes the clock, unless it was synchronized in the last ten seconds. Call it outside of
   * transactions.
   */
  sync(): Promise<void>
}

/**
 * Creates the clock that all processes share: leases and times in common tables follow the database,
 * whatever the hosts' clocks show. Between two syncs it advances by the time elapsed in this process.
 * Before the first sync it shows the host's time.
 */
export function createDatabaseClock({
  db,
  clock,
  log,
}: {
  readonly db: Db
  /** The host's clock. */
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
        log.warn(
          { error: loggableError(error) },
          'time of the database cannot be read; the last difference is used',
        )
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
