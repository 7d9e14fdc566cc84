import { createRequire } from 'node:module'
import type { SendMailOptions, Transporter } from 'nodemailer'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { createMailServerState, type MailServerState, type StateDeps } from './server-state.ts'

const requirePackage = createRequire(import.meta.url)

/** Maximum number of connections to the mail server, and therefore of e-mails in progress. */
export const MAIL_CONNECTIONS = 4
/** Timeout of the mail server at each step of a connection. */
const SMTP_TIMEOUT_MS = 20_000
/** Longest log-in. The timeout of a step does not end one whose server sends a little from time to time. */
const LOGIN_MS = 60_000

/** An e-mail to one mailbox. */
export type OutgoingMail = SendMailOptions & {
  /** Wallet of the mailbox, if the mailbox has agreed to e-mails. It is not sent. */
  readonly owner?: string
}

/** Client of a mail server. */
export interface Mailer {
  /**
   * Sends an e-mail. Resolves when the mail server has accepted it.
   *
   * @throws Error of nodemailer, with the server's `responseCode` if it answered
   */
  sendMail(mail: OutgoingMail): Promise<unknown>
  /** Whether the server refused e-mails to several mailboxes and has accepted none since. */
  refusesMany?(): boolean
}

/** The mail server of this service, with what it answered lately. */
export interface MailServer extends Mailer, Pick<MailServerState, 'problem' | 'failingMs'> {
  refusesMany(): boolean
  /**
   * Connects and logs in, unless the server answered well lately. The state has the result.
   *
   * @throws Error if nodemailer cannot be loaded
   */
  checkLogin(signal: AbortSignal): Promise<void>
}

/**
 * A client that keeps up to `MAIL_CONNECTIONS` connections. nodemailer is loaded with the first use, because
 * it is a tenth of the modules that a start would load, and most processes send none. A failure to load it is that of
 * one use: `require` tries again with the next, where `import()` would fail until the process ends.
 *
 * @param url of the mail server, such as `smtps://user:password@mail.example.org`
 */
export function createMailer(url: string, deps: StateDeps): MailServer {
  const state = createMailServerState(url, deps)
  let transporter: Transporter | undefined
  const open = (): Transporter => {
    const { createTransport }: typeof import('nodemailer') = requirePackage('nodemailer')
    return createTransport({
      url,
      pool: true,
      maxConnections: MAIL_CONNECTIONS,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
    })
  }
  return {
    ...state,
    sendMail: async (mail) => {
      transporter ??= open()
      try {
        const sent = await transporter.sendMail(mail)
        state.accepted()
        return sent
      } catch (error) {
        if (!wasStopped(mail)) state.refused(error, { address: addressOf(mail), owner: mail.owner })
        throw error
      }
    },
    checkLogin: async (signal) => {
      if (!state.isCheckDue()) return
      transporter ??= open()
      const stopped = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => stopped.resolve(), { once: true })
      try {
        const login = Promise.race([transporter.verify(), stopped.promise])
        const isAnswered = await endsWithin(login, LOGIN_MS)
        if (signal.aborted) return
        if (isAnswered) state.loggedIn()
        else state.refused(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }))
      } catch (error) {
        state.refused(error)
      }
    },
  }
}

/** Whether this service stopped the sending, and not a timeout. */
function wasStopped({ signal }: SendMailOptions): boolean {
  return signal?.aborted === true && signal.reason?.name !== 'TimeoutError'
}

function addressOf({ to }: SendMailOptions): string {
  return typeof to === 'object' && 'address' in to ? String(to.address) : String(to)
}
