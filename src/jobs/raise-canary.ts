import { raiseCanary } from '#src/alerts/canary.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Job } from './define.ts'

/** Raises the synthetic alert every five minutes, if the operator has a monitor. */
export const raiseCanaryAlert: Job = {
  name: 'raise-canary',
  role: 'watcher',
  everyMs: () => 5 * MINUTE_MS,
  run: async (app) => {
    if (app.heartbeat !== undefined) await raiseCanary(app)
  },
}
