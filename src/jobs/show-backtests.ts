import type { Job } from './define.ts'

/** Adds results of backtests to the screens of chats, which do not wait for them. Woken by each such screen. */
export const showBacktests: Job = {
  name: 'show-backtests',
  role: 'bot',
  everywhere: true,
  wakeOn: 'backtests',
  everyMs: () => 10_000,
  run: async ({ bot }, signal) => bot?.showBacktests(signal),
}
