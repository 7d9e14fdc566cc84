import { sendReminders as send } from '#src/alerts/reminders.ts'
import type { Job } from './define.ts'

/** Tells alerts again that nobody acknowledged, and ends mutes. */
export const sendReminders: Job = {
  name: 'send-reminders',
  role: 'delivery',
  everyMs: () => 5_000,
  run: (app, signal) => send(app, signal),
}
