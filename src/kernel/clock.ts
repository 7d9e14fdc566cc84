/** Source of the current time for verbs. Tests pass a clock that moves only when set. */
export interface Clock {
  /** The present instant. */
  now(): Date
}

/** Largest accepted difference between two clocks that should agree. */
export const TOLERANCE_MS = 300_000

/** The machine's clock. No other place reads it. */
export const systemClock: Clock = { now: () => new Date() }
