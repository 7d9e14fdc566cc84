/**
 * A notice is about the service itself, not about the chain: slots that end, credits that arrived, a
 * destination that is off. Recipients are the private chats of the wallet, or its mailboxes if there is no
 * chat; only the loss of a topic is sent to its group. Each recipient gets each notice once, because the
 * notice is recorded in the transaction of its cause.
 */
import type {
  ComingRenewal,
  EndingSlots,
  EndingTrial,
} from '#src/billing/subscriptions/reminders.ts'
import type { FailedRenewal, PaidRenewal } from '#src/billing/subscriptions/renewal.ts'
import type { CreditedPayment } from '#src/billing/topups/settle.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { WeeklyCard } from '#src/pictures/weekly-card.ts'
import type { AddedRecipient } from '#src/recipients/added.ts'
import type { RefusedRecipient } from '#src/recipients/consent.ts'
import type { StoppedDestination } from '#src/recipients/destinations.ts'
import type { EpochReport } from '#src/watches/epoch-report.ts'

/**
 * Display of each kind of notice: its emoji, its severity, and whether it concerns the safety of the
 * account, which ignores quiet hours.
 */
export const NOTICE_KINDS = {
  'slots-end': { glyph: '🎟️', severity: 'warning', security: false },
  'renewal-ahead': { glyph: '🎟️', severity: 'info', security: false },
  renewed: { glyph: '🎟️', severity: 'info', security: false },
  'renewal-failed': { glyph: '🎟️', severity: 'warning', security: false },
  suspended: { glyph: '🎟️', severity: 'warning', security: false },
  resumed: { glyph: '🎟️', severity: 'info', security: false },
  'trial-ends': { glyph: '🎟️', severity: 'warning', security: false },
  'trial-ended': { glyph: '🎟️', severity: 'warning', security: false },
  'destination-off': { glyph: '📪', severity: 'warning', security: true },
  refused: { glyph: '📪', severity: 'warning', security: false },
  'topic-gone': { glyph: '📪', severity: 'warning', security: false },
  linked: { glyph: '🔗', severity: 'warning', security: true },
  credited: { glyph: '💳', severity: 'info', security: false },
  weekly: { glyph: '🗓️', severity: 'info', security: false },
  'epoch-report': { glyph: '📋', severity: 'info', security: false },
  announcement: { glyph: '📣', severity: 'info', security: false },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly glyph: string
      readonly severity: Severity
      readonly security: boolean
    }
  >
>

/** Labels of watches, oldest first. */
type Watches = readonly string[]

/** A notice with the values its text needs. */
export type Notice =
  | ({ readonly kind: 'slots-end'; readonly stopping: Watches } & Pick<
      EndingSlots,
      'id' | 'quantity' | 'endsAt' | 'renewal' | 'offer'
    >)
  | ({ readonly kind: 'renewal-ahead' } & Pick<
      ComingRenewal,
      'quantity' | 'endsAt' | 'credits' | 'balanceCredits'
    >)
  | ({ readonly kind: 'renewed' } & Pick<
      PaidRenewal,
      'quantity' | 'endsAt' | 'credits' | 'balanceCredits'
    >)
  | ({ readonly kind: 'renewal-failed'; readonly stopping: Watches } & Pick<
      FailedRenewal,
      'quantity' | 'missingCredits' | 'nextTryAt' | 'lastTryAt' | 'goneAt'
    >)
  | { readonly kind: 'suspended'; readonly watches: Watches; readonly at: Date }
  | { readonly kind: 'resumed'; readonly watches: Watches }
  | ({ readonly kind: 'trial-ends'; readonly stopping: Watches } & Pick<EndingTrial, 'endsAt'>)
  | { readonly kind: 'trial-ended'; readonly watches: Watches; readonly at: Date }
  | ({ readonly kind: 'destination-off'; readonly kept: number; readonly at: Date } & Pick<
      StoppedDestination,
      'id' | 'channel' | 'name' | 'target' | 'statusReason' | 'failingSince'
    >)
  | ({ readonly kind: 'refused' } & Pick<RefusedRecipient, 'name' | 'target'>)
  | { readonly kind: 'topic-gone' }
  | ({ readonly kind: 'linked' } & AddedRecipient)
  | ({ readonly kind: 'credited'; readonly symbol: string } & Pick<
      CreditedPayment,
      'asset' | 'amountUnits' | 'credits' | 'bonusCredits' | 'balanceCredits' | 'purchase'
    >)
  | ScheduledNotice
  | { readonly kind: 'announcement'; readonly texts: AnnouncementTexts }

/** A notice that a wallet asked for, and that no event causes. */
export type ScheduledNotice =
  | { readonly kind: 'weekly'; readonly watchId: number; readonly card: WeeklyCard }
  /** `name`: label of the watch. */
  | { readonly kind: 'epoch-report'; readonly name: string; readonly report: EpochReport }

/** What the operator tells the owners, in their language. */
export type AnnouncementTexts = Readonly<
  Record<Locale, { readonly title: string; readonly lines: readonly string[] }>
>

/** A notice within this time after another notice joins the next message. */
export const JOIN_NOTICES_MINUTES = 10

/** Days for which sent notices are recorded, longer than a cause can recur. */
export const RETENTION_DAYS = 90
