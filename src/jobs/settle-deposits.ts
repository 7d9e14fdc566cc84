import { settleDeposits as settle } from '#src/billing/topups/deposits.ts'
import type { Job } from './define.ts'

/** Finds payments that nobody confirms, and credits what is deep enough. */
export const settleDeposits: Job = {
  name: 'settle-deposits',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) => settle(app, signal),
}
