import { CLOCK_TOLERANCE_MS } from '#src/kernel/clock.ts'
import type { Job } from './define.ts'

/**
 * Wraps a run that is skipped, with an error in the log, while this host's clock differs from the
 * database's by more than five minutes: a clock that jumps ahead would end and charge terms early and
 * delete recent data.
 */
export function unlessClockIsWrong(run: Job['run']): Job['run'] {
  return async (app, signal, notified, fence) => {
    const aheadMs = await app.checkClock()
    if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) await run(app, signal, notified, fence)
    else app.log.error({ aheadMs }, 'clock of this host differs from that of the database')
  }
}
