import { formatUnits } from 'viem/utils'
import type { DisplayValue, DisplayValues } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { formatChance } from './chance.ts'
import {
  agoFormat,
  durationFormat,
  inDecimals,
  listFormat,
  numberFormat,
  timeFormat,
  withMinusSign,
  withoutDirectionMarks,
  zoneName,
} from './intl.ts'
import { isolate, withoutIsolates } from './isolates.ts'
import { checkedKey, type TextValue, translate, typed } from './translate.ts'
import { withSymbols } from './unit-symbols.ts'

/**
 * Numbers, amounts, dates and durations in the notation of a locale, from `Intl`, with Latin digits
 * everywhere. Pure. Results contain no direction marks; `translate` isolates them where needed.
 */

const NO_BREAK_SPACE = '\u00a0'

/** A number with the locale's grouping and decimal sign, at most 3 decimals. */
export function formatNumber(value: number, locale: Locale): string {
  return withMinusSign(numberFormat(locale, 'number').format(value))
}

/** An amount in the smallest unit, with its symbol. `signed` shows a plus sign too. */
export function formatAmount(
  amount: {
    readonly units: bigint
    readonly decimals: number
    readonly symbol: string
    readonly signed?: boolean
    readonly rounded?: 'whole' | 'none' | number
  },
  locale: Locale,
): string {
  return formatDecimal({ ...amount, value: formatUnits(amount.units, amount.decimals) }, locale)
}

/**
 * An amount in whole units, as decimal text, with its symbol. It has at most 4 decimals; with `rounded` `whole`
 * at most 2 if it is 1 or more; with `none` all.
 *
 * A value that would round to 0 and is not 0 keeps its first two significant digits. Dollars with cents have
 * two decimals.
 */
export function formatDecimal(
  amount: {
    readonly value: string
    readonly symbol: string
    readonly signed?: boolean
    readonly rounded?: 'whole' | 'none' | number
  },
  locale: Locale,
): string {
  const value = numeric(inDecimals(numeric(amount.value), amount.rounded))
  const style = amountStyle(value, amount)
  const name = amount.signed ? (`${style}Change` as const) : style
  return withSymbol(numberFormat(locale, name).format(value), amount.symbol)
}

function amountStyle(
  value: string,
  { symbol, rounded }: { readonly symbol: string; readonly rounded?: 'whole' | 'none' | number },
): 'amount' | 'rounded' | 'exact' | 'dust' | 'money' {
  if (rounded === 'none' || typeof rounded === 'number') return 'exact'
  const isDust = /[1-9]/.test(value) && /^-?0\.0000[0-4]/.test(value)
  if (isDust) return 'dust'
  const hasCents = /\.0*[1-9]/.test(value) && !/^-?0\.00/.test(value)
  if (symbol === 'USD' && hasCents) return 'money'
  return rounded === 'whole' && !/^-?0(\.|$)/.test(value) ? 'rounded' : 'amount'
}

/** A price as decimal text, 6 significant digits, with its symbol. */
export function formatPrice(
  price: { readonly value: string; readonly symbol: string },
  locale: Locale,
): string {
  return withSymbol(numberFormat(locale, 'price').format(numeric(price.value)), price.symbol)
}

/** A ratio as percent: 0.05 is 5 %. `signed` shows a plus sign too. */
export function formatPercent(
  share: number,
  locale: Locale,
  options: { readonly signed?: boolean } = {},
): string {
  return withMinusSign(numberFormat(locale, options.signed ? 'move' : 'percent').format(share))
}

/** Date and wall-clock time in a zone, by default with the zone's offset. */
export function formatDateTime(
  at: Date,
  locale: Locale,
  timeZone: string,
  options: { readonly offset?: boolean; readonly year?: boolean } = {},
): string {
  const style = options.year === false ? 'dayTime' : 'dateTime'
  const wall = withoutMonthComma(
    withoutDirectionMarks(timeFormat(locale, style, timeZone).format(at)),
    locale,
  )
  return options.offset === false ? wall : withOffset(wall, at, timeZone)
}

/**
 * An instant in a sentence of a message that shows another time: the time of day, and the date only if it
 * is another day.
 *
 * @param shown the time that the message shows
 */
export function formatMoment(at: Date, locale: Locale, timeZone: string, shown: Date): string {
  if (isSameDay(at, shown, timeZone)) {
    return formatTime(at, locale, timeZone, { offset: true })
  }
  const time = formatDateTime(at, locale, timeZone)
  return withoutIsolates(translate(locale, 'messages:moment', { time }))
}

/** The day in a zone, without time. */
export function formatDate(at: Date, locale: Locale, timeZone: string): string {
  return withoutMonthComma(
    withoutDirectionMarks(timeFormat(locale, 'date', timeZone).format(at)),
    locale,
  )
}

