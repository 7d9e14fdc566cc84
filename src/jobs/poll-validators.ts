import type { Job } from './define.ts'

/** Polls the P-chain for validators. A separate job from `fetch-publications`, so that slow hosts do not delay the polls. */
export const pollValidators: Job = {
  name: 'poll-validators',
  role: 'watcher',
  everyMs: () => 10_000,
  run: ({ facts }, signal, _notified, fence) => facts.publications.pollValidators(signal, fence),
}
