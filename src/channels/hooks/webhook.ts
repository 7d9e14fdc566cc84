import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { CANARY_WEBHOOK_URL } from '#src/kernel/canary.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { memoized } from '#src/kernel/memoized.ts'
import { JsonObject } from '#src/kernel/units.ts'
import {
  type Channel,
  type ChannelDefinition,
  defineChannel,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type { DestinationForm } from '../destination-form.ts'
import { ChainMessage, type Envelope, type EnvelopeKind, type Message } from '../envelope.ts'
import { refusalOf } from '../requests/http-answer.ts'
import { checkUserUrl } from '../requests/safe-fetch.ts'
import { type HookDeps, RequestBodyPreview } from './hook-url.ts'

/** Hours for which both secrets sign after a rotation. */
const ROTATION_OVERLAP_HOURS = 24
const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'

const Secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/)

/** URL and secrets of a webhook. `nextSecret` replaces `secret` 24 h after `rotatedAt`. */
export const WebhookDestination = z.strictObject({
  url: z.string(),
  secret: Secret,
  nextSecret: Secret.optional(),
  rotatedAt: z.iso.datetime().optional(),
})
export type WebhookDestination = z.output<typeof WebhookDestination>

/**
 * Body of a webhook, version 2. All properties are always present; receivers must tolerate additional ones
 * inside `data` and `renderedMessage`. Descriptions are text keys, as in every published schema.
 */
export const WebhookPayload = z
  .strictObject({
    payloadVersion: z.literal(2).meta({ description: 'operations:field.webhook.payloadVersion' }),
    signal: z.string().nullable().meta({ description: 'operations:field.webhook.signal' }),
    group: z.string().nullable().meta({ description: 'operations:field.webhook.group' }),
    deliveryId: z.uuid().meta({ description: 'operations:field.webhook.deliveryId' }),
    alertId: z.int().nullable().meta({ description: 'operations:field.webhook.alertId' }),
    watchId: z.int().nullable().meta({ description: 'operations:field.webhook.watchId' }),
    label: z.string().nullable().meta({ description: 'operations:field.webhook.label' }),
    type: z.string().nullable().meta({ description: 'operations:field.webhook.type' }),
    event: z.string().meta({ description: 'operations:field.webhook.event' }),
    severity: z.enum(SEVERITIES).meta({ description: 'operations:field.webhook.severity' }),
    data: JsonObject.meta({ description: 'operations:field.webhook.data' }),
    firedAt: z.iso.datetime().meta({ description: 'operations:field.webhook.firedAt' }),
    rendered: z
      .strictObject({
        locale: z.enum(LOCALES),
        title: z.string(),
        body: z.string(),
      })
      .meta({ description: 'operations:field.webhook.rendered' }),
    renderedMessage: ChainMessage.meta({ description: 'operations:field.webhook.renderedMessage' }),
  })
  .meta({ id: 'WebhookPayload' })

/**
 * Headers of a delivery in addition to those of HTTP, with the deliveries that have them and their JSON
 * Schemas.
 */
