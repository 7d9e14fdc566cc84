/**
 * Voting rounds and reward epochs of the Flare Systems Protocol. All instants here are block times in
 * whole epoch seconds, all windows half-open.
 */

/** How a network counts time, as its FlareSystemsManager and Relay say. */
export interface EpochClock {
  /** Start of voting round 0, epoch seconds. */
  readonly firstRoundAtSeconds: number
  readonly roundSeconds: number
  /** Voting round in which reward epoch 0 would have started. */
  readonly firstEpochRound: number
  readonly roundsPerEpoch: number
}

/** After the end of a round, reveals and bit votes count for so long: no contract says it, the protocol does. */
const REVEAL_SECONDS = 45
/** After the end of a round, a signature is rewarded without question up to here; of the protocol too. */
const SIGNATURE_GRACE_SECONDS = 60

/** The voting round a block of that time lies in. */
export function roundAt(clock: EpochClock, atSeconds: number): number {
  return Math.floor((atSeconds - clock.firstRoundAtSeconds) / clock.roundSeconds)
}

/** Start of a voting round, epoch seconds. */
export function roundStart(clock: EpochClock, round: number): number {
  return clock.firstRoundAtSeconds + round * clock.roundSeconds
}

/** First voting round a reward epoch is expected to have; a late signing policy moves the real one. */
export function expectedFirstRound(clock: EpochClock, rewardEpoch: number): number {
  return clock.firstEpochRound + rewardEpoch * clock.roundsPerEpoch
}

/** Start of a reward epoch as expected, epoch seconds. */
export function expectedEpochStart(clock: EpochClock, rewardEpoch: number): number {
  return roundStart(clock, expectedFirstRound(clock, rewardEpoch))
}

/** The windows of one voting round, epoch seconds. Each ends where the next begins. */
export interface RoundWindows {
  /** Commits count from here … */
  readonly start: number
  /** … to here, from where reveals and bit votes count … */
  readonly end: number
  /** … to here, from where signatures count … */
  readonly revealEnd: number
  /** … without question to here … */
  readonly graceEnd: number
  /** … and at all to here. From a block of this time on the round is complete. */
  readonly complete: number
}

/** The windows of a voting round. */
export function windowsOf(clock: EpochClock, round: number): RoundWindows {
  const start = roundStart(clock, round)
  const end = start + clock.roundSeconds
  return {
    start,
    end,
    revealEnd: end + REVEAL_SECONDS,
    graceEnd: end + SIGNATURE_GRACE_SECONDS,
    complete: end + clock.roundSeconds,
  }
}
