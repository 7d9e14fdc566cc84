/** Source of the current time for verbs. Tests pass a clock that moves only when set. */
export interface Clock {
  /** The current instant. */
  now(): Date
}

/** Maximum accepted difference between two clocks that should agree. */
export const CLOCK_TOLERANCE_MS = 300_000

/** The machine's clock. No other code reads it. */
export const systemClock: Clock = { now: () => new Date() }

type Instants = readonly (Date | null | undefined)[]

/** The earliest of these instants; null if there is none. */
export function earliest(...instants: Instants): Date | null {
  const times = timesOf(instants)
  return times.length === 0 ? null : new Date(Math.min(...times))
}

/** The latest of these instants; null if there is none. */
export function latest(...instants: Instants): Date | null {
  const times = timesOf(instants)
  return times.length === 0 ? null : new Date(Math.max(...times))
}

function timesOf(instants: Instants): number[] {
  return instants.flatMap((instant) => instant?.getTime() ?? [])
}
