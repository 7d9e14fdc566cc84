import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { SEVERITIES } from '#src/kernel/facts.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { JsonObject } from '#src/kernel/units.ts'
import {
  type Channel,
  DeliveryError,
  defineChannel,
  type Envelope,
  Message,
  type SendContext,
} from './define.ts'
import type { SafePost } from './safe-fetch.ts'

/** How long both secrets sign after a rotation. */
const ROTATION_OVERLAP_HOURS = 24
const HOUR_MS = 3_600_000
const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'

const Secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{43}=$/)

/** Where webhooks go and what signs them. `nextSecret` replaces `secret` 24 h after `rotatedAt`. */
export const WebhookDestination = z.strictObject({
  url: z.string(),
  secret: Secret,
  nextSecret: Secret.optional(),
  rotatedAt: z.iso.datetime().optional(),
})
export type WebhookDestination = z.output<typeof WebhookDestination>

/**
 * A webhook's body. All of it is always there; receivers must tolerate more inside `data` and
 * `renderedMessage`.
 *
 * @see specification, "Webhook payload, version 2"
 */
const WebhookPayload = z
  .strictObject({
    payloadVersion: z.literal(2),
    signal: z.string().nullable(),
    group: z.string().nullable(),
    deliveryId: z.uuid(),
    alertId: z.int().nullable(),
    watchId: z.int().nullable(),
    label: z.string().nullable(),
    type: z.string().nullable(),
    event: z.string(),
    severity: z.enum(SEVERITIES),
    data: JsonObject,
    firedAt: z.iso.datetime(),
    rendered: z.strictObject({
      locale: z.enum(LOCALES),
      title: z.string(),
      body: z.string(),
    }),
    renderedMessage: Message,
  })
  .meta({ id: 'WebhookPayload' })

/** Posts signed JSON. */
export function createWebhook(deps: {
  readonly post: SafePost
  readonly userAgent: string
}): Channel<unknown> {
  return defineChannel<WebhookDestination>({
    key: 'webhook',
    kind: 'input',
    destination: WebhookDestination,
    available: () => true,
    mask: ({ url }) => `${URL.parse(url)?.host ?? ''}/…${url.slice(-4)}`,
    lane: ({ url }) => URL.parse(url)?.host ?? url,
    send: async (destination, envelope, context) => {
      const body = payload(envelope)
      const { statusCode, retryAfter } = await deps.post(destination.url, {
        headers: {
          'Content-Type': 'application/json',
          'User-Agent': deps.userAgent,
          ...signedHeaders(destination, envelope, body, context),
        },
        body,
        signal: context.signal,
      })
      if (statusCode >= 200 && statusCode < 300) return { statusCode }
      const wait = retryAfterSeconds(retryAfter, context.now)
      throw new DeliveryError(reasonOf(statusCode), {
        permanent: statusCode === 410,
        statusCode,
        ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
      })
    },
  })
}

/** The body of a webhook, version 2: the exact string that is sent and signed. */
export function payload(envelope: Envelope): string {
  const { message } = envelope
  const body = z.encode(WebhookPayload, {
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
    renderedMessage: message,
  })
  return JSON.stringify(body)
}

/**
 * `sha256=` and the lowercase hex HMAC-SHA256 of `<timestamp>.<raw body>`, keyed with the secret as
 * shown (UTF-8). Timestamp in epoch seconds.
 *
 * @see specification, "Signature verification of a delivery"
 */
export function sign(secret: string, timestampSeconds: number, rawBody: string): string {
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
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const hmac = createHmac('sha256', key).update(`${id}.${timestampSeconds}.${rawBody}`)
  return `v1,${hmac.digest('base64')}`
}

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The destination with `nextSecret` announced. The secret that signs now goes on for 24 h; a secret
 * announced earlier and not yet in force is dropped.
 */
export function rotateSecret(
  destination: WebhookDestination,
  nextSecret: string,
  now: Date,
): WebhookDestination {
  const { secret } = secretsAt(destination, now)
  return { url: destination.url, secret, nextSecret, rotatedAt: now.toISOString() }
}

/**
 * What a `Retry-After` value asks for, in seconds from `now`, never negative. undefined when it says
 * nothing usable.
 *
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
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
    'X-Watchdog-Signature': sign(secret, timestamp, body),
    ...(nextSecret === undefined
      ? {}
      : { 'X-Watchdog-Signature-Next': sign(nextSecret, timestamp, body) }),
    'X-Watchdog-Timestamp': String(timestamp),
    'X-Watchdog-Delivery': envelope.deliveryId,
    'X-Watchdog-Event': envelope.message.event,
    'X-Watchdog-Attempt': String(context.attempt),
    'webhook-id': envelope.deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

/** Which secrets sign at `now`: both during the overlap, afterwards the new one alone. */
function secretsAt(
  { secret, nextSecret, rotatedAt }: WebhookDestination,
  now: Date,
): { readonly secret: string; readonly nextSecret?: string } {
  if (nextSecret === undefined || rotatedAt === undefined) return { secret }
  const isOverlap = now.getTime() - Date.parse(rotatedAt) < ROTATION_OVERLAP_HOURS * HOUR_MS
  return isOverlap ? { secret, nextSecret } : { secret: nextSecret }
}

function reasonOf(statusCode: number): string {
  if (statusCode === 410) return 'gone'
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : `status_${statusCode}`
}
