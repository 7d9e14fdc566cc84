import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Db } from './connection.ts'

/** Time for which a copy that failed is not used. */
const PAUSE_MS = 10_000

/** A copy of the database, such as a hot standby, which may be a little behind or unreachable. */
export interface Replica {
  /** Reads from the copy, or from the database when the copy fails. `run` must only read. */
  read<T>(primary: Db, run: (db: Db) => Promise<T>): Promise<T>
}

/** Creates access to a copy. For ten seconds after each failure the copy is not used. */
export function createReplica({
  db,
  clock,
  log,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}): Replica {
  let failedAtMs: number | undefined
  return {
    async read(primary, run) {
      const isPaused =
        failedAtMs !== undefined && Math.abs(clock.now().getTime() - failedAtMs) < PAUSE_MS
      if (isPaused) return run(primary)
      try {
        const result = await run(db)
        if (failedAtMs !== undefined) log.info({}, 'copy of the database is read again')
        failedAtMs = undefined
        return result
      } catch (error) {
        // An AppError refuses the request; reading from the database would give the same result.
        if (error instanceof AppError) throw error
        if (failedAtMs === undefined) {
          const text = 'copy of the database cannot be read; lists are read from the database'
          log.warn({ problem: loggableError(error) }, text)
        }
        failedAtMs = clock.now().getTime()
        return run(primary)
      }
    },
  }
}
