/** Parses typed text into values. Pure. */
import { Temporal } from 'temporal-polyfill'
import { formatUnits, parseUnits } from 'viem/utils'
import { USD_PER_1000_CREDITS_MICROS } from '#src/billing/price-list.ts'
import { parseChance } from '#src/i18n/chance.ts'
import { parseAmount, parseQuantity, type Quantity } from '#src/i18n/parse.ts'
import { UNIT_SECONDS, unitKindOf } from '#src/i18n/unit-words.ts'
import { assetSymbol } from '#src/kernel/chains.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { DurationField, NumberField } from '#src/watches/form.ts'
import type { Parameter } from '#src/watches/signal.ts'

/** A parsed value, or the reason why the text is invalid. */
export type ParsedInput<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: Exclude<InputProblem, 'other_unit'> }
  | { readonly ok: false; readonly reason: 'other_unit'; readonly other: Quantity }
export type InputProblem =
  | 'not_understood'
  | 'other_unit'
  | 'too_small'
  | 'too_big'
  | 'too_many_decimals'

/** Decimal places in comparisons: more than any value has. */
const SCALE = 40

function compare(a: string, b: string): number {
  const difference = parseUnits(a, SCALE) - parseUnits(b, SCALE)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function refused<Reason extends Exclude<InputProblem, 'other_unit'>>(reason: Reason) {
  return { ok: false, reason } as const
}

/** What a number counts: what `unit` says, or an asset by its symbol, undefined while that is unknown. */
export type NumberUnit =
  | 'percent'
  | 'credits'
  | 'rounds'
  | 'minutes'
  | 'days'
  | { readonly symbol: string | undefined }

/** A number that people type. */
export interface TypedNumber extends Pick<NumberField, 'min' | 'max' | 'decimals'> {
  readonly unit: NumberUnit
}

/** Parses a number into decimal text, in the unit of its field. A unit that the field does not take is refused. */
export function readNumber(text: string, field: TypedNumber, locale: Locale): ParsedInput<string> {
  const meanings = parseQuantity(text, locale)
  const [value] = meanings.flatMap((quantity) => inUnit(quantity, field.unit) ?? [])
  const other = meanings.at(-1)
  if (other === undefined) return refused('not_understood')
  if (value === undefined) return { ok: false, reason: 'other_unit', other }
  if (compare(value, field.min) < 0) return refused('too_small')
  if (compare(value, field.max) > 0) return refused('too_big')
  const decimals = value.split('.')[1]?.length ?? 0
  return decimals > field.decimals ? refused('too_many_decimals') : { ok: true, value }
}

const CREDITS_PER_USD = 1_000_000_000 / USD_PER_1000_CREDITS_MICROS

/** The value of a quantity in the unit of a field; undefined if that field does not take the quantity's unit. */
function inUnit({ value, unit }: Quantity, own: NumberUnit): string | undefined {
  if (unit === '') return value
  const kind = unitKindOf(unit)
  if (typeof own === 'object') {
    const isDollar = own.symbol === 'USD' && kind === 'usd'
    return isDollar || (own.symbol !== undefined && isSymbol(unit, own.symbol)) ? value : undefined
  }
  if (kind === own) return value
  if (own === 'credits' && kind === 'usd') return scaled(value, CREDITS_PER_USD, 1)
  if ((own === 'minutes' || own === 'days') && kind !== undefined && isTime(kind)) {
    return scaled(value, UNIT_SECONDS[kind], UNIT_SECONDS[own])
  }
  return undefined
}

function isTime(kind: string): kind is keyof typeof UNIT_SECONDS {
  return Object.hasOwn(UNIT_SECONDS, kind)
}

/** Whether a typed unit is the symbol of an asset. */
export function isSymbol(unit: string, symbol: string): boolean {
  return symbolKey(unit) === symbolKey(symbol)
}

/** A symbol as people type it: `USD₮0` is *usdt0*. */
function symbolKey(symbol: string): string {
  return symbol.normalize('NFKC').replaceAll('₮', 'T').toLowerCase()
}

function scaled(value: string, times: number, by: number): string {
  return formatUnits((parseUnits(value, SCALE) * BigInt(times)) / BigInt(by), SCALE)
}

/**
 * Parses a duration into whole seconds: `90m`, `2 h`, `1 day 12 hours`, in the words of every language. A number alone,
 * or with a unit that is none of time, is not understood.
 */
export function readDuration(
  text: string,
  field: Pick<DurationField, 'min' | 'max'>,
  locale: Locale,
): ParsedInput<number> {
  const counted = withCounts(text.toLowerCase().trim())
  const parts = [...counted.matchAll(DURATION_PART)]
  const isWhole = parts.map(([part]) => part).join('') === counted
  if (parts.length === 0 || !isWhole) return refused('not_understood')
  let seconds = 0
  for (const [, number = '', unit = ''] of parts) {
    const count = parseAmount(number, locale)
    const kind = unitKindOf(unit)
    if (count === undefined || kind === undefined || !isTime(kind)) {
      return refused('not_understood')
    }
    seconds += Math.round(Number(count) * UNIT_SECONDS[kind])
  }
  if (seconds < field.min) return refused('too_small')
  return seconds > field.max ? refused('too_big') : { ok: true, value: seconds }
}

const DURATION_PART =
  /(?:(?:and|und|et|এবং|और)\s+|و\s*)?([\p{Nd}.,٫٬]+)\s*(\p{L}[\p{L}\p{M}]*[.॰]?)[\s,،]*/gu

/** Inserts the number where Arabic leaves it out, for one and two of a unit: `ساعة`, `ساعتان`. */
function withCounts(text: string): string {
  return text
    .replace(/(دقيق|ساع)ت(?:ان|ين)/gu, '2 $1ة')
    .replace(/يوم(?:ان|ين)/gu, '2 يوم')
    .replace(/(?<!\p{Nd}\s*)(دقيقة|ساعة|يوم)(?![\p{L}\p{M}])(?:\s+واحدة?)?/gu, '1 $1')
}

/** A parameter of a signal that people type. */
export type TypedParameter = Exclude<Parameter, { readonly type: 'boolean' }>

/** Parses a parameter of a signal: a whole number, or a probability. */
export function readParameter(
  text: string,
  parameter: TypedParameter,
  locale: Locale,
): ParsedInput<number> {
  if (parameter.type === 'number') {
    const chance = parseChance(text, locale)
    if (chance === undefined) return refused('not_understood')
    if (chance < parameter.min) return refused('too_small')
    return chance > parameter.max ? refused('too_big') : { ok: true, value: chance }
  }
  const { min, max, unit } = parameter
  const bounds = { min: String(min), max: String(max), decimals: 0 }
  const read = readNumber(text, { ...bounds, unit: parameterUnit(unit) }, locale)
  return read.ok ? { ok: true, value: Number(read.value) } : read
}

/** The unit of a whole parameter, in which people type it. */
export function parameterUnit(
  unit: Extract<Parameter, { readonly type: 'integer' }>['unit'],
): NumberUnit {
  return unit === 'coin' ? { symbol: assetSymbol('FLR', 'FLR') } : unit
}

/**
 * Finds the feed in a text, with any separator: `FLRUSD`, `flr-usd`, `FLR USD`, `flr`. A text that names no
 * known feed is returned in the format of a feed's name; a text without usable characters is returned
 * unchanged.
 *
 * @param names names of all feeds; empty while unknown
 */
export function readFeed(text: string, names: readonly string[]): string {
  const key = feedKey(text)
  const named = (wanted: string) => names.filter((name) => feedKey(name) === wanted)
  const [only, ...others] = [...named(key), ...named(`${key}usd`)]
  if (only !== undefined && others.length === 0) return only
  const plain = text
    .trim()
    .replace(/(?<=\w)[\s:_-]+(?=\w+$)/, '/')
    .replace(/[^\w./+-]/g, '')
  return plain === '' ? text.trim() : plain
}

/** Key of a feed's name, equal for all spellings. */
export function feedKey(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Parses a time of day into `HH:MM`: `22:30`, `9.15`, `7 h`, `2230`, in the digits of any script. */
export function readTime(text: string): string | undefined {
  const plain = withLatinDigits(text)
  const [, hours = '', minutes = '00'] =
    /^(\d{1,2})(?:\s*[:.h٫]\s*(\d{2})|\s*h)?$/i.exec(plain.replace(/^(\d{2})(\d{2})$/, '$1:$2')) ??
    []
  const isTime = hours !== '' && Number(hours) < 24 && Number(minutes) < 60
  return isTime ? `${hours.padStart(2, '0')}:${minutes}` : undefined
}

function withLatinDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/\p{Nd}/gu, (digit) => parseAmount(digit, 'en') ?? digit)
    .trim()
}

