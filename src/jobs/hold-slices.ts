import { SHARE_EVERY_MS, SLICES_CHANNEL } from '#src/db/slices.ts'
import type { Job } from './define.ts'

/** Keeps this process's share of the slices of targets. Woken when others give slices up. */
export const holdSlices: Job = {
  name: 'hold-slices',
  role: 'watcher',
  everywhere: true,
  wakeOn: SLICES_CHANNEL,
  everyMs: () => SHARE_EVERY_MS,
  // After an outage of the database, this job must not pause for long.
  pauseMsMax: SHARE_EVERY_MS,
  run: async ({ slices }) => {
    await slices.share()
  },
}
