import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import type { Job } from './define.ts'

/** Renews subscriptions. */
export const renewSubscriptions: Job = {
  name: 'renew-subscriptions',
  role: 'watcher',
  everyMs: () => 30_000,
  needsAgreedClocks: true,
  run: (app, signal) => renewDueSubscriptions(app, signal),
}
