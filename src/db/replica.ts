import { sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { Db } from './connection.ts'

/** Time for which a copy that failed is not used. */
const PAUSE_MS = 10_000
/** Time after which it is looked again whether the copy follows. */
const CHECK_MS = 5000
/** Maximum age of what is read from the copy. */
const LAG_MS_MAX = 30_000

/** A copy of the database, such as a hot standby, which may be a little behind or unreachable. */
export interface Replica {
  /** Reads from the copy, or from the database when the copy fails or does not follow. `run` must only read. */
  read<T>(primary: Db, run: (db: Db) => Promise<T>): Promise<T>
  /**
   * How the copy follows the database.
   * @throws Error when one of them does not answer
   */
  state(primary: Db): Promise<ReplicaState>
}

/** How a copy follows the database. */
export interface ReplicaState {
  /** Why lists are not read from the copy; undefined if they are. */
  readonly problem: string | undefined
  /** Age of what the copy has; undefined if it is no standby, or has replayed nothing since its start. */
  readonly lagMs: number | undefined
}

interface ReplicaParts {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** Counts a reading by the server that it was made from. */
  readonly count: (source: 'replica' | 'primary') => void
  /** Maximum age of what is read in milliseconds; 30 s by default. */
  readonly lagMsMax?: number
  /** 5 s by default. */
  readonly checkMs?: number
}

/**
 * Creates access to a copy. It is not used for ten seconds after each failure, and while it does not follow the database:
 * a standby whose replication has ended answers every query, with ever older rows.
 */
export function createReplica(parts: ReplicaParts): Replica {
  const { db, clock, log, count, lagMsMax = LAG_MS_MAX, checkMs = CHECK_MS } = parts
  const checks = createSharedCache<'only', ReplicaState>(clock, {
    max: 1,
    freshMs: () => checkMs,
  })
  let failedAtMs: number | undefined
  let isOff = false
  const turnOff = (problem: unknown) => {
    const text = 'copy of the database cannot be read; lists are read from the database'
    if (!isOff) log.warn({ problem }, text)
    isOff = true
  }
  const state = (primary: Db) =>
    checks.get('only', async () => {
      const found = await stateOf(primary, db, lagMsMax)
      if (found.problem !== undefined) turnOff(found.problem)
      return found
    })
  const readPrimary = <T>(primary: Db, run: (db: Db) => Promise<T>) => {
    count('primary')
    return run(primary)
  }
  return {
    state,
    async read(primary, run) {
      const isPaused =
        failedAtMs !== undefined && Math.abs(clock.now().getTime() - failedAtMs) < PAUSE_MS
      if (isPaused) return await readPrimary(primary, run)
      try {
        const { problem } = await state(primary)
        if (problem !== undefined) return await readPrimary(primary, run)
        const result = await run(db)
        count('replica')
        if (isOff) log.info({}, 'copy of the database is read again')
        isOff = false
        failedAtMs = undefined
        return result
      } catch (error) {
        // An AppError refuses the request; reading from the database would give the same result.
        if (error instanceof AppError) throw error
        turnOff(loggableError(error))
        failedAtMs = clock.now().getTime()
        return await readPrimary(primary, run)
      }
    },
  }
}

/**
 * Whether the copy is a standby that follows the primary. A copy that has replayed all that the
 * primary has written is not behind, however long ago that was; for all others the time of the last transaction counts, by
 * the primary's clock.
 */
async function stateOf(primary: Db, copy: Db, lagMsMax: number): Promise<ReplicaState> {
  const [written] = await primary.execute<{ lsn: string; now: string }>(
    sql`select pg_current_wal_lsn()::text as lsn, clock_timestamp()::text as now`,
  )
  if (written === undefined) throw new Error('the database does not say what it has written')
  const [state] = await copy.execute<{
    isStandby: boolean
    isLevel: boolean | null
    isReceiving: boolean
    lagMs: number | null
  }>(sql`
    select pg_is_in_recovery() as "isStandby",
      pg_last_wal_replay_lsn() >= ${written.lsn}::pg_lsn as "isLevel",
      exists (select from pg_stat_wal_receiver where pid is not null) as "isReceiving",
      (1000 * extract(epoch from ${written.now}::timestamptz - pg_last_xact_replay_timestamp()))::float8
        as "lagMs"`)
  if (state?.isStandby !== true) return { problem: 'it is not a standby', lagMs: undefined }
  const isFresh = state.lagMs !== null && state.lagMs <= lagMsMax
  const isLevel = state.isLevel === true
  const lagMs = isLevel && state.isReceiving ? 0 : (state.lagMs ?? undefined)
  if (!isLevel && !isFresh) return { problem: 'it is too far behind', lagMs }
  // Without a receiver the position may be that of another line of the database, after a failover.
  const isFollowing = state.isReceiving || isFresh
  return { problem: isFollowing ? undefined : 'it receives nothing', lagMs }
}
