import { remindDue } from '#src/billing/subscriptions/reminders.ts'
import type { Job } from './define.ts'

/** Reminds of what ends soon. Everything else is told in the transaction in which it happens. */
export const sendNotices: Job = {
  name: 'send-notices',
  role: 'watcher',
  everyMs: () => 30_000,
  run: (app, signal) => remindDue(app, signal),
}
