import { settleDeposits as settle } from '#src/billing/topups/deposits.ts'
import type { Job } from './define.ts'

/** Finds payments, also without a confirmation by the payer, and credits those deep enough. */
export const settleDeposits: Job = {
  name: 'settle-deposits',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) => settle(app, signal),
}
