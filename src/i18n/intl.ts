import { intlTag, type Locale } from '#src/kernel/locale.ts'

/** The `Intl` objects of every locale, cached: they are slow to build and safe to share. */

const NUMBER_STYLES = {
  number: {},
  amount: { maximumFractionDigits: 4, signDisplay: 'negative' },
  amountChange: { maximumFractionDigits: 4, signDisplay: 'exceptZero' },
  rounded: { maximumFractionDigits: 2, signDisplay: 'negative' },
  roundedChange: { maximumFractionDigits: 2, signDisplay: 'exceptZero' },
  exact: { maximumFractionDigits: 36, signDisplay: 'negative' },
  exactChange: { maximumFractionDigits: 36, signDisplay: 'exceptZero' },
  money: { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'negative' },
  moneyChange: { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' },
  dust: { maximumSignificantDigits: 2 },
  dustChange: { maximumSignificantDigits: 2, signDisplay: 'exceptZero' },
  price: { maximumSignificantDigits: 6 },
  percent: { style: 'percent', maximumFractionDigits: 2, signDisplay: 'negative' },
  chance: { style: 'percent', maximumSignificantDigits: 2, roundingMode: 'floor' },
  odds: {
    notation: 'compact',
    compactDisplay: 'long',
    maximumSignificantDigits: 2,
    useGrouping: 'always',
  },
  plainOdds: { maximumSignificantDigits: 2 },
  shortOdds: { notation: 'compact', maximumSignificantDigits: 2 },
  move: { style: 'percent', maximumFractionDigits: 2, signDisplay: 'exceptZero' },
} as const satisfies Record<string, Intl.NumberFormatOptions>

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const TIME_STYLES = {
  dateTime: { year: 'numeric', month: 'short', day: 'numeric', ...TIME },
  dayTime: { month: 'short', day: 'numeric', ...TIME },
  date: { year: 'numeric', month: 'short', day: 'numeric' },
  day: { month: 'short', day: 'numeric' },
  weekday: { weekday: 'short' },
  time: TIME,
  timeSeconds: { ...TIME, second: '2-digit' },
  offset: { timeZoneName: 'shortOffset' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** Chinese writes no comma before 万 and 亿. */
const CHINESE_ODDS = { useGrouping: false } as const

/** Number formats, cached by locale and style. */
export const numberFormat = remembered(
  (locale: Locale, style: keyof typeof NUMBER_STYLES) =>
    new Intl.NumberFormat(intlTag(locale), {
      ...NUMBER_STYLES[style],
      ...(locale === 'zh' && /odds/i.test(style) && CHINESE_ODDS),
    }),
)

/** Decimal text with at most this many decimals, without grouping; the text itself unless it is a number of them. */
export function inDecimals(value: `${number}`, decimals: unknown): string {
  return typeof decimals === 'number' ? decimalsFormat(String(decimals)).format(value) : value
}

const decimalsFormat = remembered(
  (decimals: string) =>
    new Intl.NumberFormat('en', {
      maximumFractionDigits: Number(decimals),
      useGrouping: false,
      signDisplay: 'negative',
    }),
)

/** Time formats, cached by locale, style and time zone. */
export const timeFormat = remembered(
  (locale: Locale, style: keyof typeof TIME_STYLES, timeZone: string) =>
    new Intl.DateTimeFormat(intlTag(locale), { ...TIME_STYLES[style], timeZone }),
)

/** The name that `Intl` uses for a time zone, however the zone is written; empty for unknown names. */
export const zoneName = remembered((timeZone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return ''
  }
})

/** Days are always written out in German: *Tg.* is not usual. */
const GERMAN_DAYS = { days: 'long', daysDisplay: 'auto' } as const

/** Duration formats. `always` writes 0 seconds, which `Intl` otherwise leaves empty. */
export const durationFormat = remembered(
  (locale: Locale, style: 'long' | 'short', secondsDisplay: 'auto' | 'always') =>
    new Intl.DurationFormat(intlTag(locale), {
      style,
      secondsDisplay,
      ...(locale === 'de' && GERMAN_DAYS),
    }),
)

/** Relative time formats, for the past. */
export const agoFormat = remembered(
  (locale: Locale) => new Intl.RelativeTimeFormat(intlTag(locale), { numeric: 'always' }),
)

/** List formats: words joined by commas and "and". */
export const listFormat = remembered(
  (locale: Locale) => new Intl.ListFormat(intlTag(locale), { type: 'conjunction' }),
)

/**
 * Caches the results of a constructor by its arguments. A full cache is emptied; it can fill, because users type
 * the names of zones in upper and lower case.
 */
function remembered<Arguments extends readonly string[], Made>(
  make: (...values: Arguments) => Made,
): (...values: Arguments) => Made {
  const made = new Map<string, Made>()
  return (...values) => {
    const key = values.join(' ')
    const known = made.get(key)
    if (known !== undefined) return known
    if (made.size >= 2_000) made.clear()
    const fresh = make(...values)
    made.set(key, fresh)
    return fresh
  }
}

/** Removes the marks that `Intl` puts around signs in Arabic; isolates replace them. */
export function withoutDirectionMarks(text: string): string {
  return text.replace(/[\u200e\u200f\u061c]/g, '')
}

/**
 * Like `withoutDirectionMarks`, for a number: also replaces the hyphen of `Intl` by a minus sign as wide as
 * the plus sign.
 */
export function withMinusSign(formattedNumber: string): string {
  return withoutDirectionMarks(formattedNumber).replace(/^-/, '\u2212')
}
