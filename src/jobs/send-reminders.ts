import { escalateAndRemind } from '#src/alerts/reminders.ts'
import { unlessClockIsWrong } from './clock-check.ts'
import type { Job } from './define.ts'

/**
 * Sends due escalations, the alerts of watches whose mute has ended, and reminders of unacknowledged alerts.
 * Skipped while the clock is wrong.
 */
export const sendReminders: Job = {
  name: 'send-reminders',
  role: 'delivery',
  everyMs: () => 5_000,
  run: unlessClockIsWrong((app, signal) => escalateAndRemind(app, signal)),
}
