import { type Clock, systemClock } from '#src/kernel/clock.ts'
import { createTurns } from '../in-turn.ts'
import type { DatabaseTime } from './database-time.ts'

/** The machine's time plus the time the world was advanced by. */
export interface WorldClock extends Clock {
  /** Advances the clock to a time, and that of its database; a past one has no effect. */
  moveTo(time: Date): Promise<void>
  /** Takes a database along from now on. */
  lead(database: DatabaseTime): Promise<void>
}

/** Creates a clock that shows the machine's time until it is advanced. */
export function createWorldClock(): WorldClock {
  const inTurn = createTurns()
  let aheadMs = 0
  let led: DatabaseTime | undefined
  return {
    now: () => new Date(systemClock.now().getTime() + aheadMs),
    moveTo: (time) =>
      inTurn(async () => {
        const ms = time.getTime() - systemClock.now().getTime()
        if (ms <= aheadMs) return
        const advance = () => {
          aheadMs = ms
        }
        if (led === undefined) advance()
        else await led.setAhead(ms, advance)
      }),
    lead: (database) =>
      inTurn(() =>
        database.setAhead(aheadMs, () => {
          led = database
        }),
      ),
  }
}
