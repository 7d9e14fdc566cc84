import { expect, test } from 'vitest'
import { NAMESPACES } from '#src/i18n/catalogue.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { faultsOfLocale } from './faults.ts'

/** Files that keep the rules of this folder, by locale. */
const HELD: { readonly [L in Locale]?: readonly string[] } = {
  en: NAMESPACES,
}

test.each(
  Object.entries(HELD),
)('%s texts keep the rules of values, examples, words and signs', (locale, names) => {
  const faults = faultsOfLocale(locale as Locale)
  const held = faults.filter((fault) => names.some((name) => fault.startsWith(`${name}:`)))
  if (held.length > 0) expect.fail(`${held.length} faults\n${held.join('\n')}`)
})
