import { CONNECTS_CHANNEL } from '#src/recipients/connect.ts'
import type { Job } from './define.ts'

/** Notifies chats of the outcome of their connect codes. Woken by the commit of an outcome. */
export const notifyConnectOutcomes: Job = {
  name: 'notify-connect-outcomes',
  role: 'bot',
  everywhere: true,
  wakeOn: CONNECTS_CHANNEL,
  everyMs: () => 5000,
  run: async ({ bot }, signal) => bot?.notifyConnectOutcomes(signal),
}
