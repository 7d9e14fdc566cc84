import { sendThrottleSummaries } from '#src/alerts/budget.ts'
import { sendSummaries as send } from '#src/alerts/summaries.ts'
import { unlessClockIsWrong } from './clock-check.ts'
import type { Job } from './define.ts'

/**
 * Sends the deliveries deferred by quiet hours, digests, mutes and hourly limits when these end. Skipped
 * while the clock is wrong.
 */
export const sendSummaries: Job = {
  name: 'send-summaries',
  role: 'delivery',
  everyMs: () => 5_000,
  run: unlessClockIsWrong(async (app, signal) => {
    await send(app, signal)
    await sendThrottleSummaries(app, signal)
  }),
}
