import type { Sql } from '#src/db/connection.ts'
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

/** A clock that runs: every reading is a millisecond later, so that two readings never agree. */
export function runningClock(clock = testClock()): TestClock {
  return {
    ...clock,
    now: () => {
      clock.advance(0.001)
      return clock.now()
    },
  }
}

/** Sets a clock to the database's time plus milliseconds. */
export async function setToDatabaseTime(
  clock: Pick<TestClock, 'set'>,
  sql: Sql,
  offsetMs = 0,
): Promise<void> {
  const [row] = await sql<{ ms: string }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`
  clock.set(new Date(Number(row?.ms) + offsetMs))
}
