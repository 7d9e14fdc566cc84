/**
 * Voting rounds and reward epochs of the Flare Systems Protocol. All instants here are block times in whole seconds
 * since 1970. A window includes its start and excludes its end.
 */

/** The time settings of a network, from its FlareSystemsManager and Relay. */
export interface EpochSettings {
  /** Start of voting round 0, epoch seconds. */
  readonly firstRoundAtSeconds: number
  readonly roundSeconds: number
  /** Voting round in which reward epoch 0 would have started. */
  readonly firstEpochRound: number
  readonly roundsPerEpoch: number
}

/**
 * Time after the end of a round in which reveals and bit votes count; a constant of the protocol that no
 * contract returns.
 */
const REVEAL_SECONDS = 45
/** Time after the end of a round in which signatures are always rewarded; a constant of the protocol. */
const SIGNATURE_GRACE_SECONDS = 60

/** The voting round of a block time. */
export function roundAt(clock: EpochSettings, atSeconds: number): number {
  return Math.floor((atSeconds - clock.firstRoundAtSeconds) / clock.roundSeconds)
}

/** Start of a voting round, epoch seconds. */
export function roundStart(clock: EpochSettings, round: number): number {
  return clock.firstRoundAtSeconds + round * clock.roundSeconds
}

/** Expected first voting round of a reward epoch; a late signing policy delays the real one. */
export function expectedFirstRound(clock: EpochSettings, rewardEpoch: number): number {
  return clock.firstEpochRound + rewardEpoch * clock.roundsPerEpoch
}

/** Expected start of a reward epoch, epoch seconds. */
export function expectedEpochStart(clock: EpochSettings, rewardEpoch: number): number {
  return roundStart(clock, expectedFirstRound(clock, rewardEpoch))
}

/** The windows of one voting round, epoch seconds. Each ends where the next begins. */
export interface RoundWindows {
  /** Commits count from here up to `end`. */
  readonly start: number
  /** Reveals and bit votes count from here up to `revealEnd`. */
  readonly end: number
  /** Signatures count from here. */
  readonly revealEnd: number
  /** Signatures are always rewarded up to here. */
  readonly graceEnd: number
  /** Signatures count up to here. The first block at or after this time completes the round. */
  readonly complete: number
}

/** The windows of a voting round. */
export function roundWindowsOf(clock: EpochSettings, round: number): RoundWindows {
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
