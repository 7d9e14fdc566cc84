import { randomBytes } from 'node:crypto'
import { createTransport } from 'nodemailer'
import { getAddress } from 'viem/utils'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { createChannels } from '#src/channels/index.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { createNotices } from '#src/notices/service.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { testClock } from '../support/clock.ts'
import { freshDatabase } from '../support/database.ts'

export const PUBLIC_URL = 'https://watchdog.example.org'
const MAIL_FROM = 'Watchdog <alerts@example.org>'

/** The recipients' room alone: a real database, a real mail server, a stopped clock. */
export async function openRoom() {
  const [database, inbox] = await Promise.all([freshDatabase(), startMailServer()])
  const clock = testClock()
  const warnings: Record<string, unknown>[] = []
  const mailer = createTransport({ url: inbox.url })
  const mail = { mailer, from: MAIL_FROM, publicUrl: PUBLIC_URL }
  const botUsername = () => 'watchdog_test_bot'
  const deps = {
    db: database.db,
    clock,
    log: {
      ...silentLogger,
      warn: (fields: Record<string, unknown>) => void warnings.push(fields),
    },
    quarantine: createQuarantine({ log: silentLogger }),
    box: createSecretBox(Buffer.alloc(32, 7)),
    publicUrl: PUBLIC_URL,
    channels: createChannels({ ...mail, telegram: undefined, allowPrivateUrls: false }),
    botUsername,
    notices: createNotices({
      listChatsShowingTopup: () => Promise.resolve([]),
      clock,
      box: createSecretBox(Buffer.alloc(32, 7)),
      publicUrl: PUBLIC_URL,
      botUsername,
      billing: { serviceTokenSymbol: 'WDG' },
    }),
    mail,
  }
  const signal = new AbortController().signal
  return {
    ...deps,
    deps,
    inbox,
    database,
    /** Logged warnings. */
    warnings,
    /** Sends due mails to the mail server. */
    sendMails: () => sendDueConfirmations(deps, signal),
    /** The code in the newest confirmation mail, or in the newest to one address. */
    newestCode: (to?: string): string => {
      const mail = inbox.mails.findLast((mail) => to === undefined || mail.to === to)
      const link = mail && confirmLinkOf(mail)
      if (link === undefined) throw new Error('no confirmation mail has arrived')
      return new URL(link).pathname.replace('/confirm/', '')
    },
    close: async () => {
      mailer.close()
      await Promise.all([database.drop(), inbox.close()])
    },
  }
}

export type Room = Awaited<ReturnType<typeof openRoom>>

/** A caller that no other test of the file uses. */
export function stranger(): Caller {
  const wallet = getAddress(`0x${randomBytes(20).toString('hex')}`)
  return { wallet, scopes: ['read', 'write', 'spend'], via: 'http' }
}

/** Code and kind of the refusal that a promise rejects with. */
export async function refusal(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => 'nothing was refused',
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error
      const { kind, code, details } = error
      return { kind, code, ...details }
    },
  )
}
