import { settlePayments } from '#src/billing/topups/scan.ts'
import type { Job } from './define.ts'

/**
 * Finds payments, even if the payer submitted no transaction, and credits payments that are deep enough.
 */
export const settleDeposits: Job = {
  name: 'settle-deposits',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: (app, signal) => settlePayments(app, signal),
}