export const WEBHOOK_HEADERS = [
  { name: 'X-Watchdog-Timestamp', isAlwaysSent: true, schema: { type: 'integer' } },
  {
    name: 'X-Watchdog-Signature',
    isAlwaysSent: true,
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  {
    name: 'X-Watchdog-Signature-Next',
    isAlwaysSent: false,
    schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
  },
  { name: 'X-Watchdog-Delivery', isAlwaysSent: true, schema: { type: 'string', format: 'uuid' } },
  { name: 'X-Watchdog-Event', isAlwaysSent: true, schema: { type: 'string' } },
  { name: 'X-Watchdog-Test', isAlwaysSent: false, schema: { type: 'string', const: 'true' } },
  { name: 'X-Watchdog-Attempt', isAlwaysSent: true, schema: { type: 'integer', minimum: 1 } },
  { name: 'webhook-id', isAlwaysSent: true, schema: { type: 'string', format: 'uuid' } },
  { name: 'webhook-timestamp', isAlwaysSent: true, schema: { type: 'integer' } },
  { name: 'webhook-signature', isAlwaysSent: true, schema: { type: 'string' } },
] as const

/**
 * Kinds of messages that webhooks get. Each alert is sent separately; summaries and notices are for people.
 */
const SENT_KINDS: readonly EnvelopeKind[] = ['alert', 'raised']

interface Deps extends HookDeps {
  /** Headers by which a test receiver of this service knows that this service sent the body; none for other URLs. */
  readonly prove?: (url: string, body: string) => Readonly<Record<string, string>>
  /** Groups of a host. */
  readonly groupsOf?: (host: string) => readonly string[]
}

/** Signed JSON by POST. */
export const webhook = {
  ...USUAL_TRAITS,
  isProgrammatic: true,
  canAcknowledge: false,
  groups: false,
  signingKey: (destination) => {
    const { secret, nextSecret, rotatedAt } = WebhookDestination.parse(destination)
    return { key: nextSecret ?? secret, since: rotatedAt ? new Date(rotatedAt) : undefined }
  },
  preview: { form: RequestBodyPreview, write: (envelope) => ({ body: webhookBody(envelope) }) },
  create: createWebhook,
} as const satisfies ChannelDefinition<RequestBodyPreview, Deps>

function createWebhook(deps: Deps): Channel<unknown> {
  return defineChannel<WebhookDestination>({
    destination: WebhookDestination,
    form: webhookForm(deps.allowPrivate),
    limits: { capacity: 256, initialLimit: 8, limitMax: 64 },
    available: () => true,
    mask: ({ url }) => maskUrl(url),
    partitionKey: ({ url }) => URL.parse(url)?.host ?? url,
    ...(deps.groupsOf && { groupsOf: deps.groupsOf }),
    send: async (destination, envelope, context) => {
      const { kind = 'alert' } = envelope
      if (!SENT_KINDS.includes(kind)) throw new Error(`webhooks are not notified of a ${kind}`)
      const body = webhookBody(envelope)
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': deps.userAgent,
        ...signedHeaders(destination, envelope, body, context),
        ...deps.prove?.(destination.url, body),
      }
      if (destination.url === CANARY_WEBHOOK_URL) return { statusCode: 200 }
      const answer = await deps.post(destination.url, {
        headers,
        body,
        signal: context.signal,
        timeoutMs: context.timeoutMs,
      })
      const refusal = refusalOf(answer, { gone: [410], now: context.now })
      if (refusal !== undefined) throw refusal
      return { statusCode: answer.statusCode }
    },
  })
}

/**
 * A secret belongs to its URL: another URL gets another secret, so that the receiver at the old URL cannot
 * sign requests to the new URL. Rotation keeps the URL and lets both secrets sign for 24 h.
 */
function webhookForm(allowPrivate: boolean): DestinationForm<WebhookDestination> {
  const make = (url: string) => {
    const secret = makeSecret()
    return { destination: { url, secret }, secret, isAddressChanged: true }
  }
  return {
    parts: ['url', 'rotateSecret'],
    required: 'url',
    check: ({ url }) =>
      url === undefined || checkUserUrl(url, allowPrivate) === undefined
        ? []
        : [{ pointer: '/url', code: 'url' }],
    make: ({ url = '' }) => make(url),
    change: (before, { url, rotateSecret: isRotated }, now) => {
      if (url !== undefined && URL.parse(url)?.href !== URL.parse(before.url)?.href) {
        return make(url)
      }
      if (!isRotated) return undefined
      const secret = makeSecret()
      return { destination: rotateSecret(before, secret, now), secret, isAddressChanged: false }
    },
  }
}

/** Number of characters at the end of a URL that are shown. */
const ENDING_LENGTH = 4

/** The host of a URL, and the last characters if there is more than the host. */
export function maskUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null) return '…'
  const rest = `${url.pathname}${url.search}${url.hash}`.slice(1)
  if (rest === '') return url.host
  return `${url.host}/…${rest.length > ENDING_LENGTH ? rest.slice(-ENDING_LENGTH) : ''}`
}

/**
 * Body of a webhook, version 2: the exact string that is sent and signed. Envelopes are validated where
 * they are read, so the body is not validated again by `WebhookPayload`.
 */
