import { agreesWithDatabase } from '#src/db/clock.ts'
import { fitChangedWallets } from '#src/watches/slots.ts'
import type { Job } from './define.ts'

/**
 * Woken when slots are bought or end; the minute is for trials, whose end is known beforehand. By a clock that
 * is wrong nothing ends.
 */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  run: async (app, signal) => {
    if (await agreesWithDatabase(app)) await fitChangedWallets(app, signal)
  },
}
