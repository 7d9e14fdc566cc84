import type { z } from 'zod'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import type { DestinationForm } from './destination-form.ts'
import type { Envelope, MessageState } from './envelope.ts'
import type { FailureReason } from './failure-reasons.ts'

/** State of an incident: of all its alerts, also of those that the recipient does not get. */
export interface IncidentState {
  /** Whether all of its alerts are over; of alerts that nothing ends, whether they were deleted. */
  readonly isOver: boolean
  /** Whether all alerts that are not over are acknowledged. */
  readonly isTaken: boolean
}

/** Input of a send besides destination and envelope. */
export interface SendContext {
  /** Number of the attempt, from 1; also of a changed message. */
  readonly attempt: number
  /** State of the message's incident at the time of sending, for channels that follow it (`followsIncident`). */
  readonly incident?: IncidentState
  /** Time of this attempt. */
  readonly now: Date
  readonly signal: AbortSignal
  /** Wallet that owns the watch; shown in the footer of an e-mail. */
  readonly wallet: string
  /** Id, at this destination, of the message to which this message replies, from its receipt. */
  readonly answersMessageId?: string
  /** Ids of all messages to which this message replies. */
  readonly answeredMessageIds?: readonly string[]
  /** A timeout shorter than the channel's own, for destinations that did not respond lately. */
  readonly timeoutMs?: number
  /** Of a changed message: whether it contains more alerts than before. */
  readonly isLonger?: boolean
  /** Of a changed message: whether it rings again, where a changed message can (`followsIncident`). */
  readonly rings?: boolean
  /** Of a changed message: whether a person has pressed a button and waits for the change. */
  readonly isAwaited?: boolean
  /** Whether nobody there may change anything, so that buttons that would are left out. */
  readonly isReceiveOnly?: boolean
  /** The provider that the chat follows without a wallet: the only button then leads to the full watch. */
  readonly follows?: Address
  /** Link that stops these messages, for channels that need one (e-mail). */
  readonly unsubscribeUrl?: string
}

/** A picture that explains a sent message. */
export interface Picture {
  readonly png: Buffer
  /** The headline of its message, in plain text: a list of chats shows it as the newest message. */
  readonly caption: string
}

/** Result of a successful send. */
export interface Receipt {
  /** HTTP status, if the channel has one. */
  readonly statusCode?: number
  /** Id of the message at its destination, if messages can reply to it or it can be changed there. */
  readonly messageId?: string
  /** New destination to store, such as a migrated Telegram chat. */
  readonly movedTo?: unknown
  /**
   * Reason of a move: the chat has a new id, or its topic was deleted and the topic General gets the
   * messages.
   */
  readonly moved?: 'migrated' | 'topic_gone'
}

/**
 * A failed send.
 *
 * `permanent`: the destination is switched off with `reason`. Otherwise the outbox tries again, not before
 * `retryAfterSeconds` if the receiver gave a time.
 */
export class DeliveryError extends Error {
  readonly permanent: boolean
  /**
   * Whether one such answer of a permanent failure may be wrong, so that it counts only when an attempt hours later gets
   * it again.
   */
  readonly needsRepetition: boolean
  readonly reason: FailureReason
  readonly statusCode: number | undefined
  readonly retryAfterSeconds: number | undefined
  /** Whether `retryAfterSeconds` must be kept exactly; the attempt then does not count. */
  readonly retryAfterIsMandatory: boolean
  /**
   * Whether the fault is that of this service, such as an unreachable mail server, and not the
   * destination's.
   */
  readonly isOurFault: boolean
  /** Status of the destination after it is switched off. */
  readonly becomes: 'disabled' | 'blocked'

