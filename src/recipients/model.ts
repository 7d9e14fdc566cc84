/**
 * A recipient is a name with a destination in one channel, a language, a time zone and a minimum severity.
 * It belongs to one wallet. A wallet's own destination of a channel is a recipient without a name, at most
 * one per channel; linked Telegram chats have a name and are defaults. Destinations are stored sealed and
 * shown masked. A mailbox gets no alerts before its reader has agreed; a chat is linked with a one-time
 * code.
 */
import { z } from 'zod'
import {
  CHANNEL_KEYS,
  type ChannelKey,
  TYPED_CHANNELS,
  type TypedChannel,
} from '#src/channels/index.ts'
import { isTimeZone } from '#src/i18n/format.ts'
import { modernZone } from '#src/i18n/zones.ts'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Label } from '#src/kernel/label.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { isMailbox, MAILBOX_LENGTH_MAX } from '#src/kernel/mailbox.ts'
import { type Address, Id, Instant } from '#src/kernel/units.ts'

/** Maximum number of named recipients of a wallet. */
export const RECIPIENTS_MAX = 20
/** Lifetime of a Telegram link code. */
export const LINK_MINUTES = 15
/** Lifetime of the link in a confirmation e-mail, from its sending. */
export const CONFIRMATION_HOURS = 24
/** Minimum interval between two confirmation e-mails to one address. */
export const CONFIRMATION_GAP_MINUTES = 5
/** Maximum number of confirmation e-mails to one mailbox, for all wallets together, in 24 hours. */
export const CONFIRMATIONS_PER_DAY = 3
/** Maximum number of confirmation e-mails that one wallet causes in 24 hours. */
export const CONFIRMATIONS_OF_WALLET_PER_DAY = 20
/** Days for which a mailbox gets no e-mails after its reader has refused. */
export const REFUSAL_DAYS = 90
/** Hours without a success, but with failures, after which a destination is switched off. */
export const FAILING_HOURS_MAX = 120
const URL_LENGTH_MAX = 2048

const MinSeverity = z.enum(SEVERITIES)
const LocaleCode = z.enum(LOCALES)

/**
 * `pending`: not confirmed yet. `disabled`: switched off by a person or because of failures. `blocked`: the
 * chat blocked the bot.
 */
const RECIPIENT_STATUSES = ['pending', 'active', 'disabled', 'blocked'] as const
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number]

/**
 * Values of `statusReason`, in addition to the channels' codes of failures: the owner switched the destination off, the
 * reader of the mailbox unsubscribed, the chat became a chat that the wallet had already linked, or the operator banned the
 * wallet.
 */
export const OFF_BY_OWNER = 'by_owner'
export const OFF_BY_READER = 'unsubscribed'
export const OFF_BY_MOVE = 'moved'
export const OFF_BY_OPERATOR = 'banned'

/** Values of `statusReason` of a group that has the bot, and does not let it write: as a whole, or in its topics. */
export const SILENCED_REASONS = ['no_rights', 'topic_closed'] as const

/** Whether a group is off because it has the bot, and does not let it write. */
export function isSilencedReason(statusReason: string | null): boolean {
  return SILENCED_REASONS.some((reason) => reason === statusReason)
}

const EmailAddress = z
  .string()
  .max(MAILBOX_LENGTH_MAX)
  .refine(isMailbox, { params: { code: 'email' } })
  .meta({ format: 'email', examples: ['ops@example.org'] })

const WebhookUrl = z
  .string()
  .max(URL_LENGTH_MAX)
  .meta({ format: 'uri', examples: ['https://example.org/hook'] })

/** The longest name has half as many. */
const ZONE_LENGTH_MAX = 64

/** An IANA time zone name that this machine knows. A former name is replaced by the current one. */
export const TimeZone = z
  .string()
  .min(1)
  .max(ZONE_LENGTH_MAX)
  .refine((name) => isTimeZone(name), { params: { code: 'timezone' } })
  .overwrite(modernZone)
  .meta({ description: 'operations:field.timeZone', examples: ['Europe/Berlin'] })

const changeable = {
  name: Label,
  address: EmailAddress.meta({ description: 'operations:field.mailbox' }),
  url: WebhookUrl.meta({ description: 'operations:field.hookUrl' }),
  locale: LocaleCode,
  timezone: TimeZone,
  minSeverity: MinSeverity,
  default: z.boolean().meta({ description: 'operations:field.recipientDefault' }),
}

const { address: mailbox, url: hook, ...ofAnyChannel } = changeable
const ofNewRecipient = {
  ...z.strictObject(ofAnyChannel).partial().shape,
  name: changeable.name,
  default: z.boolean().optional().meta({ description: 'operations:field.newRecipientDefault' }),
}

/** Channels whose destination is a URL. */
const URL_CHANNELS = TYPED_CHANNELS.filter(
  (key): key is Exclude<TypedChannel, 'email'> => key !== 'email',
)

