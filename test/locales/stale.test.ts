import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { formsOf, readCatalogue, readStamps, staleTexts } from './sources.ts'

const english = readCatalogue('en')

test.each(
  LOCALES.filter((locale) => locale !== 'en'),
)('%s texts are translations of the English ones', (locale) => {
  const texts = readCatalogue(locale)
  const stale = staleTexts(english, readStamps(locale)).map(
    ({ key, why }) =>
      `${key}: ${why}\n  en: ${shown(formsOf(english, key))}\n  ${locale}: ${shown(formsOf(texts, key))}`,
  )
  const advice = `translate them, then npm run locales:stamp -- ${locale} <keys…>`
  if (stale.length > 0) expect.fail(`${stale.length} stale; ${advice}\n${stale.join('\n')}`)
})

function shown(forms: Readonly<Record<string, string>>): string {
  return Object.values(forms)
    .map((text) => JSON.stringify(text))
    .join(' | ')
}
