import { sendThrottleSummaries } from '#src/alerts/notify/budget.ts'
import { sendSummaries as send } from '#src/alerts/summaries/summaries.ts'
import type { Job } from './define.ts'

/** Sends the deliveries deferred by quiet hours, digests, mutes and hourly limits when these end. */
export const sendSummaries: Job = {
  name: 'send-summaries',
  role: 'delivery',
  everyMs: () => 5_000,
  needsAgreedClocks: true,
  run: async (app, signal) => {
    await send(app, signal)
    await sendThrottleSummaries(app, signal)
  },
}
