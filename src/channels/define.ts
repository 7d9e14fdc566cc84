import { z } from 'zod'
import { SEVERITIES, type Severity } from '#src/kernel/facts.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { JsonObject } from '#src/kernel/units.ts'

/** The channels there are, in the order they are shown. */
export type ChannelKey = 'telegram' | 'email' | 'webhook'

/** One labelled value of a message. `value` is formatted for the message's locale, without isolates. */
export interface MessageField {
  readonly key: string
  readonly label: string
  readonly value: string
  readonly href?: string
}

/** What is said, in one locale. The same for every channel; `renderedMessage` of the webhook payload. */
export interface Message {
  readonly alertId: number | null
  readonly watchId: number | null
  readonly watchLabel: string | null
  readonly event: string
  readonly severity: Severity
  readonly title: string
  readonly body: string
  readonly fields: readonly MessageField[]
  /** The alert's own page: a signed link, no login. */
  readonly link: string
  /** RFC 3339, UTC, milliseconds: when it happened, by block time. */
  readonly firedAt: string
  readonly test: boolean
}

/** What a delivery carries: the message and what a program needs beside it. Plain JSON. */
export interface Envelope {
  /** UUID, the same on every attempt. */
  readonly deliveryId: string
  readonly type: string | null
  readonly signal: string | null
  readonly group: string | null
  readonly data: JsonObject
  readonly locale: Locale
  /** IANA name of the reader's time zone. */
  readonly timezone: string
  readonly message: Message
}

/** `Message` as JSON; what it does not name is dropped. */
export const Message: z.ZodType<Message> = z.object({
  alertId: z.int().nullable(),
  watchId: z.int().nullable(),
  watchLabel: z.string().nullable(),
  event: z.string(),
  severity: z.enum(SEVERITIES),
  title: z.string(),
  body: z.string(),
  fields: z.array(
    z.object({
      key: z.string(),
      label: z.string(),
      value: z.string(),
      href: z.string().exactOptional(),
    }),
  ),
  link: z.string(),
  firedAt: z.iso.datetime(),
  test: z.boolean(),
})

/** `Envelope` as the outbox stores it. */
export const Envelope: z.ZodType<Envelope> = z.object({
  deliveryId: z.uuid(),
  type: z.string().nullable(),
  signal: z.string().nullable(),
  group: z.string().nullable(),
  data: JsonObject,
  locale: z.enum(LOCALES),
  timezone: z.string(),
  message: Message,
})

/** What a channel learns beside its destination and envelope. */
export interface SendContext {
  /** Counts from 1. */
  readonly attempt: number
  /** The instant of this attempt. */
  readonly now: Date
  readonly signal: AbortSignal
  /** Who wants this told: named in the footer of a mail. */
  readonly wallet: string
  /** A link that ends these messages, for channels that need one (mail). */
  readonly unsubscribeUrl?: string
}

/** What is known after a send that worked. */
export interface Receipt {
  /** HTTP status, where the channel has one. */
  readonly statusCode?: number
  /** The destination as it is to be stored from now on, such as a migrated Telegram chat. */
  readonly movedTo?: unknown
}

/**
 * A send that did not work.
 *
 * `permanent`: the destination is switched off with `reason`. Otherwise the outbox tries again, not
 * before `retryAfterSeconds` when the other side named a time.
 */
export class DeliveryError extends Error {
  readonly permanent: boolean
  /** A short stable word: `timeout`, `refused`, `blocked`, `gone`, `status_500` … */
  readonly reason: string
  readonly statusCode: number | undefined
  readonly retryAfterSeconds: number | undefined
  /** `retryAfterSeconds` is an order, not a wish: not a moment earlier, and the attempt does not count. */
  readonly binding: boolean
  /** Nothing of the destination's doing, such as our mail server being down: not held against it. */
  readonly ours: boolean
  /** The status the destination gets when it is switched off. */
  readonly becomes: 'disabled' | 'blocked'

  constructor(
    reason: string,
    options: {
      readonly permanent?: boolean
      readonly statusCode?: number
      readonly retryAfterSeconds?: number
      readonly binding?: boolean
      readonly ours?: boolean
      readonly becomes?: 'disabled' | 'blocked'
      readonly cause?: unknown
    } = {},
  ) {
    super(reason, { cause: options.cause })
    this.name = 'DeliveryError'
    this.reason = reason
    this.permanent = options.permanent ?? false
    this.statusCode = options.statusCode
    this.retryAfterSeconds = options.retryAfterSeconds
    this.binding = options.binding ?? false
    this.ours = options.ours ?? false
    this.becomes = options.becomes ?? 'disabled'
  }
}

/** How to speak to one kind of destination. */
export interface Channel<Destination> {
  readonly key: ChannelKey
  /** `input`: typed in by the user; `link`: made by a handshake. */
  readonly kind: 'input' | 'link'
  /** What is stored (encrypted) per destination. */
  readonly destination: z.ZodType<Destination>
  /** Whether the outside service behind it is configured. */
  available(): boolean
  /** The destination as it may be shown: enough to recognize it, not to use it. */
  mask(destination: Destination): string
  /** Equal for equal destinations: who serves it, for bounded concurrency (host, chat). */
  lane(destination: Destination): string
  /** @throws DeliveryError for every failure of the other side */
  send(destination: Destination, envelope: Envelope, context: SendContext): Promise<Receipt>
}

/** The channels of a running service, by key. Built once, in `app.ts`. */
export type Channels = Readonly<Record<ChannelKey, Channel<unknown>>>

/** A channel whose destination type is known inside its file only; every destination passes its schema. */
export function defineChannel<Destination>(channel: Channel<Destination>): Channel<unknown> {
  const parsed = (destination: unknown) => channel.destination.parse(destination)
  return {
    ...channel,
    mask: (destination) => channel.mask(parsed(destination)),
    lane: (destination) => channel.lane(parsed(destination)),
    send: async (destination, envelope, context) =>
      channel.send(parsed(destination), envelope, context),
  }
}
