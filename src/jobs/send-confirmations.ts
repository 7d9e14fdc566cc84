import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import type { Job } from './define.ts'

/** Woken by the commit of a mailbox that is to be asked. */
export const sendConfirmations: Job = {
  name: 'send-confirmations',
  role: 'delivery',
  everywhere: true,
  wakeOn: 'confirmations',
  everyMs: () => 5000,
  run: (app, signal) => sendDueConfirmations(app, signal),
}
