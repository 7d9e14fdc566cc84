import { TOPUPS_CHANNEL } from '#src/billing/topups/model.ts'
import type { Job } from './define.ts'

/**
 * Updates live messages in chats, such as the state of a top-up. Woken by the change of a top-up.
 */
export const showLiveMessages: Job = {
  name: 'show-live-messages',
  role: 'bot',
  everywhere: true,
  wakeOn: TOPUPS_CHANNEL,
  // A message is changed once a second at most; later changes are shown by the next run.
  everyMs: () => 1000,
  run: async ({ bot }, signal, { payloads }) => bot?.showLive(signal, payloads),
}
