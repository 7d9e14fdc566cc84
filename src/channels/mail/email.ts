import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isMailbox } from '#src/kernel/mailbox.ts'
import { createWorkLimiter, type WorkLimiter } from '#src/kernel/work-limiter.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type { Envelope, EnvelopeKind } from '../envelope.ts'
import { rateLimitError } from '../requests/http-answer.ts'
import { type ConfirmationRequest, confirmationMail } from './confirmation.ts'
import { alertMail } from './content.ts'
import { MAIL_CONNECTIONS, type Mailer } from './mailer.ts'
import { judgeSmtp, refusalOf } from './smtp-errors.ts'
import type { MailContent } from './text.ts'

const TIMEOUT_MS = 30_000
/** Maximum number of incidents that the headers of an e-mail about several name. */
const THREAD_MAX = 20

/** Maximum time for which an e-mail waits for a connection; then it goes back to the outbox. */
const PATIENCE_MS = 20_000

const MESSAGE_ID = /^<[^\s<>]+>$/

const EmailDestination = z.strictObject({ address: z.string().refine(isMailbox) })
type EmailDestination = z.output<typeof EmailDestination>

/** Dependencies of e-mails. */
export interface MailDeps {
  /** Client of the mail server; undefined if e-mail is not configured. */
  readonly mailer: Mailer | undefined
  /** The sender, `Watchdog <alerts@example.org>`. */
  readonly from: string
  /** Public URL of the service; its host is the right side of every `Message-ID`. */
  readonly publicUrl: string
  /** Timeout of the mail server; 30 seconds by default. */
  readonly timeoutMs?: number
}

const MailPreview = z.object({ subject: z.string(), html: z.string(), text: z.string() })
type MailPreview = z.output<typeof MailPreview>

/** E-mail; unavailable without a mail server. */
export const email = {
  ...USUAL_TRAITS,
  needsConsent: true,
  isPersonal: () => true,
  preview: {
    form: MailPreview,
    write: (envelope, wallet) => {
      const reader = { address: 'you@example.org', wallet, unsubscribeUrl: undefined }
      const { subject, html, text } = alertMail(envelope, reader)
      return { subject, html, text }
    },
  },
  create: createEmail,
} as const satisfies ChannelDefinition<MailPreview, MailDeps>

function createEmail(deps: MailDeps): Channel<unknown> {
  return defineChannel<EmailDestination>({
    destination: EmailDestination,
    form: {
      parts: ['address'],
      required: 'address',
      check: () => [],
      make: ({ address = '' }) => ({ destination: { address }, isAddressChanged: true }),
      change: (before, { address }) =>
        address === undefined || address.toLowerCase() === before.address.toLowerCase()
          ? undefined
          : { destination: { address }, isAddressChanged: true },
    },
    limits: { capacity: MAIL_CONNECTIONS, initialLimit: 2, limitMax: MAIL_CONNECTIONS - 1 },
    isOneService: true,
    available: () => deps.mailer !== undefined,
    mask: ({ address }) =>
      `${address.slice(0, firstLength(address))}…${address.slice(atOf(address))}`,
    partitionKey: ({ address }) => address.slice(atOf(address) + 1).toLowerCase(),
    send: (destination, envelope, context) => sendAlert(deps, destination, envelope, context),
  })
}

/**
 * Sends the e-mail that asks an address for its consent. No other e-mail is sent to the address before it
 * has agreed.
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
    messageId: bracketed(deps, createHash('sha256').update(request.url).digest('hex').slice(0, 32)),
    ancestors: [],
    date: request.askedAt,
    headers: {},
    signal,
  })
}

async function sendAlert(
  deps: MailDeps,
  { address }: EmailDestination,
  envelope: Envelope,
  context: SendContext,
): Promise<Receipt> {
  const { unsubscribeUrl, wallet, now, signal } = context
  const messageId = bracketed(deps, envelope.deliveryId)
  await sendMail(deps, {
    to: address,
    content: alertMail(envelope, { address, wallet, unsubscribeUrl }, now),
    messageId,
    ...threadOf(deps, envelope, { address, context }),
    owner: wallet,
    date: now,
    headers: unsubscribeUrl === undefined ? {} : unsubscribeHeaders(unsubscribeUrl),
    signal,
  })
  return { messageId }
}

/** Kinds of e-mails that are about incidents of one watch; others have no thread. */
const THREADED: readonly EnvelopeKind[] = ['alert', 'raised', 'reminder', 'group']

