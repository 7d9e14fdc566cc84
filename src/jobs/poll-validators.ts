import type { Job } from './define.ts'

/** Polls the P-chain for validators, apart from `fetch-publications`, so that no data host delays it. */
export const pollValidators: Job = {
  name: 'poll-validators',
  role: 'watcher',
  everyMs: () => 10_000,
  run: ({ facts }, signal, _notified, fence) => facts.publications.pollValidators(signal, fence),
}
