/** The rounds of a provider in a week, counted by day. Pure. */
import { DUTIES, dutyResultOf, dutyResultsOf, isBadResult } from './provider-rounds.ts'

/** Rounds whose results are known, and those of them with an unfulfilled duty. */
export interface CountedRounds {
  readonly known: number
  readonly bad: number
}

/** Counts of a provider's week. */
export interface WeekCounts {
  /** One for each day, oldest first. */
  readonly days: CountedRounds[]
  readonly rounds: CountedRounds
  readonly duties: CountedRounds
}

/**
 * Counts the rounds and duties of a week.
 *
 * @param starts starts of its days, oldest first @param rounds rounds that began in the week
 */
export function countWeek(
  starts: readonly Date[],
  rounds: readonly ({ readonly startsAt: Date } & Parameters<typeof dutyResultsOf>[0])[],
): WeekCounts {
  const days = starts.map(() => ({ known: 0, bad: 0 }))
  const duties = { known: 0, bad: 0 }
  for (const round of rounds) {
    const results = dutyResultsOf(round)
    const known = DUTIES.map((duty) => dutyResultOf(results, duty)).filter(
      (result) => result !== 'unknown',
    )
    const bad = known.filter(isBadResult).length
    const day = days[starts.findLastIndex((start) => start <= round.startsAt)]
    if (known.length === 0 || day === undefined) continue
    day.known += 1
    day.bad += bad > 0 ? 1 : 0
    duties.known += known.length
    duties.bad += bad
  }
  const sum = (of: keyof CountedRounds) => days.reduce((total, day) => total + day[of], 0)
  return { days, rounds: { known: sum('known'), bad: sum('bad') }, duties }
}
