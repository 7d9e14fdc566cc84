/**
 * How fast a balance is spent, and how long it lasts at that rate. Only decreases count: a top-up is no negative
 * spending. Pure.
 */
import { z } from 'zod'
import { DAY_SECONDS, HOUR_MS, HOUR_SECONDS, MINUTE_MS } from '#src/kernel/durations.ts'
import { Instant, Units } from '#src/kernel/units.ts'

const MINUTE_SECONDS = MINUTE_MS / 1000
const DAY_HOURS = 24
const WEEK_HOURS = 7 * DAY_HOURS
/** Hours of one entry of what was spent more than a day ago, which keeps the state small. */
const OLD_HOURS = 6

/** What was spent of one balance in the last seven days. */
export const Spending = z.object({
  /** Time of the first balance. */
  since: Instant,
  /** The last balance, and its time. */
  at: Instant,
  balance: Units,
  /** Spent amounts by the hour in which they begin, oldest first; older ones by six hours. */
  spent: z.array(z.tuple([z.int(), Units])),
})
export type Spending = z.output<typeof Spending>

function hourOf(at: Date): number {
  return Math.floor(at.getTime() / HOUR_MS)
}

/**
 * Adds a balance. A decrease is spread evenly over the hours since the balance before, so a time without observations
 * does not look like sudden spending.
 */
export function spendingAfter(before: Spending | undefined, at: Date, balance: bigint): Spending {
  if (before === undefined) return { since: at, at, balance, spent: [] }
  const decrease = before.balance > balance ? before.balance - balance : 0n
  const now = hourOf(at)
  const spent = new Map(before.spent)
  if (decrease > 0n) {
    const first = Math.min(now, Math.max(hourOf(before.at) + 1, now - WEEK_HOURS + 1))
    const hours = BigInt(now - first + 1)
    for (let hour = first; hour <= now; hour += 1) {
      const isLast = hour === now
      const part = isLast ? decrease - (decrease / hours) * (hours - 1n) : decrease / hours
      spent.set(hour, (spent.get(hour) ?? 0n) + part)
    }
  }
  return { since: before.since, at, balance, spent: compacted(spent, now) }
}

/** Entries of the last seven days, by hour for the last day and by six hours before. */
function compacted(spent: ReadonlyMap<number, bigint>, now: number): [number, bigint][] {
  const kept = new Map<number, bigint>()
  for (const [hour, units] of spent) {
    if (hour <= now - WEEK_HOURS - OLD_HOURS) continue
    const entry = hour > now - DAY_HOURS ? hour : Math.floor(hour / OLD_HOURS) * OLD_HOURS
    kept.set(entry, (kept.get(entry) ?? 0n) + units)
  }
  return [...kept].toSorted(([a], [b]) => a - b)
}

/** How long a balance lasts at what was spent of it. */
export interface TimeLeft {
  /** Spent a day, at the rate of the last 24 hours. */
  readonly dayUnits: bigint
  /** Spent a day, at the rate of the last seven days, or of the time since the first balance. */
  readonly weekUnits: bigint
  /** Seconds until the balance is used up at the faster of both rates. */
  readonly secondsLeft: number
}

/**
 * How long the balance lasts, by the faster of both rates: after a rise of the gas price the last 24 hours show what
 * counts, and after a quiet day the last seven days do.
 *
 * @returns undefined with less than 24 hours of history; `secondsLeft` is infinite if nothing was spent
 */
export function timeLeft({ since, at, balance, spent }: Spending): TimeLeft | undefined {
  const knownHours = (at.getTime() - since.getTime()) / HOUR_MS
  if (knownHours < DAY_HOURS) return undefined
  const now = hourOf(at)
  const sumSince = (first: number) =>
    spent.reduce((sum, [hour, units]) => (hour >= first ? sum + units : sum), 0n)
  const dayUnits = sumSince(now - DAY_HOURS + 1)
  const weekHours = Math.max(DAY_HOURS, Math.min(WEEK_HOURS, Math.round(knownHours)))
  // Before the first balance nothing was spent, so a shorter time needs no bound.
  const weekStart = knownHours < WEEK_HOURS ? 0 : now - WEEK_HOURS + 1
  const weekUnits = (sumSince(weekStart) * BigInt(DAY_HOURS)) / BigInt(weekHours)
  const faster = dayUnits > weekUnits ? dayUnits : weekUnits
  const secondsLeft =
    faster === 0n ? Number.POSITIVE_INFINITY : Number((balance * BigInt(DAY_SECONDS)) / faster)
  return { dayUnits, weekUnits, secondsLeft }
}

/** Days left up to which an alert is critical. */
const CRITICAL_DAYS = 2
/** An episode ends when the balance lasts this many times as long as the watch asks for. */
const RECOVERY_FACTOR = 1.2

/** Severity of a balance that lasts so long; undefined if it lasts long enough. */
export function daysLeftSeverity(
  secondsLeft: number,
  days: number,
  wasLow: boolean,
): 'warning' | 'critical' | undefined {
  const limit = days * DAY_SECONDS * (wasLow ? RECOVERY_FACTOR : 1)
  if (secondsLeft >= limit) return undefined
  return secondsLeft <= CRITICAL_DAYS * DAY_SECONDS ? 'critical' : 'warning'
}

/** The time left in whole hours, below one hour in whole minutes: seconds, for data that people read. */
export function shownSeconds(secondsLeft: number): number {
  const step = secondsLeft < HOUR_SECONDS ? MINUTE_SECONDS : HOUR_SECONDS
  return Math.floor(secondsLeft / step) * step
}
