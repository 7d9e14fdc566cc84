import { z } from 'zod'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { JsonObject } from '#src/kernel/units.ts'
import type { DestinationForm } from './destination-form.ts'

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

/** A message in an envelope: also says what its event does to an alert. Webhooks do not carry that. */
export interface EnvelopeMessage extends Message {
  /** The event closes an alert. */
  readonly isRecovery: boolean
  /** The event opens an alert that a recovery can close. */
  readonly canRecover: boolean
}

/**
 * What a message is for. alert: something fired, or recovered. raised: an open alert became worse.
 * reminder: an open alert nobody has acknowledged. group: several alerts of one watch. rollup: many
 * alerts of a minute. summary: what was held back by quiet hours or for the digest. notice: about the
 * service, never sent to webhooks.
 */
export const ENVELOPE_KINDS = [
  'alert',
  'raised',
  'reminder',
  'group',
  'rollup',
  'summary',
  'notice',
] as const
export type EnvelopeKind = (typeof ENVELOPE_KINDS)[number]

/**
 * Something the reader can do at once: a page, or an act of the bot named by its button data. Channels
 * without buttons show pages as links and leave acts out.
 */
export type MessageButton =
  | { readonly label: string; readonly url: string }
  | { readonly label: string; readonly act: string }

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
  readonly message: EnvelopeMessage
  /** `alert` where it is not said. */
  readonly kind?: EnvelopeKind
  /** The alert this one answers: a recovery, a reminder, a raised severity. */
  readonly answers?: number
  /** How that alert was told to this reader, so that a mail keeps its subject. */
  readonly answered?: { readonly severity: Severity; readonly title: string }
  /** Of a recovery, and of an episode that became worse: when it began. RFC 3339. */
  readonly startedAt?: string
  /** Of a group that tells more of alerts that were told before: what of them. */
  readonly of?: 'raised' | 'reminder'
  /** Of a group, roll-up or summary: the messages in it, in their order. */
  readonly items?: readonly EnvelopeMessage[]
  /** Of a summary: how many messages it is about beyond its items. */
  readonly more?: number
  /** Rows of buttons of a notice or summary; those of an alert follow from the alert. */
  readonly buttons?: readonly (readonly MessageButton[])[]
}

