import { renewDue } from '#src/billing/subscriptions/renewal.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/** Renews subscriptions. Skipped while the clock is wrong. */
export const renewSubscriptions: Job = {
  name: 'renew-subscriptions',
  role: 'watcher',
  everyMs: () => 30_000,
  run: byTrueClock((app, signal) => renewDue(app, signal)),
}
