import { createRequire } from 'node:module'
import type { SendMailOptions, Transporter } from 'nodemailer'

const requirePackage = createRequire(import.meta.url)

/** Maximum number of connections to the mail server, and therefore of e-mails in progress. */
export const MAIL_CONNECTIONS = 4
/** Timeout of the mail server at each step of a connection. */
const SMTP_TIMEOUT_MS = 20_000

/** Client of a mail server. */
export interface Mailer {
  /**
   * Sends an e-mail. Resolves when the mail server has accepted it.
   *
   * @throws Error of nodemailer, with the server's `responseCode` if it answered
   */
  sendMail(mail: SendMailOptions): Promise<unknown>
}

/**
 * A client that keeps up to `MAIL_CONNECTIONS` connections. nodemailer is loaded with the first e-mail, because
 * it is a tenth of the modules that a start would load, and most processes send none. A failure to load it is that of
 * one e-mail: `require` tries again with the next, where `import()` would fail until the process ends.
 *
 * @param url of the mail server, such as `smtps://user:password@mail.example.org`
 */
export function createMailer(url: string): Mailer {
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
    sendMail: async (mail) => {
      transporter ??= open()
      return await transporter.sendMail(mail)
    },
  }
}
