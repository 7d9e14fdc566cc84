import { CONSENTS_CHANNEL } from '#src/recipients/confirmations.ts'
import type { Job } from './define.ts'

/**
 * Makes the due changes of messages: hides secrets, shows confirmed mailboxes and linked chats. Woken by the confirmation
 * of a mailbox.
 */
export const followUpMessages: Job = {
  name: 'follow-up-messages',
  role: 'bot',
  everywhere: true,
  wakeOn: CONSENTS_CHANNEL,
  everyMs: () => 5000,
  run: async ({ bot }, signal, { payloads }) => bot?.followUp(signal, payloads),
}
