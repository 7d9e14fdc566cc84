import { remindDue } from '#src/billing/subscriptions/reminders.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/**
 * Reminds of slots and trials that end soon. All other notices are written in the transaction that causes
 * them. Skipped while the clock is wrong, because reminders of ends that seem to have passed would be lost.
 */
export const remindExpiring: Job = {
  // Metrics and locks keep the job's first name.
  name: 'send-notices',
  role: 'watcher',
  everyMs: () => 30_000,
  run: byTrueClock((app, signal) => remindDue(app, signal)),
}
