import { HOUR_MS } from './durations.ts'
import { loggableError } from './loggable-error.ts'
import type { Logger } from './logger.ts'

/**
 * Counts and logs the rows that were set aside because they could not be read or processed, so that the
 * other rows of their batch are processed.
 */
export interface Quarantine {
  /**
   * Logs the row at `error` and counts it. A row that is added again within an hour is neither logged nor counted.
   *
   * @param kind kind of the row, such as `delivery`; also a Prometheus label, so it is a fixed word
   * @param id the row's key
   * @param about further fields of the line, such as the alert that the row belongs to
   */
  add(kind: string, id: string | number, error: unknown, about?: Record<string, unknown>): void
  /** Counts since the process started, by kind. A row that stays unreadable is counted once an hour. */
  read(): readonly { readonly kind: string; readonly rows: number }[]
}

/** Least interval between two log lines of one row, because an unreadable row is read again on every run. */
const LOG_AGAIN_MS = HOUR_MS
/** Maximum number of rows whose last log line is remembered. */
const REMEMBERED_MAX = 10_000

/** Creates a quarantine that counts in this process and logs with `log`. */
export function createQuarantine({ log }: { readonly log: Logger }): Quarantine {
  const counts = new Map<string, number>()
  const loggedAtMs = new Map<string, number>()
  return {
    add(kind, id, error, about = {}) {
      const key = `${kind} ${id}`
      const now = performance.now()
      const last = loggedAtMs.get(key)
      if (last !== undefined && now - last < LOG_AGAIN_MS) return
      if (loggedAtMs.size >= REMEMBERED_MAX) loggedAtMs.clear()
      loggedAtMs.set(key, now)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
      log.error(
        { ...about, kind, id, error: loggableError(error) },
        'row was set aside, because it cannot be processed',
      )
    },
    read: () => [...counts].map(([kind, rows]) => ({ kind, rows })),
  }
}
