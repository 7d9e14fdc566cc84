import type { Locale } from '#src/kernel/locale.ts'
import { faultsOfWords } from './banned-words.ts'
import { faultsOfExamples } from './examples.ts'
import { faultsOfValues } from './placeholder-rules.ts'
import { faultsOfRendered } from './rendered.ts'
import { type Catalogue, readCatalogue } from './sources.ts'
import { typeset } from './typeset.ts'

/** Faults of one text of a locale beyond the rules for single texts. @param key without endings */
function faultsOf(locale: Locale, key: string, text: string, english: string): readonly string[] {
  return [
    ...faultsOfValues(locale, key, text),
    ...faultsOfExamples(locale, key, text, english),
    ...faultsOfWords(locale, key, text),
    ...(typeset(locale, key, text) === text ? [] : ['is not set as `npm run locales:fix` sets it']),
  ]
}

const PLURAL = /_(?:zero|one|two|few|many|other)$/

/** A key as rules name it: without the endings that a number and a severity choose. */
export function ruleKeyOf(place: string): string {
  return place.replace(PLURAL, '').replace(/_(?:critical|warning|info)$/, '')
}

/** Faults of every text of a locale, one line each. */
export function faultsOfLocale(
  locale: Locale,
  texts: Catalogue = readCatalogue(locale),
): readonly string[] {
  const english = readCatalogue('en')
  const all = { ...readCatalogue(locale), ...texts }
  return Object.entries(texts).flatMap(([place, text]) => {
    const base = place.replace(PLURAL, '')
    const original = english[`${base}_other`] ?? english[base] ?? ''
    const faults = [
      ...faultsOf(locale, ruleKeyOf(place), text, original),
      ...faultsOfRendered(locale, place, text, all),
    ]
    return faults.map((fault) => `${place}: ${fault}`)
  })
}
