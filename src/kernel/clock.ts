/** Source of the current time. Tests pass a clock that stands still until they set it. */
export interface Clock {
  /** The current time. */
  now(): Date
}

/** Maximum difference at which two clocks count as equal: of hosts, the database and the chain. */
export const CLOCK_TOLERANCE_MS = 300_000

/** The time of the machine. No other code of the service reads it; durations are measured with `performance.now()`. */
export const systemClock: Clock = { now: () => new Date() }

/** Times of which some may be missing. */
type Instants = readonly (Date | null | undefined)[]

/** The earliest of these instants; null if there is none. */
export function earliest(...instants: Instants): Date | null {
  const times = timesOf(instants)
  return times.length === 0 ? null : new Date(Math.min(...times))
}

function timesOf(instants: Instants): number[] {
  return instants.flatMap((instant) => instant?.getTime() ?? [])
}
