import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/**
 * A run that is left out, with an error in the log, while this host's clock differs from the database's: a
 * clock that jumps ahead would end terms, charge for them and delete what is not old.
 */
export function byTrueClock(run: Job['run']): Job['run'] {
  return async (app, signal, news, fence) => {
    if (await agreesWithDatabase(app)) await run(app, signal, news, fence)
  }
}
