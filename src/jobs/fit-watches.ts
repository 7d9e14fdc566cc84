import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { unlessClockIsWrong } from './clock-check.ts'
import type { Job } from './define.ts'

/**
 * Suspends watches of wallets that have lost slots, and resumes watches of wallets that have got slots. Woken
 * when a change of slots is stored. The ends of trials are stored in advance, so the job also runs every minute.
 * Skipped while the clock is wrong.
 */
export const fitWatches: Job = {
  name: 'fit-watches',
  role: 'watcher',
  wakeOn: 'capacity',
  everyMs: () => 60_000,
  run: unlessClockIsWrong((app, signal) => fitWalletsWithChangedSlots(app, signal)),
}