/**
 * The thread of an e-mail is that of its incidents. All e-mails about an incident name its id, which follows from incident
 * and mailbox and is the id of no e-mail, so that they are one thread also if the first one is not known any more. Later
 * ones reply to the first one.
 */
function threadOf(
  deps: MailDeps,
  { kind = 'alert', message, items = [] }: Envelope,
  { address, context }: { readonly address: string; readonly context: SendContext },
): Pick<OutgoingMail, 'ancestors' | 'parent'> {
  if (!THREADED.includes(kind)) return { ancestors: [] }
  const incidentIds = [...items, message].flatMap(({ incidentId }) => incidentId ?? [])
  const roots = [...new Set(incidentIds)]
    .slice(-THREAD_MAX)
    .map((id) => bracketed(deps, idOfIncident(id, address, context.wallet)))
  const answered = (context.answeredMessageIds ?? []).filter((id) => MESSAGE_ID.test(id))
  const parent = answered.at(-1)
  return { ancestors: [...roots, ...answered], ...(parent !== undefined && { parent }) }
}

function idOfIncident(incidentId: number, address: string, wallet: string): string {
  const about = `${wallet} ${incidentId} ${address.toLowerCase()}`
  const digest = createHash('sha256').update(about).digest('hex').slice(0, 24)
  return `incident-${incidentId}-${digest}`
}

function bracketed({ publicUrl }: MailDeps, id: string): string {
  return `<${id}@${new URL(publicUrl).hostname}>`
}

/** @see RFC 8058 */
function unsubscribeHeaders(url: string): Record<string, string> {
  return {
    'List-Unsubscribe': `<${new URL(url).href}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

/** An e-mail that is about to be sent. */
interface OutgoingMail {
  readonly to: string
  readonly content: MailContent
  /** Message id, in angle brackets. */
  readonly messageId: string
  /** Message ids of the thread: those of its incidents, then of earlier e-mails. */
  readonly ancestors: readonly string[]
  /** Message id of the e-mail to which this one replies. */
  readonly parent?: string
  /** Wallet of the mailbox, if the mailbox has agreed to e-mails and therefore existed. */
  readonly owner?: string
  readonly date: Date
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

async function sendMail(
  { mailer, from, timeoutMs = TIMEOUT_MS }: MailDeps,
  mail: OutgoingMail,
): Promise<void> {
  if (mailer === undefined) throw new DeliveryError('unavailable', { isOurFault: true })
  const { ancestors, parent, signal } = mail
  const send = () =>
    mailer.sendMail({
      from,
      to: { name: '', address: mail.to },
      ...mail.content,
      messageId: mail.messageId,
      ...(parent === undefined ? {} : { inReplyTo: parent }),
      ...(ancestors.length === 0 ? {} : { references: [...ancestors] }),
      date: mail.date,
      ...(mail.owner !== undefined && { owner: mail.owner }),
      headers: {
        'Auto-Submitted': 'auto-generated',
        'X-Auto-Response-Suppress': 'All',
        ...mail.headers,
      },
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
  await connectionsOf(mailer).take(
    () => send().catch((error: unknown) => refuse(mailer, error, signal)),
    signal,
  )
}

/** Throws what a failure of the mail server means for the outbox. */
function refuse(mailer: Mailer, error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted()
  const failure = judgeSmtp(error)
  if (refusalOf(failure) === undefined || mailer.refusesMany?.() !== true) throw failure
  const { statusCode } = failure
  throw new DeliveryError('mail_outage', {
    isOurFault: true,
    ...(statusCode !== undefined && { statusCode }),
  })
}

const connections = new WeakMap<Mailer, WorkLimiter>()

/** Connections of a mailer: an e-mail waits for one before its time limit begins, and then goes back to the outbox. */
function connectionsOf(mailer: Mailer): WorkLimiter {
  const known = connections.get(mailer)
  if (known !== undefined) return known
  const created = createWorkLimiter({
    runningMax: MAIL_CONNECTIONS,
    waitingMax: Number.POSITIVE_INFINITY,
    waitMs: PATIENCE_MS,
    refusal: () => rateLimitError(1),
  })
  connections.set(mailer, created)
  return created
}

function atOf(address: string): number {
  return address.lastIndexOf('@')
}

function firstLength(address: string): number {
  return address.codePointAt(0) === address.charCodeAt(0) ? 1 : 2
}
