import { expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { readCatalogue } from './sources.ts'

/** A name in the quotation marks of any locale. */
const QUOTED = /[“„«「]([^”“»」]+)[”“»」]/gu
/** Isolates, marks of direction and spaces inside French quotation marks. */
const INVISIBLE = /[\u2066-\u2069\u200e\u200f\u00a0\u202f]/gu
const bare = (text: string) => text.replace(INVISIBLE, '').trim()

test.each(LOCALES)('texts about signals in %s name signals that exist', (locale) => {
  const texts = Object.entries(readCatalogue(locale)).filter(([key]) => key.startsWith('signals:'))
  const labels = new Set(
    texts.filter(([key]) => /\.(?:label|short)$/.test(key)).map(([, text]) => bare(text)),
  )
  const quoted = texts.flatMap(([key, text]) =>
    [...text.matchAll(QUOTED)].map(([, name = '']) => ({ key, name: bare(name) })),
  )
  expect(quoted.length).toBeGreaterThan(0)
  expect(quoted.filter(({ name }) => !labels.has(name) && !/^\d/.test(name))).toEqual([])
})

test('no French text begins a statement with “plus”, which can be read as “more”', () => {
  const faults = Object.entries(readCatalogue('fr')).filter(([, text]) =>
    /(?:^|[:;,.!?·]\s)plus (?:de |actives?\b)/iu.test(text),
  )
  expect(faults).toEqual([])
})
