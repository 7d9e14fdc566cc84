/** Where a verb learns what time it is. Tests hand in a clock that moves only when told. */
export interface Clock {
  /** The present instant. */
  now(): Date
}

/** The machine's own clock: the only place that reads it. */
export const systemClock: Clock = { now: () => new Date() }
