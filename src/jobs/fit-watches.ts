import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import type { Job } from './define.ts'

/**
 * Suspends watches of wallets that have lost slots, and resumes watches of wallets that have got slots. Woken
 * when a change of slots is stored. The ends of trials are stored in advance, so the job also runs every minute.
 */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  needsAgreedClocks: true,
  run: (app, signal) => fitWalletsWithChangedSlots(app, signal),
}
