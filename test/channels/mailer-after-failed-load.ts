/** Sends two e-mails through a mailer whose package cannot be read when the first one is sent; writes both failures. */
import { registerHooks } from 'node:module'
import { createMailer } from '#src/channels/mail/mailer.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'

let isUnreadable = true
registerHooks({
  load: (url, context, next) => {
    if (isUnreadable && url.includes('/nodemailer/')) throw new Error('EMFILE: too many open files')
    return next(url, context)
  },
})

const mailer = createMailer('smtp://127.0.0.1:1', { clock: systemClock, log: silentLogger })
const mail = { from: 'watchdog@example.org', to: 'ops@example.org', text: 'Hello' }

async function failureOf(): Promise<string> {
  return await mailer.sendMail(mail).then(
    () => 'none',
    (error: Error) => error.message,
  )
}

const first = await failureOf()
isUnreadable = false
process.stdout.write(JSON.stringify([first, await failureOf()]))
