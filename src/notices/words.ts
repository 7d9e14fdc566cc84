/** Words of notices: credits, days and times, each for one reader. Pure. */
import { PERIOD_DAYS, SLOT_PRICE_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { formatDate, formatDateTime, formatDuration } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Notice } from './model.ts'

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

/** Sentence with the price of a slot. */
export function slotPriceText(t: Translate): string {
  const duration = formatDuration(PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
  return t('notices:slotPrice', { price: creditsWithUsd(t, SLOT_PRICE_CREDITS), duration })
}

/** A date in the reader's time zone. */
export function dateText({ t, timezone }: NoticeReader, at: Date): string {
  return formatDate(at, t.locale, timezone)
}

/** An instant in the reader's time zone. */
export function timeText({ t, timezone }: NoticeReader, at: Date): string {
  return formatDateTime(at, t.locale, timezone)
}