/** Body of `POST /recipients`, with one variant for each way to name a destination. */
export const NewRecipient = z
  .discriminatedUnion('channel', [
    z
      .strictObject({ ...ofNewRecipient, channel: z.literal('email'), address: mailbox })
      .meta({ id: 'EmailRecipientRequest' }),
    z
      .strictObject({ ...ofNewRecipient, channel: z.enum(URL_CHANNELS), url: hook })
      .meta({ id: 'UrlRecipientRequest' }),
    // Refused with the way to add one: `use_telegram_link`.
    z
      .strictObject({ ...ofNewRecipient, channel: z.literal('telegram') })
      .meta({ id: 'TelegramRecipientRequest' }),
  ])
  .meta({ id: 'RecipientRequest' })
/** A new recipient of any channel. */
export interface NewRecipient
  extends Pick<RecipientChanges, 'locale' | 'timezone' | 'minSeverity' | 'default'> {
  readonly name: string
  readonly channel: ChannelKey
  readonly address?: string | undefined
  readonly url?: string | undefined
}

/** Body of `PATCH /recipients/{id}`. */
export const RecipientChanges = z
  .strictObject({
    ...z.strictObject(changeable).partial().shape,
    status: z.enum(['active', 'disabled']).optional(),
    rotateSecret: z.boolean().optional().meta({ description: 'operations:field.rotateSecret' }),
  })
  .meta({ id: 'RecipientChanges' })
export type RecipientChanges = z.output<typeof RecipientChanges>

/** A webhook's signing secret: present once, when it is created or rotated. */
const ShownSecret = z.string().optional().meta({ description: 'operations:field.secret' })

/** A recipient in responses. */
export const Recipient = z
  .object({
    id: Id,
    name: z.string(),
    channel: z.enum(CHANNEL_KEYS),
    target: z.string().meta({ description: 'operations:field.maskedTarget' }),
    locale: LocaleCode,
    timezone: z.string().meta({ description: 'operations:field.timeZone' }),
    status: z.enum(RECIPIENT_STATUSES),
    statusReason: z.string().nullable(),
    minSeverity: MinSeverity,
    default: z.boolean(),
    createdAt: Instant,
    verifiedAt: Instant.nullable(),
    lastSuccessAt: Instant.nullable(),
    lastFailureAt: Instant.nullable(),
    secret: ShownSecret,
  })
  .meta({ id: 'Recipient' })
export type Recipient = z.output<typeof Recipient>

/** Body of `PUT /channels/{key}`: an address for `email`, a URL for the others. */
export const ChannelSetup = z
  .strictObject({
    address: changeable.address.optional(),
    url: changeable.url.optional(),
    rotateSecret: z.boolean().optional().meta({ description: 'operations:field.rotateSecret' }),
  })
  .meta({ id: 'ChannelSetup' })
export type ChannelSetup = z.output<typeof ChannelSetup>

/** A channel with the wallet's own destination. */
export const ChannelState = z
  .object({
    key: z.enum(CHANNEL_KEYS),
    kind: z.enum(['input', 'link']),
    available: z.boolean(),
    configured: z.boolean(),
    target: z.string().nullable(),
    status: z.enum(RECIPIENT_STATUSES).nullable(),
    statusReason: z.string().nullable(),
    lastSuccessAt: Instant.nullable(),
    lastFailureAt: Instant.nullable(),
    secret: ShownSecret,
  })
  .meta({ id: 'ChannelState' })
export type ChannelState = z.output<typeof ChannelState>

/** Body of `POST /recipients/telegram-link`. */
export const TelegramLinkRequest = z
  .strictObject({
    name: Label.optional().meta({ description: 'operations:field.linkName' }),
    scopes: z
      .array(z.enum(SCOPES))
      .max(SCOPES.length)
      .optional()
      .meta({ description: 'operations:field.linkScopes' }),
  })
  .meta({ id: 'TelegramLinkRequest' })
export type TelegramLinkRequest = z.output<typeof TelegramLinkRequest>

/** A one-time link for a chat with the bot. */
export const TelegramLink = z
  .object({
    url: z.string().meta({ description: 'operations:field.chatUrl' }),
    groupUrl: z.string().meta({ description: 'operations:field.groupUrl' }),
    expiresAt: Instant,
  })
  .meta({ id: 'TelegramLink' })
export type TelegramLink = z.output<typeof TelegramLink>

/** A recipient of an alert or notice. */
export interface NotifiedRecipient {
  readonly id: number
  readonly channel: ChannelKey
  readonly partitionKey: string
  readonly locale: Locale
  readonly timezone: string
  /** Whether the recipient is a group chat, which people read who do not manage the wallet. */
  readonly isGroup: boolean
  /** Whether the recipient is a chat that follows a provider without a wallet. */
  readonly isFollower: boolean
  /** End of the recipient's mute; messages are deferred until then. */
  readonly mutedUntil: Date | null
  /** Whether the destination is off or not confirmed yet; messages are retained until that changes. */
  readonly isOff: boolean
}

/** Content of a one-time code for the link card. */
export interface TelegramLinkOffer {
  readonly wallet: Address
  readonly name: string | null
  readonly scopes: readonly Scope[]
  /** Label of the API token that created the link. */
  readonly madeBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Time zone that the chat has, or gets when it is linked. */
  readonly timezone: string
}
