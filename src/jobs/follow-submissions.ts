import { followSubmissions as follow } from '#src/billing/topups/deposits.ts'
import type { Job } from './define.ts'

/** Looks for named transactions: apart from `settle-deposits`, so that unknown ones delay no payment. */
export const followSubmissions: Job = {
  name: 'follow-submissions',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) => follow(app, signal),
}
