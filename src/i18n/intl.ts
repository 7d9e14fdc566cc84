import type { Locale } from '#src/kernel/locale.ts'

/**
 * The `Intl` objects of every locale, made once: they are slow to build and safe to share.
 */

/** What `Intl` is asked for: a bare `bn` would give Bengali digits, `ar` and `hi` depend on the build. */
const TAGS: Readonly<Record<Locale, string>> = {
  en: 'en',
  de: 'de',
  fr: 'fr',
  bn: 'bn-u-nu-latn',
  zh: 'zh-Hans-u-nu-latn',
  hi: 'hi-u-nu-latn',
  ar: 'ar-u-nu-latn',
}

const NUMBER_STYLES = {
  number: {},
  amount: { maximumFractionDigits: 4, signDisplay: 'negative' },
  amountChange: { maximumFractionDigits: 4, signDisplay: 'exceptZero' },
  dust: { maximumSignificantDigits: 2 },
  dustChange: { maximumSignificantDigits: 2, signDisplay: 'exceptZero' },
  price: { maximumSignificantDigits: 6 },
  percent: { style: 'percent', maximumFractionDigits: 2, signDisplay: 'negative' },
  move: { style: 'percent', maximumFractionDigits: 2, signDisplay: 'exceptZero' },
} as const satisfies Record<string, Intl.NumberFormatOptions>

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const TIME_STYLES = {
  dateTime: { year: 'numeric', month: 'short', day: 'numeric', ...TIME },
  dayTime: { month: 'short', day: 'numeric', ...TIME },
  date: { year: 'numeric', month: 'short', day: 'numeric' },
  time: TIME,
  timeSeconds: { ...TIME, second: '2-digit' },
  offset: { timeZoneName: 'shortOffset' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** Numbers in one of our styles. */
export const numberFormat = remembered(
  (locale: Locale, style: keyof typeof NUMBER_STYLES) =>
    new Intl.NumberFormat(TAGS[locale], NUMBER_STYLES[style]),
)

/** Instants in one of our styles, in a time zone. */
export const timeFormat = remembered(
  (locale: Locale, style: keyof typeof TIME_STYLES, timeZone: string) =>
    new Intl.DateTimeFormat(TAGS[locale], { ...TIME_STYLES[style], timeZone }),
)

/** Lengths of time. `always` writes 0 seconds too, which is otherwise nothing at all. */
export const durationFormat = remembered(
  (locale: Locale, style: 'long' | 'short', secondsDisplay: 'auto' | 'always') =>
    new Intl.DurationFormat(TAGS[locale], { style, secondsDisplay }),
)

/** How long ago. */
export const agoFormat = remembered(
  (locale: Locale) => new Intl.RelativeTimeFormat(TAGS[locale], { numeric: 'always' }),
)

/** Words joined by commas and "and". */
export const listFormat = remembered(
  (locale: Locale) => new Intl.ListFormat(TAGS[locale], { type: 'conjunction' }),
)

/** Keeps what was made per arguments. Starts over when full: zone names come from outside, in any case. */
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

/** The marks `Intl` puts around signs in Arabic; isolates do their work. */
export function plain(text: string): string {
  return text.replace(/[\u200e\u200f\u061c]/g, '')
}
