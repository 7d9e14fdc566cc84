import type { Job } from './define.ts'

/** Charges of failed calls that could not be given back at once: in the process that made them. */
export const returnCharges: Job = {
  name: 'return-charges',
  role: 'api',
  everywhere: true,
  everyMs: () => 5000,
  run: (app) => app.metering.settleDebts(),
}
