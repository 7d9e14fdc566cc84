import type { Clock } from '#src/kernel/clock.ts'

/** A clock that moves only when set. */
export interface TestClock extends Clock {
  advance(seconds: number): void
  set(at: Date): void
}

/** Creates a clock that stands at the given instant. */
export function testClock(at = new Date('2026-11-20T12:00:00.000Z')): TestClock {
  let now = at.getTime()
  return {
    now: () => new Date(now),
    advance: (seconds) => {
      now += seconds * 1000
    },
    set: (next) => {
      now = next.getTime()
    },
  }
}
