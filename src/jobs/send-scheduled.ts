import { countIncidents } from '#src/alerts/service.ts'
import { epochReports } from '#src/notices/epoch-report.ts'
import { sendScheduled as send } from '#src/notices/scheduled.ts'
import { weeklyCards } from '#src/notices/weekly.ts'
import type { Job } from './define.ts'

/** Sends the cards of the last week and the reports of the last reward epoch to the wallets that ask for them. */
export const sendScheduled: Job = {
  name: 'send-scheduled',
  role: 'watcher',
  everyMs: () => 300_000,
  needsAgreedClocks: true,
  async run(app, signal) {
    const deps = { ...app, countIncidents }
    for (const schedule of [weeklyCards(deps), await epochReports(deps)]) {
      if (schedule !== undefined) await send(deps, schedule, signal)
    }
  },
}
