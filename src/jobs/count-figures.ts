import { refreshStats } from '#src/operations/figures/figures.ts'
import type { Job } from './define.ts'

const HALF_MINUTE_MS = 30_000

/** Counts the public figures in advance, so that requests do not wait for the count. */
export const countFigures: Job = {
  name: 'count-figures',
  role: 'watcher',
  everyMs: () => HALF_MINUTE_MS,
  needsAgreedClocks: true,
  run: async (app) => {
    await refreshStats(app)
  },
}
