import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Job } from './define.ts'

/**
 * Logs in to the mail server: at the start, each minute while it takes no e-mails, and from time to time while none are
 * sent. So the operator learns of a wrong password before a customer waits for an e-mail.
 */
export const checkMailServer: Job = {
  name: 'check-mail-server',
  role: 'delivery',
  sends: true,
  everywhere: true,
  everyMs: () => MINUTE_MS,
  run: async ({ mailServer }, signal) => {
    await mailServer?.checkLogin(signal)
  },
}
