/** How notices name things: several watches, credits, days and times, each for one reader. Pure. */
import { PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { formatDate, formatDateTime, formatDuration, formatList } from '#src/i18n/format.ts'
import { isolate, withoutDirections } from '#src/i18n/isolates.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Notice } from './model.ts'

/** Names of watches in one sentence; the rest is counted. */
const NAMES_MAX = 5

/** What a notice says: its title, and its sentences, each a line. */
export interface NoticeText {
  readonly title: string
  readonly lines: readonly string[]
}

/** Who reads, on which clock. */
export interface NoticeReader {
  readonly t: Translate
  /** IANA name. */
  readonly timezone: string
}

/** A notice of one kind. */
export type Of<Kind extends Notice['kind']> = Extract<Notice, { kind: Kind }>

/** The first names and how many more; undefined when there are none. */
export function names(t: Translate, labels: readonly string[]): string | undefined {
  if (labels.length === 0) return undefined
  const shown = labels.slice(0, NAMES_MAX).map((label) => isolate(withoutDirections(label)))
  const rest = labels.length - shown.length
  const all = rest === 0 ? shown : [...shown, t('notices:more', { count: rest })]
  return formatList(all, t.locale)
}

/** The sentence about what a slot costs. */
export function slotPrice(t: Translate): string {
  const duration = formatDuration(PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
  return t('notices:slotPrice', { price: credits(t, SLOT_PRICE_CREDITS), duration })
}

/** Credits, counted. */
export function credits(t: Translate, count: number): string {
  return t('units:credits', { count })
}

/** A day on the reader's calendar. */
export function day({ t, timezone }: NoticeReader, at: Date): string {
  return formatDate(at, t.locale, timezone)
}

/** An instant on the reader's clock. */
export function time({ t, timezone }: NoticeReader, at: Date): string {
  return formatDateTime(at, t.locale, timezone)
}
