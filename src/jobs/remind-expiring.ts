import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import type { Job } from './define.ts'

/**
 * Reminds of slots and trials that end soon. All other notices are written in the transaction that causes
 * them.
 */
export const remindExpiring: Job = {
  name: 'remind-expiring',
  role: 'watcher',
  everyMs: () => 30_000,
  needsAgreedClocks: true,
  run: (app, signal) => sendDueReminders(app, signal),
}
