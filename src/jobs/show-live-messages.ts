import { TOPUPS_CHANNEL } from '#src/billing/topups/model.ts'
import { CONSENTS_CHANNEL } from '#src/recipients/confirmations.ts'
import { CONNECTS_CHANNEL } from '#src/recipients/connect.ts'
import type { Job } from './define.ts'

/**
 * Changes messages in chats later, such as that of a top-up when it is paid, or that with a secret after ten minutes. Woken
 * by changes of the subjects: top-ups, confirmed mailboxes, connect codes; and by the bot itself.
 */
export const showLiveMessages: Job = {
  name: 'show-live-messages',
  role: 'bot',
  sends: true,
  everywhere: true,
  wakeOn: [TOPUPS_CHANNEL, CONSENTS_CHANNEL, CONNECTS_CHANNEL, 'live_messages'],
  // A message is changed once a second at most; later changes are shown by the next run.
  everyMs: () => 1000,
  run: async ({ bot }, signal, { payloads }) => bot?.showLive(signal, payloads),
}