const MessageShape = z.object({
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

/** `Message` as JSON; what it does not name is dropped. */
export const Message: z.ZodType<Message> = MessageShape

const StoredMessage = MessageShape.extend({
  isRecovery: z.boolean().exactOptional(),
  canRecover: z.boolean().exactOptional(),
})

/** `Envelope` as JSON. Messages of older envelopes lack `isRecovery` and `canRecover`. */
export const StoredEnvelope = z.object({
  deliveryId: z.uuid(),
  type: z.string().nullable(),
  signal: z.string().nullable(),
  group: z.string().nullable(),
  data: JsonObject,
  locale: z.enum(LOCALES),
  timezone: z.string(),
  message: StoredMessage,
  kind: z.enum(ENVELOPE_KINDS).exactOptional(),
  answers: z.int().exactOptional(),
  answered: z.object({ severity: z.enum(SEVERITIES), title: z.string() }).exactOptional(),
  startedAt: z.iso.datetime().exactOptional(),
  of: z.enum(['raised', 'reminder']).exactOptional(),
  items: z.array(StoredMessage).exactOptional(),
  more: z.int().exactOptional(),
  buttons: z
    .array(
      z.array(
        z.union([
          z.object({ label: z.string(), url: z.string() }),
          z.object({ label: z.string(), act: z.string() }),
        ]),
      ),
    )
    .exactOptional(),
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
  /** What the message it answers was called at this destination, as its receipt said. */
  readonly answersMessageId?: string
  /** A shorter wait for the answer than the channel's own, for destinations that did not answer lately. */
  readonly timeoutMs?: number
  /** A link that ends these messages, for channels that need one (mail). */
  readonly unsubscribeUrl?: string
}

/** What is known after a send that worked. */
export interface Receipt {
  /** HTTP status, where the channel has one. */
  readonly statusCode?: number
  /** The message's name at its destination, where it can be answered or changed there. */
  readonly messageId?: string
  /** The destination as it is to be stored from now on, such as a migrated Telegram chat. */
  readonly movedTo?: unknown
  /** Why it moved: the chat has another id now, or its topic is gone and General takes the messages. */
  readonly moved?: 'migrated' | 'topic_gone'
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
  readonly retryAfterIsMandatory: boolean
  /** Nothing of the destination's doing, such as our mail server being down: not held against it. */
  readonly isOurFault: boolean
  /** The status the destination gets when it is switched off. */
  readonly becomes: 'disabled' | 'blocked'

  constructor(
    reason: string,
    options: {
      readonly permanent?: boolean
      readonly statusCode?: number
      readonly retryAfterSeconds?: number
      readonly retryAfterIsMandatory?: boolean
      readonly isOurFault?: boolean
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
    this.retryAfterIsMandatory = options.retryAfterIsMandatory ?? false
    this.isOurFault = options.isOurFault ?? false
    this.becomes = options.becomes ?? 'disabled'
  }
}

/** The parts of a signal's help: why it matters, what may have caused it, what to do. */
export const HELP_PARTS = ['why', 'causes', 'action'] as const
export type HelpPart = (typeof HELP_PARTS)[number]

/** What became of an alert after its message was sent, in the reader's words where a person is named. */
export interface MessageState {
  readonly acknowledged?: { readonly at: Date; readonly by: string | null }
  /** Chat and mail are quiet about its watch until then, or until it recovers. */
  readonly muted?: { readonly until: Date | 'recovered' }
  readonly recoveredAt?: Date
  /** It ended without a recovery, because its watch was deleted. */
  readonly closedAt?: Date
  /** It comes and goes: this message tells of its changes, and none is sent. */
  readonly flapping?: { readonly changes: number; readonly since: Date }
  /** The part of its help that is open below it. */
  readonly help?: HelpPart
  /** Of a group: what became of each alert in it, by id. */
  readonly items?: ReadonlyMap<number, MessageState>
}

/** How many messages a channel has on their way at once: in all, and to one partition (a host, a chat). */
export interface SendingLimits {
  readonly room: number
  /** To a partition of which nothing is known yet. */
  readonly initialLimit: number
  /** To a partition that answers quickly. */
  readonly limitMax: number
}

/** What holds for a channel whatever it is connected to. Other rooms ask this, not which channel it is. */
export interface ChannelTraits {
  /** `input`: typed in by the user; `link`: made by a handshake. */
  readonly kind: 'input' | 'link'
  /** Nothing but the question is sent to a destination until its reader has agreed. */
  readonly needsConsent: boolean
  /** The bot answers there, so that buttons can act and not only lead to a page. */
  readonly isChat: boolean
  /** Programs read it: alerts only, at once, in no language and by no clock. Tests are answered at once too. */
  readonly isProgrammatic: boolean
  /** A message can tell several alerts. */
  readonly groups: boolean
  /** Whether one person alone reads there. @param chatId of a chat */
  isPersonal(chatId: number | null): boolean
  /** The newest key that signs what is sent. `since` is undefined if it is the destination's first. */
  signingKey?(destination: unknown): { readonly key: string; readonly since: Date | undefined }
}

/** What most channels are: people read there, and an address is typed in. */
export const USUAL_TRAITS = {
  kind: 'input',
  needsConsent: false,
  isChat: false,
  isProgrammatic: false,
  groups: true,
  isPersonal: (_chatId: number | null): boolean => false,
} as const satisfies ChannelTraits

/** A message in the form a channel would send it. */
export interface Preview<Form> {
  readonly form: z.ZodType<Form>
  /** @param wallet who wants this told */
  write(envelope: Envelope, wallet: string): Form
}

/** A channel as its file describes it to the registry. */
export interface ChannelDefinition<Form, Deps> extends ChannelTraits {
  readonly preview: Preview<Form>
  readonly create: (deps: Deps) => Channel<unknown>
}

/** How to speak to one kind of destination. */
export interface Channel<Destination> {
  /** What is stored (encrypted) per destination. */
  readonly destination: z.ZodType<Destination>
  /** For those that are typed in. */
  readonly form?: DestinationForm<Destination>
  readonly limits: SendingLimits
  /** One service stands behind all its destinations: that nobody answers is the service's doing. */
  readonly isOneService?: boolean
  /** Whether the outside service behind it is configured. */
  available(): boolean
  /** The destination as it may be shown: enough to recognize it, not to use it. */
  mask(destination: Destination): string
  /** Equal for equal destinations: who serves it, for bounded concurrency (host, chat). */
  partitionKey(destination: Destination): string
  /** What a partition may have in common with others, such as a registrable domain or an address. */
  groupsOf?(partitionKey: string): readonly string[]
  /** @throws DeliveryError for every failure of the other side */
  send(destination: Destination, envelope: Envelope, context: SendContext): Promise<Receipt>
  /**
   * Changes a message that was sent, where the channel can. Gone or unchanged is no failure.
   *
   * @returns with the message's `messageId`; without one when it is gone, so that the outbox sends anew
   * @throws DeliveryError for every failure of the other side
   */
  edit?(
    destination: Destination,
    messageId: string,
    envelope: Envelope,
    state: MessageState,
    context: SendContext,
  ): Promise<Receipt>
}

/** A channel whose destination type is known inside its file only; every destination passes its schema. */
export function defineChannel<Destination>(channel: Channel<Destination>): Channel<unknown> {
  const parsed = (destination: unknown) => channel.destination.parse(destination)
  const { edit, form } = channel
  return {
    ...channel,
    ...(form && {
      form: {
        ...form,
        change: (before, input, now) => form.change(parsed(before), input, now),
      },
    }),
    ...(edit && {
      edit: async (destination, messageId, envelope, state, context) =>
        edit(parsed(destination), messageId, envelope, state, context),
    }),
    mask: (destination) => channel.mask(parsed(destination)),
    partitionKey: (destination) => channel.partitionKey(parsed(destination)),
    send: async (destination, envelope, context) =>
      channel.send(parsed(destination), envelope, context),
  }
}
