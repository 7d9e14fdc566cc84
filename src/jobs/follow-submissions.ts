import { followSubmittedTransactions } from '#src/billing/topups/submissions.ts'
import type { Job } from './define.ts'

/** Looks for submitted transactions. A separate job from `settle-deposits`, so that unknown transactions delay no payment. */
export const followSubmissions: Job = {
  name: 'follow-submissions',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) => followSubmittedTransactions(app, signal),
}
