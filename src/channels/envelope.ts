import { z } from 'zod'
import { ButtonData } from '#src/actions/codec.ts'
import { SIGNAL_HELP_SECTIONS } from '#src/i18n/signal-help.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { type Estimate, OtherProviders } from '#src/kernel/outage-figures.ts'
import { Address, AssetDecimals, JsonObject } from '#src/kernel/units.ts'

/** What can be opened below a message, one at a time: a section of the help, or the ways to mute. */
export const OPEN_PARTS = [...SIGNAL_HELP_SECTIONS, 'mute'] as const
export type OpenPart = (typeof OPEN_PARTS)[number]

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
  /** Number of the alert's incident within its wallet. */
  readonly incidentId: number | null
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

/**
 * A message in an envelope, with the effect of its event on an alert. Webhooks do not contain the effect.
 */
export interface EnvelopeMessage extends Message {
  /** Whether the event ends an alert. */
  readonly isRecovery: boolean
  /** Whether the event starts an alert that a recovery can end. */
  readonly canRecover: boolean
  /** Keys of the fields whose values its title or body states. */
  readonly stated?: readonly string[]
  /** In a group: start of the outage that the alert reports, or that the recovery ends. RFC 3339. */
  readonly startedAt?: string
  /** In a group: end of the outage that the recovery ends. RFC 3339. */
  readonly endedAt?: string
  /** In a group: type and signal of the alert, by which its help is found, and the form of the help. */
  readonly source?: {
    readonly type: string | null
    readonly signal: string | null
    readonly form?: string
  }
}

/**
 * Kinds of messages. `alert`: an event fired, or an alert recovered. `raised`: an active alert became more
 * severe. `reminder`: an active alert is unacknowledged. `group`: several alerts of one watch. `rollup`:
 * many alerts of a minute. `summary`: messages deferred by quiet hours or for the digest. `notice`: about
 * the service, never sent to programs.
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

/** Whether a message is about one alert, and not a list of alerts or a notice. */
export function isOneAlert(kind: EnvelopeKind = 'alert'): boolean {
  return kind === 'alert' || kind === 'raised' || kind === 'reminder'
}

/**
 * An action for the reader: a page, or an action of the bot given by its button data. Channels without
 * buttons show pages as links and omit actions.
 */
export type MessageButton =
  | { readonly label: string; readonly url: string }
  | { readonly label: string; readonly act: ButtonData }

/** An amount of an asset in its smallest unit, as decimal text. */
export interface MovedAmount {
  readonly units: string
  readonly decimals: number
  readonly symbol: string
}

/** What a group of alerts or recoveries has in common. */
export interface Cause {
  /**
   * `silent`: a provider sends nothing at all. `ftso`, `fdc`: it sends no valid votes of this protocol. `healthy`:
   * all alerts have recovered. `moved`: amounts of one asset left a wallet or arrived.
   */
  readonly kind: 'silent' | 'ftso' | 'fdc' | 'healthy' | 'moved'
  /** Number of voting rounds in a row in which all of the votes failed, or that were lost in the outage. */
  readonly rounds?: number
  /** How many of the other providers failed as well: by the duty that the fewest of them failed. */
  readonly others?: OtherProviders
  /** The rounds of the outage, and about how much rewards they earn; of `healthy` if every vote failed. */
  readonly cost?: JsonObject
  /** For `moved`: the sum of what left; absent if nothing left. */
  readonly sent?: MovedAmount
  /** For `moved`: the sum of what arrived; absent if nothing arrived. */
  readonly received?: MovedAmount
  /** For `moved`: number of decimals that tell its amounts apart; absent if they differ as people read them. */
  readonly rounded?: number
}

/** The picture of a message: the voting rounds of a provider up to `round`. */
export interface MessagePicture {
  /** `recovery`: all is well again. */
  readonly kind: 'outage' | 'recovery'
  readonly provider: Address
  readonly round: number
}

/** Content of a delivery: the message and the data that programs need. Plain JSON. */
export interface Envelope {
  /** A UUID, the same for every attempt. */
  readonly deliveryId: string
  readonly type: string | null
  readonly signal: string | null
  readonly group: string | null
  readonly data: JsonObject
  readonly locale: Locale
  /** IANA name of the reader's time zone. */
  readonly timezone: string
  readonly message: EnvelopeMessage
  /** Kind of the message; `alert` by default. */
  readonly kind?: EnvelopeKind
  /** The alert that this message replies to: a recovery, a reminder, a raised severity. */
  readonly answers?: number
  /** For groups: the alerts that their messages reply to. */
  readonly answersEach?: readonly number[]
  /**
   * Severity and title of the message about the earlier alert to this reader, so that an e-mail keeps its
   * subject.
   */
  readonly answered?: { readonly severity: Severity; readonly title: string }
  /** Start of the episode: time of its first alert, for recoveries and raised severities. RFC 3339. */
  readonly startedAt?: string
  /** For recoveries: name of the person who acknowledged the alert. */
  readonly takenBy?: string
  /** For a follow-up group: whether its items are raised severities or reminders. */
  readonly of?: 'raised' | 'reminder'
  /** For groups, roll-ups and summaries: their messages, in order. */
  readonly items?: readonly EnvelopeMessage[]
  /** For summaries: number of messages beyond the items. */
  readonly more?: number
  /** For groups: the common cause of their messages. */
  readonly cause?: Cause
  /** For groups: their picture, if they have one. */
  readonly picture?: MessagePicture
  /** For weekly cards: code of the card's picture. */
  readonly card?: string
  /** For recoveries: whether other alerts of the watch were active. */
  readonly hasOthers?: boolean
  /** For a group of recoveries: whether it replies to the message that lists them. */
  readonly repliesToList?: boolean
  /**
   * For escalations: seconds for which the alert has been active without an acknowledgement; for a group, the
   * longest of its escalations.
   */
  readonly unacknowledgedSeconds?: number
  /** Rows of buttons of a notice or summary. The buttons of an alert are derived from the alert. */
  readonly buttons?: readonly (readonly MessageButton[])[]
}