/** Latest start that can be planned. */
const PLANNED_DAYS_MAX = 366

/**
 * Parses a start to come: a time of day, which is the next one that the clock of the zone shows, or a date such as
 * 2026-12-05 before it. Undefined if it is malformed, no date, in the past or more than a year away.
 */
export function readStart(text: string, timezone: string, now: Date): Date | undefined {
  const [, date, rest = ''] =
    /^(?:(\d{4}-\d{1,2}-\d{1,2})[\sT,]+)?(.+)$/.exec(withLatinDigits(text)) ?? []
  const time = readTime(rest)
  if (time === undefined) return undefined
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timezone)
    .toPlainDate()
  const day = date === undefined ? today : dayOf(date)
  if (day === undefined) return undefined
  const at = (plain: Temporal.PlainDate) =>
    new Date(plain.toPlainDateTime(time).toZonedDateTime(timezone).epochMilliseconds)
  const start = date === undefined && at(day) <= now ? at(day.add({ days: 1 })) : at(day)
  const isTooFar = start.getTime() - now.getTime() > PLANNED_DAYS_MAX * DAY_MS
  return start <= now || isTooFar ? undefined : start
}

function dayOf(date: string): Temporal.PlainDate | undefined {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  try {
    return Temporal.PlainDate.from({ year, month, day }, { overflow: 'reject' })
  } catch {
    return undefined
  }
}
