import { sendReminders as send } from '#src/alerts/reminders.ts'
import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/** Sends reminders of unacknowledged alerts, and ends mutes. Skipped while the clock is wrong. */
export const sendReminders: Job = {
  name: 'send-reminders',
  role: 'delivery',
  everyMs: () => 5_000,
  run: async (app, signal) => {
    if (await agreesWithDatabase(app)) await send(app, signal)
  },
}