  constructor(
    reason: FailureReason,
    options: {
      readonly permanent?: boolean
      readonly needsRepetition?: boolean
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
    this.needsRepetition = options.needsRepetition ?? false
    this.statusCode = options.statusCode
    this.retryAfterSeconds = options.retryAfterSeconds
    this.retryAfterIsMandatory = options.retryAfterIsMandatory ?? false
    this.isOurFault = options.isOurFault ?? false
    this.becomes = options.becomes ?? 'disabled'
  }
}

/**
 * Maximum number of messages of a channel in progress at once: in total, and per partition (host, chat).
 */
export interface SendingLimits {
  readonly capacity: number
  /** Limit of a partition without history. */
  readonly initialLimit: number
  /** Maximum limit of a partition that responds quickly. */
  readonly limitMax: number
}

/**
 * Properties of a channel that do not depend on its connections. Other rooms decide by these traits, never
 * by the channel's name; only the condition of an index names one, see `IS_GROUPED` of `src/delivery/tables.ts`.
 */
export interface ChannelTraits {
  /** `input`: typed by the user; `link`: created by a handshake. */
  readonly kind: 'input' | 'link'
  /** Whether a destination gets nothing but the confirmation request until its reader has agreed. */
  readonly needsConsent: boolean
  /** Whether the destination is a chat with the bot, where buttons can act and not only open pages. */
  readonly isChat: boolean
  /**
   * Whether programs read it: alerts only, immediately, independent of language and time zone. Tests are
   * sent immediately too.
   */
  readonly isProgrammatic: boolean
  /** Whether its messages can be acknowledged where they are read; elsewhere they only link to the alert's page. */
  readonly canAcknowledge: boolean
  /** Whether a message can contain several alerts. */
  readonly groups: boolean
  /**
   * Whether one message stands for an incident to its end: it follows the state of the whole incident, a change can ring,
   * and alerts are never rolled up.
   */
  readonly followsIncident: boolean
  /**
   * Whether nobody notices when a message is changed, so that the figures of an outage may grow in it: no sound, no second
   * notification, no entry in a log.
   */
  readonly showsGrowth: boolean
  /**
   * Whether only one person reads the destination.
   * @param chatId id of a chat
   */
  isPersonal(chatId: number | null): boolean
  /** The newest key that signs messages. `since` is undefined for the first key of the destination. */
  signingKey?(destination: unknown): { readonly key: string; readonly since: Date | undefined }
}

/** Default traits of a channel: people read it, and its address is typed. */
export const USUAL_TRAITS = {
  kind: 'input',
  needsConsent: false,
  isChat: false,
  isProgrammatic: false,
  canAcknowledge: true,
  groups: true,
  followsIncident: false,
  showsGrowth: false,
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
  /** Form of the channel, if its destinations are typed. */
  readonly form?: DestinationForm<Destination>
  readonly limits: SendingLimits
  /** Whether one service hosts all destinations, so that a missing response is the service's fault. */
  readonly isOneService?: boolean
  /** Whether one process at a time sends deliveries, because its limits count over all of them. */
  readonly isSentByOne?: boolean
  /** Whether the service behind it is configured. */
  available(): boolean
  /** The destination in a form that is recognizable but not usable. */
  mask(destination: Destination): string
  /** Key for bounded concurrency (host, chat), equal for equal destinations. */
  partitionKey(destination: Destination): string
  /** Groups that a partition may share with others, such as a registrable domain or an address. */
  groupsOf?(partitionKey: string): readonly string[]
  /** @throws DeliveryError for every failure of the receiver */
  send(destination: Destination, envelope: Envelope, context: SendContext): Promise<Receipt>
  /**
   * Changes a sent message, if the channel can. A deleted or unchanged message is no failure.
   *
   * @returns the receipt with the `messageId`; without one if the message is gone, so that the outbox sends
   * it again
   * @throws DeliveryError for every failure of the receiver
   */
  edit?(
    destination: Destination,
    messageId: string,
    envelope: Envelope,
    state: MessageState,
    context: SendContext,
  ): Promise<Receipt>
  /**
   * Deletes a sent message that a newer one has replaced, if the channel can; otherwise it says so. A message that is
   * gone is no failure.
   *
   * @throws DeliveryError for every failure of the receiver
   */
  remove?(
    destination: Destination,
    messageId: string,
    context: Pick<SendContext, 'signal' | 'now'> & { readonly locale: Locale },
  ): Promise<void>
  /** URL of the picture that a message shows below its text, if the channel can; undefined for none. */
  pictureUrl?(envelope: Envelope): string | undefined
  /**
   * Sends a picture in reply to a sent message, without sound, if the channel can and its messages do not show their
   * pictures themselves. Nothing is sent if that message is gone.
   *
   * @throws DeliveryError for every failure of the receiver
   */
  sendPicture?(
    destination: Destination,
    messageId: string,
    picture: Picture,
    context: Pick<SendContext, 'signal'>,
  ): Promise<void>
}

/**
 * Creates a channel whose destination type is known in its file only; every destination passes its schema.
 */
export function defineChannel<Destination>(channel: Channel<Destination>): Channel<unknown> {
  const parsed = (destination: unknown) => channel.destination.parse(destination)
  const { edit, remove, sendPicture, form } = channel
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
    ...(remove && {
      remove: async (destination, messageId, context) =>
        remove(parsed(destination), messageId, context),
    }),
    ...(sendPicture && {
      sendPicture: async (destination, messageId, picture, context) =>
        sendPicture(parsed(destination), messageId, picture, context),
    }),
    mask: (destination) => channel.mask(parsed(destination)),
    partitionKey: (destination) => channel.partitionKey(parsed(destination)),
    send: async (destination, envelope, context) =>
      channel.send(parsed(destination), envelope, context),
  }
}