/** The days from one to another: `23 Nov – 29 Nov`. */
export function formatSpan(from: Date, to: Date, locale: Locale, timeZone: string): string {
  const [first, last] = [from, to].map((at) =>
    withoutMonthComma(
      withoutDirectionMarks(timeFormat(locale, 'day', timeZone).format(at)),
      locale,
    ),
  )
  return `${first} – ${last}`
}

/** The short name of the day of the week. */
export function formatWeekday(at: Date, locale: Locale, timeZone: string): string {
  return withoutDirectionMarks(timeFormat(locale, 'weekday', timeZone).format(at))
}

/** Wall-clock time in a zone: `22:04`, with seconds and the zone's offset on demand. */
export function formatTime(
  at: Date,
  locale: Locale,
  timeZone: string,
  options: { readonly seconds?: boolean; readonly offset?: boolean } = {},
): string {
  const style = options.seconds ? 'timeSeconds' : 'time'
  const wall = withoutDirectionMarks(timeFormat(locale, style, timeZone).format(at))
  return options.offset ? withOffset(wall, at, timeZone) : wall
}

/**
 * A time in a message: the time of day, with the date before it unless the message is shown on the same day. A
 * time with its date has no seconds.
 *
 * @param options `isPhrase`: the text before the time is a preposition such as *since*
 */
export function formatTimeOn(
  at: Date,
  locale: Locale,
  timeZone: string,
  options: {
    readonly shownAt: Date
    readonly seconds?: boolean
    readonly offset?: boolean
    readonly isPhrase?: boolean
  },
): string {
  const { shownAt, offset = false, isPhrase = false } = options
  if (isSameDay(at, shownAt, timeZone)) return formatTime(at, locale, timeZone, options)
  const time = formatDateTime(at, locale, timeZone, { offset, year: false })
  return isPhrase ? withoutIsolates(translate(locale, 'messages:moment', { time })) : time
}

/** Whether two instants are on one day of a zone. */
export function isSameDay(a: Date, b: Date, timeZone: string): boolean {
  return formatDate(a, 'en', timeZone) === formatDate(b, 'en', timeZone)
}

/** Offset of a zone from UTC at an instant: `UTC`, `UTC+1`, `UTC-3:30`. The same in every locale. */
export function formatOffset(at: Date, timeZone: string): string {
  const parts = timeFormat('en', 'offset', timeZone).formatToParts(at)
  const name = parts.find((part) => part.type === 'timeZoneName')?.value ?? 'GMT'
  return name.replace('GMT', 'UTC').replace(/^UTC[+-]0$/, 'UTC')
}

/**
 * A duration in its largest unit and the next smaller one, which is omitted when it is 0.
 *
 * @param style `long` in sentences, `short` in fields and lists
 */
export function formatDuration(seconds: number, locale: Locale, style: 'long' | 'short'): string {
  const whole = Math.max(0, Math.floor(seconds))
  const first = unitFor(whole)
  const next = UNITS[UNITS.indexOf(first) + 1] ?? first
  const restCount = Math.floor((whole % first.seconds) / next.seconds)
  const duration = {
    ...(restCount > 0 && { [next.plural]: restCount }),
    [first.plural]: Math.floor(whole / first.seconds),
  }
  const text = durationFormat(locale, style, whole === 0 ? 'always' : 'auto').format(duration)
  const written = spaced(withoutDirectionMarks(text), locale)
  return style === 'short' ? withSymbols(written, locale) : written
}

/** Time since an event, in its largest unit: `3 minutes ago`. */
export function formatAgo(seconds: number, locale: Locale): string {
  const whole = Math.max(0, Math.floor(seconds))
  const unit = unitFor(whole)
  // Minus zero is formatted as past, zero as future.
  const text = agoFormat(locale).format(-Math.floor(whole / unit.seconds), unit.name)
  return spaced(withoutDirectionMarks(text), locale)
}

/** Words joined by commas and "and". In Arabic each word is isolated. */
export function formatList(items: readonly string[], locale: Locale): string {
  const text = listFormat(locale).format(locale === 'ar' ? items.map(isolate) : items)
  return spaced(text, locale)
}

/** Language and time zone of the reader of a value. */
interface ValueReader {
  readonly locale: Locale
  /** IANA name of a time zone. */
  readonly timeZone: string
}

/**
 * Formats a display value for a field, for a person or a program: addresses and hashes in full, so that
 * they can be copied, durations short, no isolates.
 */
export function formatDisplayValue(fact: DisplayValue, reader: ValueReader): string {
  return withoutIsolates(write(fact, reader, { whole: true, duration: 'short' }))
}

/**
 * Display values for the placeholders of a sentence: addresses and hashes shortened, durations in words,
 * names marked as typed.
 */
