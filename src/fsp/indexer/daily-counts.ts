import type { RoundCheck } from '../protocol/verdict.ts'

/** Counts of a provider over some days. */
export interface DailyCounts {
  /** Days with rounds. */
  readonly days: number
  /** Rounds with a known result, and those of them with an unfulfilled duty. */
  readonly rounds: number
  readonly badRounds: number
}

/** Counts of a provider in a reward epoch. */
export interface EpochCounts {
  /** First and last day with a stored round, ISO 8601. */
  readonly firstDay: string
  readonly lastDay: string
  /** Rounds with a known result, and those of them with an unfulfilled duty. */
  readonly rounds: number
  readonly badRounds: number
  /** Of each check: rounds in which it was good or bad, and in which it was bad. */
  readonly checks: Readonly<Record<RoundCheck, { readonly known: number; readonly bad: number }>>
}
