import { fitChangedWallets } from '#src/watches/slots.ts'
import type { Job } from './define.ts'

/** Woken when slots are bought or end; the minute is for trials, whose end is known beforehand. */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  run: (app, signal) => fitChangedWallets(app, signal),
}
