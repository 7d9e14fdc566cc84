/** Start times of rounds and reward epochs, and durations of their parts. Times are epoch seconds. */
export interface ProtocolTiming {
  readonly firstRoundStart: number
  readonly roundSeconds: number
  readonly roundsPerEpoch: number
  /** Time before the end of an epoch at which the next is prepared. */
  readonly initializationSeconds: number
  /** Time from there to the opening of the registration. */
  readonly randomAcquisitionSeconds: number
  readonly registrationSeconds: number
  /** Time after the start of the next epoch at which the vote on uptime opens. */
  readonly uptimeVoteSeconds: number
  /** Time after the start of the next epoch at which rewards are published. */
  readonly publicationSeconds: number
}

/** Flare's timing; the last value is the usual minimum. */
export const FLARE_TIMING: ProtocolTiming = {
  firstRoundStart: 1_658_430_000,
  roundSeconds: 90,
  roundsPerEpoch: 3360,
  initializationSeconds: 7200,
  randomAcquisitionSeconds: 150,
  registrationSeconds: 1800,
  uptimeVoteSeconds: 600,
  publicationSeconds: 9000,
}

/** The round of a time. */
export function roundAt(timing: ProtocolTiming, seconds: number): number {
  return Math.floor((seconds - timing.firstRoundStart) / timing.roundSeconds)
}

/** Start of a round. */
export function roundStart(timing: ProtocolTiming, round: number): number {
  return timing.firstRoundStart + round * timing.roundSeconds
}

/** Expected reward epoch of a time. */
export function epochAt(timing: ProtocolTiming, seconds: number): number {
  return Math.floor(roundAt(timing, seconds) / timing.roundsPerEpoch)
}

/** Expected start of a reward epoch. */
export function epochStart(timing: ProtocolTiming, epoch: number): number {
  return roundStart(timing, epoch * timing.roundsPerEpoch)
}
