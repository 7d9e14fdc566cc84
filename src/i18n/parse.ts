import type { Locale } from '#src/kernel/locale.ts'
import { numberFormat } from './intl.ts'
import { zerosOf } from './multipliers.ts'
import { simplified } from './simplified.ts'
import { unitKindOf } from './unit-words.ts'

/**
 * Parses a typed number without a unit into decimal text (`1250.5`); undefined if it is not one.
 *
 * Understands the digits of every script, a sign, and spaces and apostrophes between groups. If a text has
 * both a point and a comma, the last of them is the decimal sign. A single sign is read as the locale
 * writes numbers, if that makes sense, or else as the decimal sign.
 */
export function parseAmount(text: string, locale: Locale): string | undefined {
  const parts = partsOf(text, locale)
  return parts?.before === '' && parts.after === '' ? parts.value : undefined
}

/** A typed number with its unit: `50 USD`, `5 %`, `$20`. */
export interface Quantity {
  /** Decimal text. */
  readonly value: string
  /** The unit as it was typed; empty without one. */
  readonly unit: string
}

/**
 * What a typed number with a unit can mean; empty if it is neither. The word behind a number can be a unit or
 * multiply the number: `5 m` is 5 of *m*, or else 5,000,000. A caller takes the first unit that it knows.
 */
export function parseQuantity(text: string, locale: Locale): readonly Quantity[] {
  const parts = partsOf(text, locale)
  if (parts === undefined) return []
  const { value, before, after } = parts
  if (before !== '' && !isUnitBefore(before)) return []
  const plain = unitOf(before, after)
  const [zeros, rest = ''] = multiplied(after, locale)
  const many = zeros === undefined ? undefined : unitOf(before, rest)
  return [
    ...(plain === undefined ? [] : [{ value, unit: plain }]),
    ...(many === undefined ? [] : [{ value: withZeros(value, zeros ?? 0), unit: many }]),
  ]
}

/** The one unit of a number with a sign before it, a word behind it, or both: `$20 USD`. Undefined if they differ. */
function unitOf(before: string, after: string): string | undefined {
  if (after !== '' && !isUnit(after)) return undefined
  if (before === '' || after === '') return before + after
  return unitKindOf(before) !== undefined && unitKindOf(before) === unitKindOf(after)
    ? after
    : undefined
}

/** Before a number stand signs of currencies, symbols of assets, and what a language puts there: `百分之5`. */
function isUnitBefore(text: string): boolean {
  return /^(?:\p{L}{0,3}\p{Sc}|[A-Z][A-Z\d]{1,9})$/u.test(text) || unitKindOf(text) !== undefined
}

/** Whether a text can be the unit behind a number. */
function isUnit(text: string): boolean {
  if (/^(?:[%٪％]|\p{Lu}{0,3}\p{Sc})$/u.test(text) || unitKindOf(text) !== undefined) return true
  return /^(?!e[\d-])\p{L}[\p{L}\p{M}\p{N}.₮-]{0,15}$/iu.test(text)
}

/** The zeros of a word that multiplies at the beginning of a text, and the rest of it; empty without one. */
function multiplied(text: string, locale: Locale): readonly [number, string] | [] {
  const [, word = '', rest = ''] =
    /^([百千万萬亿億]+)\s*(.*)$/u.exec(text) ??
    /^(\p{L}[\p{L}\p{M}]*\.?)(?:\s+|(?=\p{Sc}|$))(.*)$/u.exec(text) ??
    []
  const zeros = word === '' ? undefined : zerosOf(word, [locale])
  return zeros === undefined ? [] : [zeros, rest]
}

/** A decimal text times a power of ten. */
function withZeros(value: string, zeros: number): string {
  const [whole = '', decimals = ''] = value.split('.')
  const digits = `${whole}${decimals.padEnd(zeros, '0').slice(0, zeros)}`
  const rest = decimals.slice(zeros)
  const plain = digits.replace(/^(-?)0+(?=\d)/, '$1')
  return rest === '' ? plain : `${plain}.${rest}`
}

interface Parts {
  readonly value: string
  readonly before: string
  readonly after: string
}

/** A number in decimal text, and what is before and behind it. */
function partsOf(text: string, locale: Locale): Parts | undefined {
  if (text.length > INPUT_MAX) return undefined
  const match = /^([+-]?)([^\d.,٫٬'+-]*?)\s*([+-]?)(?!0x)([\d.,٫٬'\s]*[\d.,٫٬])\s*(.*)$/isu.exec(
    simplified(text),
  )
  if (match === null) return undefined
  const [, first = '', before = '', second = '', body = '', after = ''] = match
  if (first !== '' && second !== '') return undefined
  const decimal = decimalOf(body, locale)
  if (decimal === undefined) return undefined
  const isMinus = first + second === '-' && /[1-9]/.test(decimal)
  return { value: isMinus ? `-${decimal}` : decimal, before, after }
}

/** Maximum length of input that is parsed, in UTF-16 units. */
const INPUT_MAX = 100

function decimalOf(body: string, locale: Locale): string | undefined {
  const at = decimalSignAt(body, locale)
  if (at === undefined) return undefined
  const fraction = body.slice(at + 1)
  const whole = ungrouped(body.slice(0, at).replace(/\s/g, ' '))
  if (whole === undefined || !/^\d*$/.test(fraction) || whole + fraction === '') return undefined
  const digits = whole.replace(/^0+(?=\d)/, '') || '0'
  const decimals = fraction.replace(/0+$/, '')
  return decimals === '' ? digits : `${digits}.${decimals}`
}

/** Index of the decimal sign: the length if there is none, undefined if the signs make no sense. */
function decimalSignAt(body: string, locale: Locale): number | undefined {
  const last = Math.max(body.lastIndexOf('.'), body.lastIndexOf(','))
  const arabic = body.indexOf('٫')
  if (arabic >= 0) return arabic
  if (last < 0) return body.length
  const sign = body.charAt(last)
  const other = sign === '.' ? ',' : '.'
  const isRepeated = body.indexOf(sign) < last
  if (body.includes(other)) return isRepeated ? undefined : last
  if (isRepeated) return body.length
  const groups = /\D/.exec(numberFormat(locale, 'number').format(1_000_000))?.[0] === sign
  return groups && !/[^\d.,]/.test(body) && ungrouped(body) !== undefined ? body.length : last
}

/** Removes the separators between groups of three digits, or Indian groups of two before the last three. */
function ungrouped(whole: string): string | undefined {
  if (/^\d*$/.test(whole)) return whole
  const isGrouped =
    /^[1-9]\d{0,2}([ '.,٬])\d{3}(?:\1\d{3})*$/.test(whole) ||
    /^[1-9]\d?([ '.,٬])\d\d(?:\1\d\d)*\1\d{3}$/.test(whole)
  return isGrouped ? whole.replace(/\D/g, '') : undefined
}
