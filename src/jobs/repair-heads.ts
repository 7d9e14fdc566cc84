import { repairHeads } from '#src/delivery/claims/repair-heads.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Job } from './define.ts'

/** Finds recipients whose due deliveries no worker would look at. */
export const repairDeliveryHeads: Job = {
  name: 'repair-heads',
  role: 'delivery',
  everyMs: () => 5 * MINUTE_MS,
  run: async (app, signal) => {
    await repairHeads(app, signal)
  },
}
