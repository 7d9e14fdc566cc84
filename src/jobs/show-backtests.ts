import type { Job } from './define.ts'

/** Adds results of backtests to screens that chats already show. Woken by each screen that needs a result. */
export const showBacktests: Job = {
  name: 'show-backtests',
  role: 'bot',
  everywhere: true,
  wakeOn: 'backtests',
  everyMs: () => 10_000,
  run: async ({ bot }, signal) => bot?.showBacktests(signal),
}
