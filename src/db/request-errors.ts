/** Refusals for errors of requests: errors of the database, and in `toAppError` also those of Fastify. */
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { frameworkRefusal } from '#src/kernel/framework-errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { reportOutage } from './outage.ts'
import { isConnectionFailure, postgresError } from './session.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * PostgreSQL's codes of failures after which a later request can succeed. 40001, 40P01: serialization failure,
 * deadlock. 53…: no memory, disk or connection left. 55P03: lock timeout. 57…: cancelled, stopping, starting.
 * 58…: disk failure. 25006: read-only after a failover.
 */
const PASSING = /^(40001|40P01|25006|55P03|53|57|58)/

/**
 * The refusal for an error that says that the database cannot serve requests now; undefined for every other error.
 */
function databaseRefusal(error: unknown): AppError | undefined {
  const known = postgresError(error)
  // FATAL: the server accepts no connections, or has closed this one.
  const isTransient =
    known !== undefined && (known.severity === 'FATAL' || PASSING.test(known.code))
  if (!isTransient && !isConnectionFailure(error)) return undefined
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  return new AppError('upstream', 'dependency_unavailable', details, { cause: error })
}

/**
 * Turns any error of a request into a refusal. An AppError is returned as it is; a 4xx of Fastify and an error of
 * an unavailable database get their own refusals; all others become `internal`.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const refusal = frameworkRefusal(error) ?? databaseRefusal(error)
  return refusal ?? new AppError('internal', 'internal', {}, { cause: error })
}

const REPORT_EVERY_MS = 10_000
/** Time of the last report in each log, in epoch milliseconds. */
const reportedAt = new WeakMap<Logger, number>()

/**
 * Logs a refusal caused by the database, at most once every ten seconds per log, an outage once a minute. Call it only with a refusal that
 * `toAppError` made of another error.
 */
export function logDatabaseFailure(
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
  { kind, cause }: AppError,
): void {
  if (kind !== 'upstream' || reportOutage(log, cause)) return
  const nowMs = clock.now().getTime()
  if (Math.abs(nowMs - (reportedAt.get(log) ?? 0)) < REPORT_EVERY_MS) return
  reportedAt.set(log, nowMs)
  log.warn({ error: loggableError(cause) }, 'the database cannot serve requests')
}
