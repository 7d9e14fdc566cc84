import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { formatChance, shortChance, typedNumber } from './chance.ts'

/** From the greatest to the smallest, in the order of LOCALES: 4.1 %, 0.0004 %, 2.6e-8, 2.5e-12 and 1e-300. */
const VALUES = [0.041, 4e-6, 2.6e-8, 2.5e-12, 1e-300]
const TEXTS: Readonly<Record<Locale, readonly string[]>> = {
  en: ['4.1%', '0.0004%', '1 in 38 million', '1 in 400 billion', 'less than 1 in 1,000 trillion'],
  de: [
    '4,1\u00a0%',
    '0,0004\u00a0%',
    '1 zu 38 Millionen',
    '1 zu 400 Milliarden',
    'weniger als 1 zu 1.000 Billionen',
  ],
  fr: [
    '4,1\u202f%',
    '0,0004\u202f%',
    '1 sur 38 millions',
    '1 sur 400 milliards',
    'moins de 1 sur 1\u202f000 billions',
  ],
  bn: [
    '4.1%',
    '0.0004%',
    '3.8 কোটি বারে 1 বার',
    '40,000 কোটি বারে 1 বার',
    '1,000 লাখ কোটি বারে 1 বারেরও কম',
  ],
  zh: ['4.1%', '0.0004%', '3800万分之一', '4000亿分之一', '不到1000万亿分之一'],
  hi: ['4.1%', '0.0004%', '3.8 करोड़ में 1', '4 खरब में 1', '10,000 खरब में 1 से कम'],
  ar: ['4.1%', '0.0004%', '1 من 38 مليون', '1 من 400 مليار', 'أقل من 1 من 1,000 ترليون'],
}

describe('a probability', () => {
  test.each(LOCALES)('is in words where a percentage has too many zeros, in %s', (locale) => {
    const shown = VALUES.map((value) => formatChance(value, locale).replace(/[\u00a0\u202f]/g, ' '))
    expect(shown).toEqual(TEXTS[locale].map((text) => text.replace(/[\u00a0\u202f]/g, ' ')))
  })

  test('has no exponent, and is never certain or impossible unless it is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LOCALES),
        fc.double({ min: 0, max: 320, noNaN: true }),
        (locale, exponent) => {
          const text = formatChance(10 ** -exponent, locale)
          expect(text).not.toMatch(/\de[-+\u2212]?\d|NaN|∞|undefined/)
          expect(text.length).toBeLessThan(50)
          // Only the last digit of a percentage can be cut; a value below 1 never reads as 100 %.
          expect(/100\D*%/.test(text)).toBe(exponent === 0 || 10 ** -exponent === 1)
          expect(text).not.toMatch(/^\D*0\D*%/)
          expect(text.replace(/[0-9]/g, '')).not.toMatch(/\p{Nd}/u)
          expect(text).not.toMatch(/[\u200e\u200f\u061c\u2066-\u2069]/)
        },
      ),
    )
  })

  test('that is smaller never reads as greater', () => {
    const read = (text: string) => {
      const number = Number(/[\d,.]+(?=\D*$)/.exec(text)?.[0].replaceAll(',', ''))
      if (text.endsWith('%')) return number / 100
      const unit = { million: 1e6, billion: 1e9, trillion: 1e12 }[text.split(' ').at(-1) ?? '']
      return 1 / (number * (unit ?? Number.NaN)) / (text.startsWith('less') ? 2 : 1)
    }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 20 }), fc.double({ min: 0, max: 20 }), (a, b) => {
        const [small, great] = [10 ** -Math.max(a, b), 10 ** -Math.min(a, b)]
        expect(read(formatChance(small, 'en'))).toBeLessThanOrEqual(read(formatChance(great, 'en')))
      }),
    )
  })
})

test.each(LOCALES)('the usual probabilities fit two in a row of buttons, in %s', (locale) => {
  const labels = [1e-3, 1e-5, 1e-7, 1e-9, 1e-12].map((value) => `✓ ${shortChance(value, locale)}`)
  expect(labels.filter((label) => [...label].length > 16)).toEqual([])
  expect(new Set(labels).size).toBe(labels.length)
})

test('a number as it is typed has no exponent', () => {
  expect([1e-15, 1e-7, 0.1, 20, 10_000].map(typedNumber)).toEqual([
    '0.000000000000001',
    '0.0000001',
    '0.1',
    '20',
    '10000',
  ])
})
