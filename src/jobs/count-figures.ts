import { countFigures } from '#src/operations/figures.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

const HALF_MINUTE_MS = 30_000

/** Counts the public figures, so that no reader waits for it. By a clock that is wrong none. */
export const countPublicFigures: Job = {
  name: 'count-figures',
  role: 'watcher',
  everyMs: () => HALF_MINUTE_MS,
  run: byTrueClock(async (app) => {
    await countFigures(app)
  }),
}
