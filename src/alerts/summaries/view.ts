/** Texts, order and period of a summary. Pure. */
import { alertsOfLast24Hours, packed } from '#src/actions/codec.ts'
import type { EnvelopeMessage, MessageButton } from '#src/channels/envelope.ts'
import { formatDateTime, formatList, formatTime } from '#src/i18n/format.ts'
import { type Translate, translator } from '#src/i18n/translate.ts'
import { DAY_MS, type TimePeriod } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Settings } from '#src/recipients/settings.ts'
import { digestPeriodAt, quietPeriodAt } from '#src/recipients/timing.ts'
import { type Reader, recoveredTitle } from '../messages/render.ts'
import type { DeferredCounts } from './deferred-store.ts'

/** Reason of the deferral, which the title states. */
export type DeferralReason = 'quiet' | 'digest' | 'muted'

export const REASON_GLYPHS: Readonly<Record<DeferralReason, string>> = {
  quiet: '☀️',
  digest: '🗂️',
  muted: '🔕',
}

/** The message whose page a summary links to. */
export function newestMessage(messages: readonly EnvelopeMessage[]): EnvelopeMessage | undefined {
  return messages.toSorted((a, b) => a.firedAt.localeCompare(b.firedAt)).at(-1)
}

/**
 * The line of a deferred alert. If the alert has recovered, the line says so, and after how long.
 *
 * @param recoveredAfter in seconds; null for recoveries and open alerts
 */
export function summaryLine(
  message: EnvelopeMessage,
  recoveredAfter: number | null,
  locale: Locale,
): EnvelopeMessage {
  if (recoveredAfter === null) return message
  const title = recoveredTitle(translator(locale), message.title, recoveredAfter)
  return { ...message, title, isRecovery: true, canRecover: false }
}

/** Sorts alerts: open alerts first, then by time. A digest groups the alerts of one watch. */
export function sortSummaryMessages(
  messages: readonly EnvelopeMessage[],
  firing: ReadonlySet<number | null>,
  byWatch: boolean,
): readonly EnvelopeMessage[] {
  const isFiring = ({ alertId }: EnvelopeMessage) => alertId !== null && firing.has(alertId)
  const place = new Map<number | null, number>()
  for (const { watchId } of messages) place.set(watchId, place.get(watchId) ?? place.size)
  const watch = ({ watchId }: EnvelopeMessage) => (byWatch ? (place.get(watchId) ?? 0) : 0)
  return messages.toSorted(
    (a, b) => Number(isFiring(b)) - Number(isFiring(a)) || watch(a) - watch(b),
  )
}

/** Title and body of a summary. */
export function deferredSummaryText(
  t: Translate,
  options: {
    readonly reason: DeferralReason
    readonly period: TimePeriod
    readonly counts: DeferredCounts
    readonly reader: Reader
  },
): Pick<EnvelopeMessage, 'title' | 'body'> {
  const { reason } = options
  const { lines, alerts: count, recovered: over } = options.counts
  const period = periodText(t, options.period, options.reader)
  const alerts = t('units:alerts', { count })
  const others = lines - count
  const recoveries = others === 0 ? [] : [t('units:recoveries', { count: others })]
  const what = formatList([...(count === 0 ? [] : [alerts]), ...recoveries], t.locale)
  return {
    title:
      reason === 'digest'
        ? t('messages:summary.digest', { period, what })
        : t(`messages:summary.${reason}`, { period }),
    body:
      over === 0
        ? t('messages:summary.count', { what })
        : [
            t('messages:summary.countRecovered', { alerts, count: over }),
            ...recoveries.map((text) => t('messages:summary.count', { what: text })),
          ].join(' '),
  }
}

/** A period as times of day; with dates if it is longer than a day. */
function periodText(t: Translate, { from, to }: TimePeriod, { timezone }: Reader): string {
  const isShort = to.getTime() - from.getTime() < DAY_MS
  const text = (at: Date) =>
    isShort
      ? formatTime(at, t.locale, timezone)
      : formatDateTime(at, t.locale, timezone, { offset: false, year: false })
  return t('messages:summary.period', { from: text(from), to: text(to) })
}

/** Facts about deferred alerts that decide the stated reason and period. */
interface DeferralTimes {
  readonly settings: Settings
  readonly wakes: Date | null
  /** Time of the first firing. */
  readonly firstAt: Date
  readonly now: Date
}

/** The reason of the deferral: the mute, quiet hours or digest that ended last. */
export function deferralReasonOf({ settings, wakes, firstAt, now }: DeferralTimes): DeferralReason {
  // The mute ended last, so it is the reason.
  if (wakes !== null && wakes <= now && wakes > firstAt) return 'muted'
  return settings.digest === 'off' ? 'quiet' : 'digest'
}

/** The period of a summary: the quiet hours, up to the time of the digest, or since the first message. */
export function summaryPeriodOf(
  reason: DeferralReason,
  options: DeferralTimes & { readonly lastAt: Date; readonly timezone: string },
): TimePeriod {
  const { settings, timezone, wakes, now } = options
  const first = options.firstAt < now ? options.firstAt : now
  const last = options.lastAt > first ? options.lastAt : first
  if (reason === 'muted') return { from: first, to: wakes ?? now }
  const { digest, digestAt, quietHours } = settings
  if (reason === 'digest' && digest !== 'off') {
    const around = (at: Date) => digestPeriodAt(digest, digestAt, timezone, at)
    const end = around(new Date(now.getTime() - 1))
    const to = end.to <= now ? end.to : end.from
    return { from: around(first).from, to: to > last ? to : now }
  }
  const quiet = quietPeriodAt(quietHours, timezone, first)
  return { from: quiet?.from ?? first, to: quietPeriodAt(quietHours, timezone, last)?.to ?? now }
}

/** Buttons: the list of the day's alerts, and the settings of the deferral. */
export function summaryButtons(
  t: Translate,
  reason: DeferralReason,
): readonly (readonly MessageButton[])[] {
  const second =
    reason === 'digest'
      ? { label: t('messages:button.settings'), act: packed('settings') }
      : { label: t('messages:button.menu'), act: packed('home') }
  return [[{ label: t('messages:button.open'), act: alertsOfLast24Hours() }], [second]]
}
