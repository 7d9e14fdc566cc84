import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import type { Job } from './define.ts'

/** Asks the readers of mailboxes for confirmation. Woken by the commit of a new mailbox. */
export const sendConfirmations: Job = {
  name: 'send-confirmations',
  role: 'delivery',
  sends: true,
  everywhere: true,
  wakeOn: 'confirmations',
  everyMs: () => 5000,
  run: (app, signal) => sendDueConfirmations(app, signal),
}
