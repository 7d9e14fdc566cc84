/** When rounds and reward epochs begin, and how long their parts last. Times are seconds since 1970. */
export interface Timing {
  readonly firstRoundStart: number
  readonly roundSeconds: number
  readonly roundsPerEpoch: number
  /** Before its end an epoch begins to prepare the next. */
  readonly initializationSeconds: number
  /** From there until the registration opens. */
  readonly randomAcquisitionSeconds: number
  readonly registrationSeconds: number
  /** After the beginning of the next epoch the uptime of the last is voted on. */
  readonly uptimeVoteSeconds: number
  /** After the beginning of the next epoch the rewards of the last are published. */
  readonly publicationSeconds: number
}

/** Flare's; the last is what it usually takes at least. */
export const FLARE_TIMING: Timing = {
  firstRoundStart: 1_658_430_000,
  roundSeconds: 90,
  roundsPerEpoch: 3360,
  initializationSeconds: 7200,
  randomAcquisitionSeconds: 150,
  registrationSeconds: 1800,
  uptimeVoteSeconds: 600,
  publicationSeconds: 9000,
}

/** The round under way at a time. */
export function roundAt(timing: Timing, seconds: number): number {
  return Math.floor((seconds - timing.firstRoundStart) / timing.roundSeconds)
}

/** When a round begins. */
export function roundStart(timing: Timing, round: number): number {
  return timing.firstRoundStart + round * timing.roundSeconds
}

/** The reward epoch that is expected at a time. */
export function epochAt(timing: Timing, seconds: number): number {
  return Math.floor(roundAt(timing, seconds) / timing.roundsPerEpoch)
}

/** When a reward epoch is expected to begin. */
export function epochStart(timing: Timing, epoch: number): number {
  return roundStart(timing, epoch * timing.roundsPerEpoch)
}
