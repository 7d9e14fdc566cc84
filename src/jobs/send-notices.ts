import { remindDue } from '#src/billing/subscriptions/reminders.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/**
 * Sends reminders of coming ends. All other notices are written in the transaction that causes them. Skipped
 * while the clock is wrong: reminders of ends that seem to have passed would be lost.
 */
export const sendNotices: Job = {
  name: 'send-notices',
  role: 'watcher',
  everyMs: () => 30_000,
  run: byTrueClock((app, signal) => remindDue(app, signal)),
}
