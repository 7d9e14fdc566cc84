/** Shortest pause after a failure, in milliseconds. */
const FIRST_MS = 500
/** Longest pause after failures in a row. */
const BACKOFF_MS_MAX = 30_000

/**
 * Pause after failures in a row, in milliseconds: it doubles with each, up to a maximum.
 *
 * @param failures at least 1
 */
export function backoffMs(failures: number, maxMs = BACKOFF_MS_MAX): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), maxMs)
}
