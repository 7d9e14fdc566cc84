import { type Clock, systemClock } from '#src/kernel/clock.ts'

/** The machine's time plus whatever the world has been moved ahead by. */
export interface WorldClock extends Clock {
  /** Puts the clock ahead. */
  moveAhead(seconds: number): void
}

/** A clock that agrees with the machine's until it is moved. */
export function createWorldClock(): WorldClock {
  let aheadMs = 0
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    moveAhead: (seconds) => {
      aheadMs += seconds * 1000
    },
  }
}
