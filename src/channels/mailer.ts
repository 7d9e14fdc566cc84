import type { SendMailOptions, Transporter } from 'nodemailer'

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
 * it is a tenth of the modules that a start would load, and most processes send none.
 *
 * @param url of the mail server, such as `smtps://user:password@mail.example.org`
 */
export function createMailer(url: string): Mailer {
  let transporter: Promise<Transporter> | undefined
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
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
      return (await transporter).sendMail(mail)
    },
  }
}