export function webhookBody(envelope: Envelope): string {
  const { message } = envelope
  const chain = servedChain()
  const body: z.input<typeof WebhookPayload> = {
    payloadVersion: 2,
    signal: envelope.signal,
    group: envelope.group,
    deliveryId: envelope.deliveryId,
    alertId: message.alertId,
    watchId: message.watchId,
    label: message.watchLabel,
    type: envelope.type,
    event: message.event,
    severity: message.severity,
    data: envelope.data,
    firedAt: message.firedAt,
    rendered: { locale: envelope.locale, title: message.title, body: message.body },
    renderedMessage: { ...publicMessage(message), chainId: chain.id, network: chain.key },
  }
  return JSON.stringify(body)
}

/** The properties of a message that are published. */
function publicMessage(message: Message): Message {
  return {
    alertId: message.alertId,
    incidentId: message.incidentId,
    watchId: message.watchId,
    watchLabel: message.watchLabel,
    event: message.event,
    severity: message.severity,
    title: message.title,
    body: message.body,
    fields: message.fields.map(({ key, label, value, href }) => ({
      ...{ key, label, value },
      ...(href !== undefined && { href }),
    })),
    link: message.link,
    firedAt: message.firedAt,
    test: message.test,
  }
}

const KEYS_MAX = 1000
/** The key of `signStandard`: to make it takes as long as to sign with it. */
const standardKey = memoized(KEYS_MAX, (secret) =>
  createSecretKey(secret.slice(SECRET_PREFIX.length), 'base64'),
)

/**
 * `sha256=` and the lowercase hex HMAC-SHA256 of `<timestamp>.<raw body>`, keyed with the secret as
 * shown (UTF-8). Timestamp in epoch seconds.
 *
 */
export function signBody(secret: string, timestampSeconds: number, rawBody: string): string {
  const hmac = createHmac('sha256', secret).update(`${timestampSeconds}.${rawBody}`)
  return `sha256=${hmac.digest('hex')}`
}

/**
 * The `webhook-signature` value of one secret: `v1,` and base64, keyed with the decoded bytes.
 *
 * @see Standard Webhooks specification, "Signature scheme"
 */
export function signStandard(
  secret: string,
  id: string,
  timestampSeconds: number,
  rawBody: string,
): string {
  const text = `${id}.${timestampSeconds}.${rawBody}`
  const hmac = createHmac('sha256', standardKey(secret)).update(text)
  return `v1,${hmac.digest('base64')}`
}

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The destination with `nextSecret` set. The current secret stays valid for 24 h; an earlier `nextSecret`
 * that is not in force yet is dropped.
 */
export function rotateSecret(
  destination: WebhookDestination,
  nextSecret: string,
  now: Date,
): WebhookDestination {
  const { secret } = secretsAt(destination, now)
  return { url: destination.url, secret, nextSecret, rotatedAt: now.toISOString() }
}

function signedHeaders(
  destination: WebhookDestination,
  envelope: Envelope,
  body: string,
  context: SendContext,
): Record<string, string> {
  const { secret, nextSecret } = secretsAt(destination, context.now)
  const timestamp = Math.floor(context.now.getTime() / 1000)
  const standard = [secret, nextSecret]
    .filter((key) => key !== undefined)
    .map((key) => signStandard(key, envelope.deliveryId, timestamp, body))
  return {
    'X-Watchdog-Signature': signBody(secret, timestamp, body),
    ...(nextSecret === undefined
      ? {}
      : { 'X-Watchdog-Signature-Next': signBody(nextSecret, timestamp, body) }),
    'X-Watchdog-Timestamp': String(timestamp),
    'X-Watchdog-Delivery': envelope.deliveryId,
    'X-Watchdog-Event': envelope.message.event,
    ...(envelope.message.test && { 'X-Watchdog-Test': 'true' }),
    'X-Watchdog-Attempt': String(context.attempt),
    'webhook-id': envelope.deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

/** Secrets that sign at `now`: both during the overlap, the new one afterwards. */
function secretsAt(
  { secret, nextSecret, rotatedAt }: WebhookDestination,
  now: Date,
): { readonly secret: string; readonly nextSecret?: string } {
  if (nextSecret === undefined || rotatedAt === undefined) return { secret }
  const isOverlap = now.getTime() - Date.parse(rotatedAt) < ROTATION_OVERLAP_HOURS * HOUR_MS
  return isOverlap ? { secret, nextSecret } : { secret: nextSecret }
}
