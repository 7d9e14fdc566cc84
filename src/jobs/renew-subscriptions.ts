import { renewDue } from '#src/billing/subscriptions/renewal.ts'
import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/** By a clock that is wrong nothing is charged. */
export const renewSubscriptions: Job = {
  name: 'renew-subscriptions',
  role: 'watcher',
  everyMs: () => 30_000,
  run: async (app, signal) => {
    if (await agreesWithDatabase(app)) await renewDue(app, signal)
  },
}
