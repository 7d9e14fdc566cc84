import { fitChangedWallets } from '#src/watches/manage/slots.ts'
import type { Job } from './define.ts'
import { byTrueClock } from './true-clock.ts'

/**
 * Fits watches to slots. Woken when slots are bought or end; the interval of a minute is for trials, whose
 * end is known in advance. Skipped while the clock is wrong.
 */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  run: byTrueClock((app, signal) => fitChangedWallets(app, signal)),
}
