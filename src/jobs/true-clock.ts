import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/**
 * Wraps a run that is skipped, with an error in the log, while this host's clock differs from the
 * database's: a clock that jumps ahead would end and charge terms early and delete recent data.
 */
export function byTrueClock(run: Job['run']): Job['run'] {
  return async (app, signal, notified, fence) => {
    if (await agreesWithDatabase(app)) await run(app, signal, notified, fence)
  }
}
