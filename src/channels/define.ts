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

/** A message in one locale, the same for every channel; `renderedMessage` of the webhook payload. */
export interface Message {
  readonly alertId: number | null
  readonly watchId: number | null
  readonly watchLabel: string | null
  readonly event: string
  readonly severity: Severity
  readonly title: string
  readonly body: string
  readonly fields: readonly MessageField[]
  /** Page of the alert: a signed link that needs no sign-in. */
  readonly link: string
  /** Block time of the event, in RFC 3339, UTC, with milliseconds. */
  readonly firedAt: string
  readonly test: boolean
}

/** A message in an envelope, with the effect of its event on an alert. Webhooks do not contain that. */
export interface EnvelopeMessage extends Message {
  /** Whether the event closes an alert. */
  readonly isRecovery: boolean
  /** Whether the event opens an alert that a recovery can close. */
  readonly canRecover: boolean
}

/**
 * Kinds of messages. alert: an event fired, or an alert recovered. raised: an active alert became worse.
 * reminder: an active alert is unacknowledged. group: several alerts of one watch. rollup: many alerts of a
 * minute. summary: messages held back by quiet hours or for the digest. notice: about the service, never
 * sent to webhooks.
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
 * An action for the reader: a page, or an action of the bot given by its button data. Channels without
 * buttons show pages as links and omit actions.
 */
export type MessageButton =
  | { readonly label: string; readonly url: string }
  | { readonly label: string; readonly act: string }

