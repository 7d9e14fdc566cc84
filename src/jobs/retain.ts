import { retainAlerts } from '#src/alerts/retention.ts'
import { retainDeliveries } from '#src/delivery/retention.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/** Makes room for the alerts and deliveries to come, and forgets the oldest. By a clock that is wrong neither. */
export const retain: Job = {
  name: 'retain',
  role: 'watcher',
  everyMs: () => HOUR_MS,
  run: byTrueClock(async (app) => {
    await retainDeliveries(app)
    await retainAlerts(app)
  }),
}
