import { type Clock, systemClock } from '#src/kernel/clock.ts'

/** The machine's time plus the time the world was advanced by. */
export interface WorldClock extends Clock {
  /** Advances the clock to a time; a past one has no effect. */
  moveTo(time: Date): void
}

/** Creates a clock that shows the machine's time until it is advanced. */
export function createWorldClock(): WorldClock {
  let aheadMs = 0
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    moveTo: (time) => {
      aheadMs = Math.max(aheadMs, time.getTime() - systemClock.now().getTime())
    },
  }
}