const MessageShape = z.object({
  alertId: z.int().nullable(),
  incidentId: z.int().nullable(),
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

interface ChainNames {
  readonly chainId: number
  readonly network: string
}

/** `Message` with its chain, for programs that receive messages from several services. */
export const ChainMessage: z.ZodType<Message & ChainNames> = MessageShape.extend({
  chainId: z.int(),
  network: z.string(),
})

const StoredMessage = MessageShape.extend({
  isRecovery: z.boolean(),
  canRecover: z.boolean(),
  stated: z.array(z.string()).exactOptional(),
  startedAt: z.iso.datetime().exactOptional(),
  endedAt: z.iso.datetime().exactOptional(),
  source: z
    .object({
      type: z.string().nullable(),
      signal: z.string().nullable(),
      form: z.string().exactOptional(),
    })
    .exactOptional(),
})

const StoredAmount = z.object({ units: z.string(), decimals: AssetDecimals, symbol: z.string() })

/** `Envelope` as JSON, as the outbox stores it. */
export const Envelope: z.ZodType<Envelope> = z.object({
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
  answersEach: z.array(z.int()).exactOptional(),
  answered: z.object({ severity: z.enum(SEVERITIES), title: z.string() }).exactOptional(),
  startedAt: z.iso.datetime().exactOptional(),
  takenBy: z.string().exactOptional(),
  of: z.enum(['raised', 'reminder']).exactOptional(),
  items: z.array(StoredMessage).exactOptional(),
  more: z.int().exactOptional(),
  cause: z
    .object({
      kind: z.enum(['silent', 'ftso', 'fdc', 'healthy', 'moved']),
      rounds: z.int().exactOptional(),
      others: OtherProviders.exactOptional(),
      cost: JsonObject.exactOptional(),
      sent: StoredAmount.exactOptional(),
      received: StoredAmount.exactOptional(),
      rounded: z.int().exactOptional(),
    })
    .exactOptional(),
  picture: z
    .object({ kind: z.enum(['outage', 'recovery']), provider: Address, round: z.int() })
    .exactOptional(),
  card: z.string().exactOptional(),
  hasOthers: z.boolean().exactOptional(),
  repliesToList: z.boolean().exactOptional(),
  unacknowledgedSeconds: z.number().exactOptional(),
  buttons: z
    .array(
      z.array(
        z.union([
          z.object({ label: z.string(), url: z.string() }),
          z.object({ label: z.string(), act: ButtonData }),
        ]),
      ),
    )
    .exactOptional(),
})

/** Facts that the recovery of an alert states about the outage. */
export interface RecoverySummary {
  readonly title: string
  /** Length of the outage. */
  readonly seconds?: number
}

/** Figures of an open alert as they are now. */
export interface CurrentFigures {
  readonly title: string
  readonly fields: readonly MessageField[]
  readonly data: JsonObject
}

/** State of an alert after its message was sent; names of people are in the reader's language. */
export interface MessageState {
  readonly acknowledged?: { readonly at: Date; readonly by: string | null }
  /** What a person wrote about the alert. */
  readonly note?: { readonly at: Date; readonly by: string | null; readonly text: string }
  /** End of the mute of the alert or its watch in chats and mailboxes. */
  readonly muted?: { readonly until: Date | 'recovered' }
  readonly recoveredAt?: Date
  /** Renders the summary of the recovery. Undefined, or returns undefined, if there is no text for it. */
  readonly recovery?: (reader: Pick<Envelope, 'locale' | 'timezone'>) => RecoverySummary | undefined
  /** Number of voting rounds lost in the outage, as its recovery states it. */
  readonly lostRounds?: number
  /** About how much rewards as many rounds earn, as the recovery states it. */
  readonly lostRewards?: Estimate
  /** Renders the alert with its figures of now, or of its end. Undefined, or returns undefined, as `recovery`. */
  readonly current?: (reader: Pick<Envelope, 'locale' | 'timezone'>) => CurrentFigures | undefined
  /** Whether it is open and has figures that grow with time, such as a number of rounds. */
  readonly isGrowing?: boolean
  /** End of the alert without a recovery, because its watch was deleted. */
  readonly closedAt?: Date
  /** Whether it is closed because it was deleted from the history; the time of that is not known. */
  readonly isDeleted?: boolean
  /** Time of the escalation, and the names of the recipients that it notified. */
  readonly escalated?: { readonly at: Date; readonly to: readonly string[] }
  /** Time at which the message was sent, or is shown again; times of other days have their date. */
  readonly shownAt?: Date
  /** What a person has opened below the message. */
  readonly open?: OpenPart
  /** For groups: state of each alert in it, by id. */
  readonly items?: ReadonlyMap<number, MessageState>
}
