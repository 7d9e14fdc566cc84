/** Words that multiply the number before them: *million*, *k*, *लाख*, *万*. All are powers of ten. Pure. */
import type { Locale } from '#src/kernel/locale.ts'
import { numberFormat } from './intl.ts'
import { simplified } from './simplified.ts'

/** Words that people type besides those of the Unicode CLDR, by their number of zeros. */
const TYPED: readonly (readonly [zeros: number, words: string])[] = [
  [2, 'hundred hundert শত सौ مئة مائة 百'],
  [3, 'k thousand tausend tsd mille হাজার हज़ार हजार ألف الف آلاف 千'],
  [4, '万 萬'],
  [5, 'lac lacs lakh lakhs লাখ লক্ষ लाख'],
  [6, 'm mm mn mio mln million millions millionen 百万 مليون ملايين'],
  [7, 'cr crore crores কোটি करोड़ करोड 千万'],
  [8, '亿 億'],
  [9, 'bn mrd mia mld milliard milliards milliarde milliarden अरब مليار'],
]
/** *Billion* is a thousand times as much in German and French. */
const LONG_SCALE: ReadonlySet<Locale> = new Set(['de', 'fr'])

const typedZeros: ReadonlyMap<string, number> = new Map(
  TYPED.flatMap(([zeros, words]) =>
    words.split(' ').map((word): [string, number] => [plainWord(word), zeros]),
  ),
)

/** Number of zeros that a word adds, in the first of these languages that knows it; undefined for other words. */
export function zerosOf(word: string, languages: readonly Locale[]): number | undefined {
  const plain = plainWord(word)
  const own = languages.flatMap((language) => wordsOf(language).get(plain) ?? [])
  if (own[0] !== undefined) return own[0]
  const [locale] = languages
  if (/^billions?$/.test(plain) && locale !== undefined) return LONG_SCALE.has(locale) ? 12 : 9
  return typedZeros.get(plain)
}

const POWERS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
const made = new Map<Locale, ReadonlyMap<string, number>>()

/** The words of a language in full and short, with their zeros, as the numbers of that language have them. */
function wordsOf(locale: Locale): ReadonlyMap<string, number> {
  const known = made.get(locale)
  if (known !== undefined) return known
  const words = new Map<string, number>()
  for (const style of ['odds', 'shortOdds'] as const) {
    for (const value of POWERS.flatMap((power) => [1, 2, 3].map((count) => count * 10 ** power))) {
      const parts = numberFormat(locale, style).formatToParts(value)
      const digits = parts.map(({ type, value: part }) => (type === 'integer' ? part : '')).join('')
      const word = parts.find(({ type }) => type === 'compact')?.value
      if (word === undefined || digits === '') continue
      words.set(plainWord(word), Math.round(Math.log10(value / Number(simplified(digits)))))
    }
  }
  made.set(locale, words)
  return words
}

function plainWord(word: string): string {
  return simplified(word).toLowerCase().replace(/\s+/g, ' ').replace(/\.$/, '')
}
