import { sql } from 'drizzle-orm'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Db } from './connection.ts'
import { reportOutage } from './outage.ts'

/** Interval between two measurements. */
const MEASURE_MS = 10_000
/** Minimum difference at which the clock is set, so that it does not change with the duration of a query. */
const STEP_MS = 1000

/**
 * Milliseconds by which a clock is ahead of the database's, negative if it is behind. 0 if the database's time lies
 * between the clock's times before and after the query, so that a slow query proves no difference.
 */
export async function msAheadOfDatabase({
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

/** The clock of the service. */
export interface ServiceClock extends Clock {
  /** Milliseconds until it goes on; 0 while it goes. */
  stillForMs(): number
  /**
   * Measures the difference to the database's clock, then again and again.
   *
   * @throws if the first measurement fails; after later failures the last difference counts
   */
  follow(): Promise<void>
  /** Ends the measurements. */
  stop(): void
}

/**
 * Creates the clock of this process. It follows the database's, so that all processes agree whatever their hosts'
 * clocks show. Between two measurements it advances by the monotonic clock of the process.
 *
 * It never goes back: while the database's clock is behind what was shown, it stands still. So no code of a running
 * process meets a time of its own that is still to come; what is stored is repaired at the next start
 * (`repairTimes`). Before the first measurement it shows the host's time, and may then go back once. Long because the
 * measurements share what was shown.
 */
export function createServiceClock({
  db,
  hostClock,
  log,
  measureMs = MEASURE_MS,
}: {
  readonly db: Db
  readonly hostClock: Clock
  readonly log: Logger
  readonly measureMs?: number
}): ServiceClock {
  let offsetMs = hostClock.now().getTime() - performance.now()
  let shownMs = Number.NEGATIVE_INFINITY
  let isStill = false
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let isMeasuring = false

  const measuredMs = () => offsetMs + performance.now()
  const measured = { now: () => new Date(measuredMs()) }
  const stillForMs = () => Math.max(0, shownMs - measuredMs())

  async function measure(): Promise<void> {
    const aheadMs = await msAheadOfDatabase({ db, clock: measured })
    if (Math.abs(aheadMs) > STEP_MS) offsetMs -= aheadMs
    const wasStill = isStill
    isStill = stillForMs() > 0
    if (isStill && !wasStill) {
      const fields = { stillForMs: Math.round(stillForMs()) }
      log.warn(fields, 'clock of the database was set back; the clock of the service stands still')
    } else if (wasStill && !isStill) {
      log.info({}, 'clock of the service goes on')
    }
  }

  async function measureAgain(): Promise<void> {
    if (isMeasuring) return
    isMeasuring = true
    try {
      await measure()
      if (isFailing) log.info({}, 'time of the database can be read again')
      isFailing = false
    } catch (error) {
      if (!reportOutage(log, error) && !isFailing) {
        const fields = { error: loggableError(error) }
        log.warn(fields, 'time of the database cannot be read; the last difference counts')
        isFailing = true
      }
    } finally {
      isMeasuring = false
    }
  }

  return {
    now() {
      shownMs = Math.max(shownMs, measuredMs())
      return new Date(shownMs)
    },
    stillForMs,
    async follow() {
      // What was shown so far was the host's time.
      offsetMs -= await msAheadOfDatabase({ db, clock: measured })
      shownMs = Number.NEGATIVE_INFINITY
      timer = setInterval(() => void measureAgain(), measureMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}

async function readMs(db: Db): Promise<number> {
  const [row] = await db.execute<{ ms: string }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`,
  )
  return Number(row?.ms)
}
