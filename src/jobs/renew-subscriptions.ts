import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { unlessClockIsWrong } from './clock-check.ts'
import type { Job } from './define.ts'

/** Renews subscriptions. Skipped while the clock is wrong. */
export const renewSubscriptions: Job = {
  name: 'renew-subscriptions',
  role: 'watcher',
  everyMs: () => 30_000,
  run: unlessClockIsWrong((app, signal) => renewDueSubscriptions(app, signal)),
}
