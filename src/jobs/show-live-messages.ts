import { TOPUPS_CHANNEL } from '#src/billing/topups/model.ts'
import type { Job } from './define.ts'

/** Brings messages in chats that follow something up to date. Woken by the change of a top-up. */
export const showLiveMessages: Job = {
  name: 'show-live-messages',
  role: 'bot',
  everywhere: true,
  wakeOn: TOPUPS_CHANNEL,
  // A message that changed rests for a second; what happens meanwhile is shown after that.
  everyMs: () => 1000,
  run: async ({ bot }, signal, { payloads }) => bot?.showLive(signal, payloads),
}
