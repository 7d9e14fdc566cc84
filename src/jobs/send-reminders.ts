import { sendReminders as send } from '#src/alerts/reminders.ts'
import { agreesWithDatabase } from '#src/db/clock.ts'
import type { Job } from './define.ts'

/** Tells alerts again that nobody acknowledged, and ends mutes. Not by a clock that is wrong. */
export const sendReminders: Job = {
  name: 'send-reminders',
  role: 'delivery',
  everyMs: () => 5_000,
  run: async (app, signal) => {
    if (await agreesWithDatabase(app)) await send(app, signal)
  },
}
