import type { Job } from './define.ts'

/** Makes the automatic changes of messages in chats that are due. */
export const followUpMessages: Job = {
  name: 'follow-up-messages',
  role: 'bot',
  everywhere: true,
  everyMs: () => 5000,
  run: async ({ bot }, signal) => bot?.followUp(signal),
}
