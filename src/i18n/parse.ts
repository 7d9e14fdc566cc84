import type { Locale } from '#src/kernel/locale.ts'
import { numberFormat } from './intl.ts'

/**
 * Parses a typed number into decimal text (`1250.5`); undefined if it is not a number.
 *
 * Understands the digits of every script, a sign, spaces and apostrophes between groups, and one unit or
 * percent sign at the end. If a text has both a point and a comma, the last of them is the decimal sign. A
 * single sign is read as the locale writes numbers, if that makes sense, or else as the decimal sign. Words
 * and letters that multiply (`5 million`, `1k`, `1e5`) are refused, not ignored.
 */
export function parseAmount(text: string, locale: Locale): string | undefined {
  if (text.length > INPUT_MAX) return undefined
  const match = /^([+-]?)(?!0x)([\d.,٫٬'\s]*[\d.,٫٬])\s*(.*)$/isu.exec(simplified(text))
  if (match === null) return undefined
  const [, sign = '', body = '', unit = ''] = match
  if (!isUnit(unit)) return undefined
  const decimal = decimalOf(body, locale)
  if (decimal === undefined) return undefined
  return sign === '-' && /[1-9]/.test(decimal) ? `-${decimal}` : decimal
}

/** Maximum length of input that is parsed, in UTF-16 units. */
const INPUT_MAX = 100

/**
 * Converts to Latin digits, plain spaces, signs, points, commas and apostrophes; removes direction marks.
 */
export function simplified(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\u2212\uff0d\ufe63]/g, '-')
    .replace(/\uff0b/g, '+')
    .replace(/\uff0e/g, '.')
    .replace(/[\uff0c\u060c]/g, ',')
    .replace(/[\u2019\u2018\u02bc\uff07]/g, "'")
    .trim()
}

/**
 * Value of a digit in any script. Digits of a script form runs of ten, zero first; runs of one script may
 * be adjacent.
 */
function digitValue(digit: string): number {
  const point = digit.codePointAt(0) ?? 0
  let before = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before += 1
  return before % 10
}

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

/** Whether the text behind a number is a unit that does not change its size. */
function isUnit(text: string): boolean {
  if (/^(?:[%٪％]|\p{Sc})?$/u.test(text)) return true
  const word = text.toLowerCase()
  if (!/^\p{L}[\p{L}\p{M}\p{N}.₮-]{0,15}$/u.test(word)) return false
  return !MULTIPLIERS.has(word) && !/^e[\d-]|[十百千万亿萬億兆]/u.test(word)
}

const MULTIPLIERS: ReadonlySet<string> = new Set(
  [
    'k m b t mn mm bn tn mio mrd mia mln mld tsd',
    'hundred thousand million millions billion billions trillion trillions',
    'hundert tausend millionen milliarde milliarden billionen',
    'cent mille milliard milliards',
    'lac lacs lakh lakhs cr crore crores',
    'শত হাজার লাখ লক্ষ কোটি',
    'सौ हज़ार हजार लाख करोड़ करोड अरब',
    'مئة مائة ألف الف آلاف مليون ملايين مليار',
  ].flatMap((words) => words.normalize('NFC').split(' ')),
)
