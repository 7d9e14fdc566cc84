import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { faultsOfLocale } from './faults.ts'

test.each(LOCALES)('%s texts keep the rules of values, examples, words and signs', (locale) => {
  const faults = faultsOfLocale(locale)
  if (faults.length > 0) expect.fail(`${faults.length} faults\n${faults.join('\n')}`)
})
