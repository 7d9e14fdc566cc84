import { remindDue } from '#src/billing/subscriptions/reminders.ts'
import type { Job } from './define.ts'

/** Sends reminders of coming ends. All other notices are written in the transaction that causes them. */
export const sendNotices: Job = {
  name: 'send-notices',
  role: 'watcher',
  everyMs: () => 30_000,
  run: (app, signal) => remindDue(app, signal),
}
