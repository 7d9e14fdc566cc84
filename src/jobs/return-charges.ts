import type { Job } from './define.ts'

/** Retries refunds of failed calls, in the process that charged them. */
export const returnCharges: Job = {
  name: 'return-charges',
  role: 'api',
  everywhere: true,
  everyMs: () => 5000,
  run: (app) => app.metering.settleRefunds(),
}
