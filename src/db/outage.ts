/**
 * An outage of the database in the log of a process. Jobs, channels, requests and leases all fail for the one cause, so that
 * the log says it once a minute, whoever notices.
 */
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { isConnectionEnd, postgresError } from './session.ts'

/** Time after which an outage that stays is logged again. */
const REPORT_AGAIN_MS = MINUTE_MS
/** Time without a failure after which an outage is over: a database that can only be read answers some work. */
const QUIET_MS = 15_000
/** 25006: read-only. 53…: no memory, disk or connection left. 58…: disk failure. */
const OUT_OF_ORDER = /^(25006|53|58)/

/** Times are those of `performance.now`. */
interface Outage {
  readonly sinceMs: number
  failures: number
  failedAtMs: number
  reportedAtMs: number
}

/** The outage of each process, by its log. */
const outages = new WeakMap<Logger, Outage>()

/** Whether the database is unreachable, refuses connections, or cannot be written. */
export function isDatabaseOutage(error: unknown): boolean {
  return isConnectionEnd(error) || OUT_OF_ORDER.test(postgresError(error)?.code ?? '')
}

/**
 * Logs a failure that the database caused, unless the log says so since a minute.
 *
 * @returns false if the error has another cause, which the caller logs
 */
export function reportOutage(log: Logger, error: unknown): boolean {
  if (!isDatabaseOutage(error)) return false
  const now = performance.now()
  const outage = outages.get(log) ?? {
    ...{ sinceMs: now, failures: 0, failedAtMs: now },
    reportedAtMs: Number.NEGATIVE_INFINITY,
  }
  outages.set(log, outage)
  outage.failures += 1
  outage.failedAtMs = now
  if (now - outage.reportedAtMs < REPORT_AGAIN_MS) return true
  outage.reportedAtMs = now
  const forSeconds = Math.round((now - outage.sinceMs) / 1000)
  const [cause] = loggableError(error).split('\n')
  const fields = { error: cause, failures: outage.failures, forSeconds }
  log.error(fields, 'the database does not answer or cannot be written')
  return true
}

/** The database did what a job asked of it. The log says so once, when no other work fails any more. */
export function reportAnswer(log: Logger): void {
  const outage = outages.get(log)
  if (outage === undefined || performance.now() - outage.failedAtMs < QUIET_MS) return
  outages.delete(log)
  const forSeconds = Math.round((outage.failedAtMs - outage.sinceMs) / 1000)
  log.info({ failures: outage.failures, forSeconds }, 'the database works again')
}
