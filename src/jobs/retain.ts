import { dropOldAlerts } from '#src/alerts/retention.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Job } from './define.ts'

/** Creates partitions for future alerts and deliveries, and deletes the oldest. */
export const retain: Job = {
  name: 'retain',
  role: 'watcher',
  everyMs: () => HOUR_MS,
  needsAgreedClocks: true,
  run: async (app) => {
    await dropOldDeliveries(app)
    await dropOldAlerts(app)
  },
}