export function sentenceValues(
  facts: DisplayValues,
  reader: ValueReader,
): Record<string, TextValue> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      const text = write(fact, reader, { whole: false, duration: 'long' })
      return [name, fact.kind === 'name' ? typed(text) : text]
    }),
  )
}

/** Adds the spaces between Chinese and Latin characters, which `Intl` leaves out. */
function spaced(text: string, locale: Locale): string {
  return locale === 'zh' ? text.replace(BESIDE_HAN, ' ') : text
}

const BESIDE_HAN =
  /(?<=\p{Script=Han})(?=\u2068?[A-Za-z0-9])|(?<=[A-Za-z0-9]\u2069?)(?=\p{Script=Han})/gu

/** An address or hash shortened to its first 6 and last 4 characters: `0x3f12…A91c`. */
export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** Whether a text is the IANA name of a time zone, in any case. Offsets such as `+01:00` are not names. */
export function isTimeZone(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(name) && zoneName(name) !== ''
}

function write(
  fact: DisplayValue,
  { locale, timeZone }: ValueReader,
  how: { readonly whole: boolean; readonly duration: 'long' | 'short' },
): string {
  switch (fact.kind) {
    case 'amount':
      return formatAmount(fact, locale)
    case 'decimal':
      return formatDecimal({ ...fact, rounded: 'none' }, locale)
    case 'price':
      return formatPrice(fact, locale)
    case 'percent':
      return formatPercent(fact.value, locale, fact)
    case 'chance':
      return formatChance(fact.value, locale)
    case 'address':
      return how.whole ? fact.address : shortAddress(fact.address)
    case 'transaction':
      return how.whole ? fact.hash : shortAddress(fact.hash)
    case 'block':
      return String(fact.number)
    case 'identifier':
      return String(fact.value)
    case 'number':
      return formatNumber(fact.value, locale)
    case 'instant':
      return formatDateTime(fact.at, locale, timeZone)
    case 'duration':
      return formatDuration(fact.seconds, locale, how.duration)
    case 'counted':
      return countedText(fact, locale)
    case 'share':
      return translate(locale, 'units:share', {
        part: formatNumber(fact.part, locale),
        total: formatNumber(fact.of, locale),
      })
    case 'estimate':
      return formatAbout(fact, locale)
    case 'term':
      return translate(locale, checkedKey(fact.key))
    case 'name':
      return fact.text
    default:
      return fact satisfies never
  }
}

function countedText(
  { unit, count, usdMicros }: Extract<DisplayValue, { readonly kind: 'counted' }>,
  locale: Locale,
): string {
  const counted = translate(locale, checkedKey(`units:${unit}`), { count })
  if (usdMicros === undefined) return counted
  const usd = formatAmount({ units: BigInt(usdMicros), decimals: 6, symbol: 'USD' }, locale)
  return translate(locale, 'units:creditsUsd', { credits: counted, usd })
}

/** "about" and an amount with two significant digits: more would claim to be more exact than it is. */
export function formatAbout(
  amount: { readonly units: bigint; readonly decimals: number; readonly symbol: string },
  locale: Locale,
): string {
  const rounded = formatAmount({ ...amount, units: roundedEstimate(amount.units) }, locale)
  return translate(locale, 'units:estimate', { amount: rounded })
}

/** Units with two significant digits; the others are zeros. */
function roundedEstimate(units: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(0, units.toString().length - 2))
  return ((units + unit / 2n) / unit) * unit
}

const UNITS = [
  { name: 'day', plural: 'days', seconds: 86_400 },
  { name: 'hour', plural: 'hours', seconds: 3_600 },
  { name: 'minute', plural: 'minutes', seconds: 60 },
  { name: 'second', plural: 'seconds', seconds: 1 },
] as const

function unitFor(seconds: number): (typeof UNITS)[number] {
  return UNITS.find((unit) => seconds >= unit.seconds) ?? UNITS[3]
}

/** Bengali puts a comma between month and year, before which a shortened month looks cut. */
function withoutMonthComma(date: string, locale: Locale): string {
  return locale === 'bn' ? date.replace(/, (?=\d{4})/, ' ') : date
}

function withOffset(wall: string, at: Date, timeZone: string): string {
  return `${wall}${NO_BREAK_SPACE}${formatOffset(at, timeZone)}`
}

function withSymbol(number: string, symbol: string): string {
  return `${withMinusSign(number)}${NO_BREAK_SPACE}${symbol}`
}

/** Decimal text in the type of `Intl`, which formats it exactly; a `Number` would lose digits. */
function numeric(text: string): `${number}` {
  if (!isNumeric(text)) throw new Error(`not a decimal number: ${text}`)
  return text
}

function isNumeric(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text)
}
