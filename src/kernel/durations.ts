/** Durations in milliseconds and in seconds, and periods. A day is always 24 hours. */
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const MINUTE_SECONDS = 60
export const HOUR_SECONDS = 3600
export const DAY_SECONDS = 24 * HOUR_SECONDS

/** A period. It includes `from` and excludes `to`. */
export interface TimePeriod {
  readonly from: Date
  readonly to: Date
}
