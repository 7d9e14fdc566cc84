import type { Job } from './define.ts'

/** Fetches eligibility and rewards into tables; `src/fsp` decides about the interval of each host. */
export const fetchPublications: Job = {
  name: 'fetch-publications',
  role: 'watcher',
  everyMs: () => 15_000,
  run: async ({ chain, confirmations, facts }, signal, _notified, fence) => {
    const block = await chain.confirmedBlock(confirmations, signal)
    await facts.publications.fetch(block, signal, fence)
  },
}
