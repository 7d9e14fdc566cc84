import type { Job } from './define.ts'

/** Reads voting rounds of every provider, watched or not. */
export const scanRounds: Job = {
  name: 'scan-rounds',
  role: 'watcher',
  everyMs: ({ evaluationIntervalMs }) => evaluationIntervalMs,
  run: async ({ chain, confirmations, facts }, signal, _notified, fence) => {
    await facts.rounds.advance(await chain.confirmedBlock(confirmations, signal), signal, fence)
  },
}
