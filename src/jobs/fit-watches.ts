import { fitChangedWallets } from '#src/watches/manage/slots.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/**
 * Woken when slots are bought or end; the minute is for trials, whose end is known beforehand. By a clock that
 * is wrong nothing ends.
 */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  run: byTrueClock((app, signal) => fitChangedWallets(app, signal)),
}
