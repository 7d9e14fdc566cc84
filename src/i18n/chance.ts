/**
 * Probabilities as people read and type them: as odds, *1 in 38 million*. Programs get numbers. Pure.
 */
import type { Locale } from '#src/kernel/locale.ts'
import { inDecimals, numberFormat, withMinusSign } from './intl.ts'
import { withoutIsolates } from './isolates.ts'
import { zerosOf } from './multipliers.ts'
import { parseAmount } from './parse.ts'
import { simplified } from './simplified.ts'
import { translate } from './translate.ts'

/** Above it, odds say less than a percentage: *1 in 1.1* is *93%*. No setting has such a value. */
const ODDS_MAX = 0.1
/** The smallest probability in words; smaller ones are below it. A watch can set no lower limit. */
const WORDS_MIN = 1e-15
const DECIMALS = 15
/** From here on a language writes a word for the zeros: *10 million*, but *24,000*. */
const WORDS_FROM: Readonly<Record<Locale, number>> = {
  en: 1e6,
  de: 1e6,
  fr: 1e6,
  bn: 1e5,
  zh: 1e4,
  hi: 1e5,
  ar: 1e6,
}

/** A probability: 2.6e-8 is *1 in 38 million*, 0.93 is *93%*. */
export function formatChance(probability: number, locale: Locale): string {
  if (probability > ODDS_MAX) {
    // Between 0.99 and 1, Intl cuts two digits of some numbers to 90%.
    const shown = probability < 1 ? Math.min(probability, 0.99) : probability
    return withMinusSign(numberFormat(locale, 'chance').format(shown))
  }
  const isBelow = !(probability >= WORDS_MIN)
  const odds = Number((1 / (isBelow ? WORDS_MIN : probability)).toPrecision(2))
  const style = odds < WORDS_FROM[locale] ? 'plainOdds' : 'odds'
  const text = translate(locale, isBelow ? 'units:oddsBelow' : 'units:odds', {
    odds: withMinusSign(numberFormat(locale, style).format(odds)),
  })
  return withoutIsolates(text)
}

/** A small number as a program writes it, without an exponent: 1e-7 is *0.0000001*. */
export function decimalNumber(value: number): string {
  return inDecimals(`${value}`, DECIMALS)
}

/**
 * Parses a typed probability; undefined if it is none. Understands what `formatChance` shows, in the reader's
 * language and in English, and also `1:5000000`, `1/5000000`, `0.01 %`, `0.0001` and `1e-6`.
 */
export function parseChance(text: string, locale: Locale): number | undefined {
  if (text.length > LENGTH_MAX) return undefined
  const typed = plain(text)
  const odds = readOdds(typed, locale)
  if (odds !== undefined) return odds > 0 ? 1 / odds : undefined
  const power = /^\+?(\d+(?:[.,٫]\d+)?)e([+-]?\d{1,3}) ?([%٪％]?)$/.exec(typed)
  if (power !== null) {
    const value = Number(`${power[1]?.replace(/[,٫]/, '.')}e${power[2]}`)
    return power[3] === '' ? value : value / 100
  }
  if (/\p{L}/u.test(typed)) return undefined
  const number = typed.replace(/ ?[%٪％]$/, '')
  const value = parseAmount(number, locale)
  if (value === undefined) return undefined
  return Number(number === typed ? value : `${value}e-2`)
}

const LENGTH_MAX = 100

function plain(text: string): string {
  return simplified(text).toLowerCase().replace(/\s+/g, ' ')
}

/** How many times as likely the opposite is, of *1 in 5 million* and `1:5000000`; undefined for other texts. */
function readOdds(typed: string, locale: Locale): number | undefined {
  const signs = /^1 ?[:/] ?(.+)$/.exec(typed)?.[1]
  if (signs !== undefined) return readCount(signs, [locale, 'en']) ?? Number.NaN
  for (const language of [locale, 'en'] as const) {
    const [before = '', after = ''] = plain(translate(language, 'units:odds', { odds: GAP })).split(
      GAP,
    )
    const [start, end] = [before.trim(), after.trim()]
    if (!typed.startsWith(start) || !typed.endsWith(end)) continue
    const count = typed.slice(start.length, typed.length - end.length).trim()
    const read = count === '' ? undefined : readCount(count, [language, locale])
    if (read !== undefined) return read
  }
  return undefined
}

/** Stands for the number in the text of odds; no such text has it. */
const GAP = '#'

/** A number as the first language writes it, and possibly a word such as *million* of either language. */
function readCount(text: string, languages: readonly [Locale, Locale]): number | undefined {
  const [, number = '', word = ''] = /^(\d(?:[\d.,٫٬' ]*\d)?) ?(\D*)$/.exec(text) ?? []
  // Nobody writes odds to the thousandth: three digits after a sign are thousands, as some other language writes them.
  const isGrouped = word === '' && GROUPED.test(number)
  const value = isGrouped ? number.replace(/\D/g, '') : parseAmount(number, languages[0])
  const zeros = word === '' ? 0 : zerosOf(word, languages)
  return value === undefined || zeros === undefined ? undefined : Number(value) * 10 ** zeros
}

const GROUPED = /^[1-9]\d{0,2}(?:[.,٬' ]\d{3})+$/
