/** Limits of a pause after failures, in milliseconds. */
export interface BackoffLimits {
  /** Pause after the first failure; 500 by default. */
  readonly min?: number | undefined
  /** Longest pause; 30,000 by default. */
  readonly max?: number | undefined
}

/**
 * Pause after failures in a row, in milliseconds: it doubles with each, up to a maximum.
 *
 * @param failures at least 1
 */
export function backoffMs(
  failures: number,
  { min = 500, max = 30_000 }: BackoffLimits = {},
): number {
  return Math.min(min * 2 ** (failures - 1), max)
}
