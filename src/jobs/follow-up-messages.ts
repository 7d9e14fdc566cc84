import type { Job } from './define.ts'

/** Runs the due follow-ups of messages in chats. */
export const followUpMessages: Job = {
  name: 'follow-up-messages',
  role: 'bot',
  everywhere: true,
  everyMs: () => 5000,
  run: async ({ bot }, signal) => bot?.followUp(signal),
}
