import { sendThrottleSummaries } from '#src/alerts/budget.ts'
import { sendSummaries as send } from '#src/alerts/summaries.ts'
import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/**
 * Sends the deliveries deferred by quiet hours, digests, mutes and hourly limits when these end. Skipped
 * while the clock is wrong.
 */
export const sendSummaries: Job = {
  name: 'send-summaries',
  role: 'delivery',
  everyMs: () => 5_000,
  run: async (app, signal) => {
    if (!(await agreesWithDatabase(app))) return
    await send(app, signal)
    await sendThrottleSummaries(app, signal)
  },
}