/** Content of a delivery: the message and the data that programs need. Plain JSON. */
export interface Envelope {
  /** UUID, the same for every attempt. */
  readonly deliveryId: string
  readonly type: string | null
  readonly signal: string | null
  readonly group: string | null
  readonly data: JsonObject
  readonly locale: Locale
  /** IANA name of the reader's time zone. */
  readonly timezone: string
  readonly message: EnvelopeMessage
  /** `alert` if absent. */
  readonly kind?: EnvelopeKind
  /** The alert that this message replies to: a recovery, a reminder, a raised severity. */
  readonly answers?: number
  /** Severity and title of that alert's message to this reader, so that an e-mail keeps its subject. */
  readonly answered?: { readonly severity: Severity; readonly title: string }
  /** Start of the episode, for recoveries and raised severities. RFC 3339. */
  readonly startedAt?: string
  /** For groups about alerts that had a message before: kind of the news. */
  readonly of?: 'raised' | 'reminder'
  /** For groups, roll-ups and summaries: their messages, in order. */
  readonly items?: readonly EnvelopeMessage[]
  /** For summaries: number of messages beyond the items. */
  readonly more?: number
  /** Rows of buttons of a notice or summary. Those of an alert are derived from the alert. */
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

/** `Message` as JSON; unknown keys are dropped. */
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

/** Input of a send besides destination and envelope. */
export interface SendContext {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Time of this attempt. */
  readonly now: Date
  readonly signal: AbortSignal
  /** Wallet that owns the watch; shown in the footer of an e-mail. */
  readonly wallet: string
  /** Id of the answered message at this destination, from its receipt. */
  readonly answersMessageId?: string
  /** A timeout shorter than the channel's own, for destinations that did not respond lately. */
  readonly timeoutMs?: number
  /** Link that stops these messages, for channels that need one (e-mail). */
  readonly unsubscribeUrl?: string
}

/** Result of a successful send. */
export interface Receipt {
  /** HTTP status, if the channel has one. */
  readonly statusCode?: number
  /** Id of the message at its destination, if it can be answered or changed there. */
  readonly messageId?: string
  /** New destination to store, such as a migrated Telegram chat. */
  readonly movedTo?: unknown
  /** Why it moved: the chat has a new id, or its topic was deleted and General gets the messages. */
  readonly moved?: 'migrated' | 'topic_gone'
}

/**
 * A failed send.
 *
 * `permanent`: the destination is switched off with `reason`. Otherwise the outbox tries again, not before
 * `retryAfterSeconds` if the other side gave a time.
 */
export class DeliveryError extends Error {
  readonly permanent: boolean
  /** Short stable code: `timeout`, `refused`, `blocked`, `gone`, `status_500` … */
  readonly reason: string
  readonly statusCode: number | undefined
  readonly retryAfterSeconds: number | undefined
  /** Whether `retryAfterSeconds` must be kept exactly; the attempt then does not count. */
  readonly retryAfterIsMandatory: boolean
  /**
   * Whether the cause is on our side, such as an unreachable mail server. The destination is then not
   * blamed.
   */
  readonly isOurFault: boolean
  /** Status of the destination after it is switched off. */
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

/** State of an alert after its message was sent; names of people are in the reader's language. */
export interface MessageState {
  readonly acknowledged?: { readonly at: Date; readonly by: string | null }
  /** Chat and e-mail are muted for its watch until then, or until it recovers. */
  readonly muted?: { readonly until: Date | 'recovered' }
  readonly recoveredAt?: Date
  /** It ended without a recovery, because its watch was deleted. */
  readonly closedAt?: Date
  /** The signal is flapping: this message shows its changes, and no further messages are sent. */
  readonly flapping?: { readonly changes: number; readonly since: Date }
  /** Part of its help that is expanded below it. */
  readonly help?: HelpPart
  /** For groups: state of each alert in it, by id. */
  readonly items?: ReadonlyMap<number, MessageState>
}

/** Most messages of a channel in progress at once: in all, and per partition (host, chat). */
export interface SendingLimits {
  readonly room: number
  /** For a partition without history. */
  readonly initialLimit: number
  /** For a partition that responds quickly. */
  readonly limitMax: number
}

/**
 * Properties of a channel that do not depend on its connections. Other rooms use these, never the channel's
 * name.
 */
export interface ChannelTraits {
  /** `input`: typed by the user; `link`: created by a handshake. */
  readonly kind: 'input' | 'link'
  /** Whether a destination gets nothing but the confirmation request until its reader has agreed. */
  readonly needsConsent: boolean
  /** Whether the bot is present there, so that buttons can act and not only open a page. */
  readonly isChat: boolean
  /**
   * Whether programs read it: alerts only, immediately, independent of language and time zone. Tests are
   * sent immediately too.
   */
  readonly isProgrammatic: boolean
  /** Whether a message can contain several alerts. */
  readonly groups: boolean
  /**
   * Whether only one person reads there.
   * @param chatId id of a chat
   */
  isPersonal(chatId: number | null): boolean
  /** The newest key that signs messages. `since` is undefined for the first key of the destination. */
  signingKey?(destination: unknown): { readonly key: string; readonly since: Date | undefined }
}

/** Traits of most channels: people read them, and the address is typed. */
export const USUAL_TRAITS = {
  kind: 'input',
  needsConsent: false,
  isChat: false,
  isProgrammatic: false,
  groups: true,
  isPersonal: (_chatId: number | null): boolean => false,
} as const satisfies ChannelTraits

/** A message in the format of the channel. */
export interface Preview<Form> {
  readonly form: z.ZodType<Form>
  /** @param wallet owner of the watch */
  write(envelope: Envelope, wallet: string): Form
}

/** Definition of a channel, for the registry. */
export interface ChannelDefinition<Form, Deps> extends ChannelTraits {
  readonly preview: Preview<Form>
  readonly create: (deps: Deps) => Channel<unknown>
}

/** Access to one kind of destination. */
export interface Channel<Destination> {
  /** Stored (encrypted) data of a destination. */
  readonly destination: z.ZodType<Destination>
  /** For typed destinations. */
  readonly form?: DestinationForm<Destination>
  readonly limits: SendingLimits
  /** Whether one service hosts all destinations, so that a missing response is the service's fault. */
  readonly isOneService?: boolean
  /** Whether the service behind it is configured. */
  available(): boolean
  /** The destination in a form that is recognizable but not usable. */
  mask(destination: Destination): string
  /** Key for bounded concurrency (host, chat), equal for equal destinations. */
  partitionKey(destination: Destination): string
  /** Groups that a partition may share with others, such as a registrable domain or an address. */
  groupsOf?(partitionKey: string): readonly string[]
  /** @throws DeliveryError for every failure on the other side */
  send(destination: Destination, envelope: Envelope, context: SendContext): Promise<Receipt>
  /**
   * Changes a sent message, if the channel can. A deleted or unchanged message is no failure.
   *
   * @returns the receipt with the `messageId`; without one if the message is gone, so that the outbox sends
   * it again
   * @throws DeliveryError for every failure on the other side
   */
  edit?(
    destination: Destination,
    messageId: string,
    envelope: Envelope,
    state: MessageState,
    context: SendContext,
  ): Promise<Receipt>
}

/**
 * Creates a channel whose destination type is known in its file only; every destination passes its schema.
 */
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
