import { escalateAndRemind } from '#src/alerts/reminders/reminders.ts'
import type { Job } from './define.ts'

/** Sends due escalations, the alerts of watches whose mute has ended, and reminders of unacknowledged alerts. */
export const sendReminders: Job = {
  name: 'send-reminders',
  role: 'delivery',
  everyMs: () => 5_000,
  needsAgreedClocks: true,
  run: (app, signal) => escalateAndRemind(app, signal),
}
