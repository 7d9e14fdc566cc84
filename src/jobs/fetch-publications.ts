import type { Job } from './define.ts'

/** Fetches eligibility and rewards into tables; how often each host is asked is decided there. */
export const fetchPublications: Job = {
  name: 'fetch-publications',
  role: 'watcher',
  everyMs: () => 15_000,
  run: async ({ chain, confirmations, facts }, signal, _news, fence) => {
    const block = await chain.confirmedBlock(confirmations, signal)
    await facts.publications.fetch(block, signal, fence)
  },
}
