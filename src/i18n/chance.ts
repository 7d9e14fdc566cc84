/** Probabilities in words and in digits that people read, never with an exponent. Pure. */
import type { Locale } from '#src/kernel/locale.ts'
import { inDecimals, numberFormat, plainNumber } from './intl.ts'
import { withoutIsolates } from './isolates.ts'
import { translate } from './translate.ts'

/** Below it, a percentage has too many zeros to read. */
const PERCENT_MIN = 1e-6
/** The smallest probability in words; smaller ones are below it. A watch can set no lower limit. */
const WORDS_MIN = 1e-15
const DECIMALS = 15

/** A probability: 0.0004 is *0.04%*, 2.6e-8 is *1 in 38 million*. */
export function formatChance(probability: number, locale: Locale): string {
  if (probability >= PERCENT_MIN) {
    return plainNumber(numberFormat(locale, 'chance').format(probability))
  }
  const isBelow = !(probability >= WORDS_MIN)
  const odds = numberFormat(locale, 'odds').format(1 / (isBelow ? WORDS_MIN : probability))
  const text = translate(locale, isBelow ? 'units:oddsBelow' : 'units:odds', {
    odds: plainNumber(odds),
  })
  return withoutIsolates(text)
}

/** A probability for a button: 0.0004 is *0.04%*, 1e-7 is *1:10M*. */
export function shortChance(probability: number, locale: Locale): string {
  if (probability >= PERCENT_MIN) return formatChance(probability, locale)
  return `1:${plainNumber(numberFormat(locale, 'shortOdds').format(1 / probability))}`
}

/** A small number as a person types it, the same in every locale: 1e-7 is *0.0000001*. */
export function typedNumber(value: number): string {
  return inDecimals(`${value}`, DECIMALS)
}
