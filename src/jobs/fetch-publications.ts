import type { Job } from './define.ts'

/** Fetches published eligibility and rewards, and stores them. `src/fsp` decides how often it asks each host. */
export const fetchPublications: Job = {
  name: 'fetch-publications',
  role: 'watcher',
  everyMs: () => 15_000,
  run: async ({ chain, confirmations, facts }, signal, _notified, fence) => {
    const block = await chain.confirmedBlock(confirmations, signal)
    await facts.publications.fetch(block, signal, fence)
  },
}
