import { sendSummaries as send } from '#src/alerts/summaries.ts'
import type { Job } from './define.ts'

/** Tells what quiet hours, digests and mutes held back, when they end. */
export const sendSummaries: Job = {
  name: 'send-summaries',
  role: 'delivery',
  everyMs: () => 5_000,
  run: (app, signal) => send(app, signal),
}
