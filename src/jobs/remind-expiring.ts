import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { unlessClockIsWrong } from './clock-check.ts'
import type { Job } from './define.ts'

/**
 * Reminds of slots and trials that end soon. All other notices are written in the transaction that causes
 * them. Skipped while the clock is wrong: a clock that is ahead would skip the reminder of an end that is
 * still to come.
 */
export const remindExpiring: Job = {
  name: 'remind-expiring',
  role: 'watcher',
  everyMs: () => 30_000,
  run: unlessClockIsWrong((app, signal) => sendDueReminders(app, signal)),
}
