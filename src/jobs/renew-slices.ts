import { SHARE_EVERY_MS } from '#src/db/slices.ts'
import type { Job } from './define.ts'

/** Keeps this process a member of those that share the slices, however long sharing itself takes. */
export const renewSlices: Job = {
  name: 'renew-slices',
  role: 'watcher',
  everywhere: true,
  everyMs: () => SHARE_EVERY_MS,
  pauseMsMax: SHARE_EVERY_MS,
  run: async ({ slices }) => {
    await slices.renew()
  },
}
