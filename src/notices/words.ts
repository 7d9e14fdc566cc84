/** Words of notices: lists of watches, credits, days and times, each for one reader. Pure. */
import { PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { formatDate, formatDateTime, formatDuration, formatList } from '#src/i18n/format.ts'
import { isolate, withoutDirections } from '#src/i18n/isolates.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Notice } from './model.ts'

/** Maximum number of watches that are named in one sentence; the rest is counted. */
const NAMES_MAX = 5

/** Texts of a notice: its title, and its sentences, one per line. */
export interface NoticeText {
  readonly title: string
  readonly lines: readonly string[]
}

/** Locale and time zone of the reader. */
export interface NoticeReader {
  readonly t: Translate
  /** IANA name of a time zone. */
  readonly timezone: string
}

/** A notice of one kind. */
export type NoticeOf<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>

/** The first labels, and the number of the others; undefined if there are none. */
export function firstLabels(t: Translate, labels: readonly string[]): string | undefined {
  if (labels.length === 0) return undefined
  const shown = labels.slice(0, NAMES_MAX).map((label) => isolate(withoutDirections(label)))
  const rest = labels.length - shown.length
  const all = rest === 0 ? shown : [...shown, t('notices:more', { count: rest })]
  return formatList(all, t.locale)
}

/** Sentence with the price of a slot. */
export function slotPriceText(t: Translate): string {
  const duration = formatDuration(PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
  return t('notices:slotPrice', { price: creditsWithUsd(t, SLOT_PRICE_CREDITS), duration })
}

/** Credits with their number. */
export function creditsText(t: Translate, count: number): string {
  return t('units:credits', { count })
}

/** A date in the reader's time zone. */
export function dateText({ t, timezone }: NoticeReader, at: Date): string {
  return formatDate(at, t.locale, timezone)
}

/** An instant in the reader's time zone. */
export function timeText({ t, timezone }: NoticeReader, at: Date): string {
  return formatDateTime(at, t.locale, timezone)
}
