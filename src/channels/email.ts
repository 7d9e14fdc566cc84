import { createHash } from 'node:crypto'
import type { Transporter } from 'nodemailer'
import { z } from 'zod'
import {
  type Channel,
  DeliveryError,
  defineChannel,
  type Envelope,
  type Receipt,
  type SendContext,
} from './define.ts'
import {
  alertMail,
  type ConfirmationRequest,
  confirmationMail,
  type MailContent,
} from './mail-content.ts'
import { judgeSmtp } from './smtp-errors.ts'

const TIMEOUT_MS = 30_000

/** A mailbox. Nothing in it can end a header line or name a second one. */
const EmailDestination = z.strictObject({
  address: z
    .string()
    .max(254)
    .regex(/^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]+$/u),
})
type EmailDestination = z.output<typeof EmailDestination>

/** What takes mails: nodemailer's transport, made from `SMTP_URL`. */
type Mailer = Pick<Transporter, 'sendMail'>

/** What every mail needs. */
export interface MailDeps {
  /** undefined: mail is not set up. */
  readonly mailer: Mailer | undefined
  /** The sender, `Watchdog <alerts@example.org>`. */
  readonly from: string
  /** The service's address; its host is the right side of every `Message-ID`. */
  readonly publicUrl: string
  /** Longest wait for the server to take a mail; 30 seconds unless given. */
  readonly timeoutMs?: number
}

/** Writes mails; without a mail server the channel is off. */
export function createEmail(deps: MailDeps): Channel<unknown> {
  return defineChannel<EmailDestination>({
    key: 'email',
    kind: 'input',
    destination: EmailDestination,
    available: () => deps.mailer !== undefined,
    mask: ({ address }) =>
      `${address.slice(0, firstLength(address))}…${address.slice(atOf(address))}`,
    lane: ({ address }) => address.slice(atOf(address) + 1).toLowerCase(),
    send: (destination, envelope, context) => sendAlert(deps, destination, envelope, context),
  })
}

/**
 * Sends the mail that asks an address for its consent. Nothing else goes there before.
 *
 * @throws DeliveryError
 */
export async function sendConfirmation(
  deps: MailDeps,
  request: ConfirmationRequest,
  signal: AbortSignal,
): Promise<void> {
  const { address } = EmailDestination.parse({ address: request.address })
  await sendMail(deps, {
    to: address,
    content: confirmationMail(request),
    messageId: createHash('sha256').update(request.url).digest('hex').slice(0, 32),
    date: request.askedAt,
    headers: {},
    signal,
  })
}

async function sendAlert(
  deps: MailDeps,
  { address }: EmailDestination,
  envelope: Envelope,
  { unsubscribeUrl, wallet, now, signal }: SendContext,
): Promise<Receipt> {
  const headers = unsubscribeUrl === undefined ? {} : unsubscribeHeaders(unsubscribeUrl)
  await sendMail(deps, {
    to: address,
    content: alertMail(envelope, { address, wallet, unsubscribeUrl }),
    messageId: envelope.deliveryId,
    date: now,
    headers,
    signal,
  })
  return {}
}

/** @see RFC 8058 */
function unsubscribeHeaders(url: string): Record<string, string> {
  return {
    'List-Unsubscribe': `<${new URL(url).href}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

async function sendMail(
  { mailer, from, publicUrl, timeoutMs = TIMEOUT_MS }: MailDeps,
  mail: {
    readonly to: string
    readonly content: MailContent
    readonly messageId: string
    readonly date: Date
    readonly headers: Readonly<Record<string, string>>
    readonly signal: AbortSignal
  },
): Promise<void> {
  if (mailer === undefined) throw new DeliveryError('unavailable', { ours: true })
  try {
    await mailer.sendMail({
      from,
      to: { name: '', address: mail.to },
      ...mail.content,
      messageId: `<${mail.messageId}@${new URL(publicUrl).hostname}>`,
      date: mail.date,
      headers: {
        'Auto-Submitted': 'auto-generated',
        'X-Auto-Response-Suppress': 'All',
        ...mail.headers,
      },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: AbortSignal.any([mail.signal, AbortSignal.timeout(timeoutMs)]),
    })
  } catch (error) {
    mail.signal.throwIfAborted()
    throw judgeSmtp(error)
  }
}

function atOf(address: string): number {
  return address.lastIndexOf('@')
}

function firstLength(address: string): number {
  return address.codePointAt(0) === address.charCodeAt(0) ? 1 : 2
}
