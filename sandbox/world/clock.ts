import { type Clock, systemClock } from '#src/kernel/clock.ts'

/** The machine's time plus whatever the world has been moved ahead by. */
export interface WorldClock extends Clock {
  /** Puts the clock ahead to a time; one that is past changes nothing. */
  moveTo(time: Date): void
}

/** A clock that agrees with the machine's until it is moved. */
export function createWorldClock(): WorldClock {
  let aheadMs = 0
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    moveTo: (time) => {
      aheadMs = Math.max(aheadMs, time.getTime() - systemClock.now().getTime())
    },
  }
}
