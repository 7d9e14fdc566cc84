/** Counts of a provider over some days. */
export interface DailyCounts {
  /** Days with rounds. */
  readonly days: number
  /** Rounds with a known result, and those of them with an unfulfilled duty. */
  readonly rounds: number
  readonly badRounds: number
}
