import { SHARE_INTERVAL_MS } from '#src/db/slices.ts'
import type { Job } from './define.ts'

/**
 * Renews the membership of this process among the processes that share the slices. A separate job from
 * `hold-slices`, so that a slow run of that job does not end the membership.
 */
export const renewSlices: Job = {
  name: 'renew-slices',
  role: 'watcher',
  everywhere: true,
  everyMs: () => SHARE_INTERVAL_MS,
  pauseMsMax: SHARE_INTERVAL_MS,
  run: async ({ slices }) => {
    await slices.renew()
  },
}
