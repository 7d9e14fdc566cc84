import { SHARE_INTERVAL_MS, SLICES_CHANNEL } from '#src/db/slices.ts'
import type { Job } from './define.ts'

/** Takes and gives up slices, so that this process has its share of them. Woken when another process gives slices up. */
export const holdSlices: Job = {
  name: 'hold-slices',
  role: 'watcher',
  everywhere: true,
  wakeOn: SLICES_CHANNEL,
  everyMs: () => SHARE_INTERVAL_MS,
  // After an outage of the database, this job must not pause for long.
  pauseMsMax: SHARE_INTERVAL_MS,
  run: async ({ slices }) => {
    await slices.share()
  },
}
