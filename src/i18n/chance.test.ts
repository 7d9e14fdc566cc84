import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { runs } from '../../test/support/runs.ts'
import { decimalNumber, formatChance, parseChance } from './chance.ts'
import { translate } from './translate.ts'

/** From the greatest to the smallest, in the order of LOCALES: 93 %, 4.1 %, 0.0004 %, 2.6e-8, 2.5e-12 and 1e-300. */
const VALUES = [0.93, 0.041, 4e-6, 2.6e-8, 2.5e-12, 1e-300]
const TEXTS: Readonly<Record<Locale, readonly string[]>> = {
  en: [
    '93%',
    '1 in 24',
    '1 in 250,000',
    '1 in 38 million',
    '1 in 400 billion',
    'less than 1 in 1,000 trillion',
  ],
  de: [
    '93 %',
    '1 zu 24',
    '1 zu 250.000',
    '1 zu 38 Millionen',
    '1 zu 400 Milliarden',
    'weniger als 1 zu 1.000 Billionen',
  ],
  fr: [
    '93 %',
    '1 sur 24',
    '1 sur 250 000',
    '1 sur 38 millions',
    '1 sur 400 milliards',
    'moins de 1 sur 1 000 billions',
  ],
  bn: [
    '93%',
    '24 বারে 1 বার',
    '2.5 লাখ বারে 1 বার',
    '3.8 কোটি বারে 1 বার',
    '40,000 কোটি বারে 1 বার',
    '1,000 লাখ কোটি বারে 1 বারেরও কম',
  ],
  zh: ['93%', '24分之一', '25万分之一', '3800万分之一', '4000亿分之一', '不到1000万亿分之一'],
  hi: ['93%', '24 में 1', '2.5 लाख में 1', '3.8 करोड़ में 1', '4 खरब में 1', '10,000 खरब में 1 से कम'],
  ar: [
    '93%',
    '1 من 24',
    '1 من 250,000',
    '1 من 38 مليون',
    '1 من 400 مليار',
    'أقل من 1 من 1,000 ترليون',
  ],
}

describe('a probability', () => {
  test.each(LOCALES)('is shown as odds from 1 in 10 on, in %s', (locale) => {
    const shown = VALUES.map((value) => formatChance(value, locale))
    expect(shown.map((text) => text.replace(/[\u00a0\u202f]/g, ' '))).toEqual(TEXTS[locale])
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
      const units: Readonly<Record<string, number>> = { million: 1e6, billion: 1e9, trillion: 1e12 }
      const unit = units[text.split(' ').at(-1) ?? ''] ?? 1
      return 1 / (number * unit) / (text.startsWith('less') ? 2 : 1)
    }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 20 }), fc.double({ min: 0, max: 20 }), (a, b) => {
        const [small, great] = [10 ** -Math.max(a, b), 10 ** -Math.min(a, b)]
        expect(read(formatChance(small, 'en'))).toBeLessThanOrEqual(read(formatChance(great, 'en')))
      }),
      { examples: [[2.65e-16, 2.41e-17]] },
    )
  })
})

test.each(LOCALES)('the usual probabilities fit a button with a tick, in %s', (locale) => {
  const labels = [1e-3, 1e-5, 1e-7, 1e-9, 1e-12].map((value) => `✓ ${formatChance(value, locale)}`)
  expect(labels.filter((label) => [...label].length > 24)).toEqual([])
})

describe('a typed probability', () => {
  test('is what the texts show, in every language', () => {
    const exponents = fc.double({ min: 0, max: 15, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...LOCALES), exponents, (locale, exponent) => {
        const shown = formatChance(10 ** -exponent, locale)
        const read = parseChance(shown, locale) ?? Number.NaN
        // Two digits are shown; those of a percentage are cut, not rounded.
        expect(Math.abs(read / 10 ** -exponent - 1), shown).toBeLessThan(0.1)
      }),
      { numRuns: runs(2000) },
    )
  })

  test.each([
    ['1 in 5 million', 2e-7],
    ['1 IN 5,000,000', 2e-7],
    ['1:5000000', 2e-7],
    ['1 : 5,000,000', 2e-7],
    ['1/5000000', 2e-7],
    ['1/5 million', 2e-7],
    ['1:12,500', 8e-5],
    ['1:12.500', 8e-5],
    ['1 in 12.500', 8e-5],
    ['1:2.5', 0.4],
    ['1e-6 %', 1e-8],
    ['1e-6%', 1e-8],
    ['1:10M', 1e-7],
    ['১:১০০', 0.01],
    ['0.01 %', 1e-4],
    ['0.01%', 1e-4],
    ['0.07%', 7e-4],
    ['1e-6', 1e-6],
    ['2.5E-12', 2.5e-12],
    ['0.0000001', 1e-7],
    ['0.1', 0.1],
  ])('%s is understood in every language', (text, value) => {
    for (const locale of LOCALES) expect(parseChance(text, locale), locale).toBe(value)
  })

  test.each([
    ['1 zu 5 Mio.', 'de', 2e-7],
    ['1 zu 5 Billionen', 'de', 2e-13],
    ['1 in 5 billion', 'de', 2e-10],
    ['1:5.000.000', 'de', 2e-7],
    ['0,01 %', 'de', 1e-4],
    ['2,5e-12', 'fr', 2.5e-12],
    ['1 sur 5 milliards', 'fr', 2e-10],
    ['১০ লাখ বারে ১ বার', 'bn', 1e-6],
    ['1000 万分之一', 'zh', 1e-7],
    ['1 करोड़ में 1', 'hi', 1e-7],
    ['١ من ١٠ ملايين', 'ar', 1e-7],
    ['٠٫٠١٪', 'ar', 1e-4],
  ] as const)('%s is understood in %s', (text, locale, value) => {
    expect(parseChance(text, locale)).toBe(value)
  })

  test.each([
    '',
    'abc',
    '5 FLR',
    '1 in',
    '1 in many',
    '1 in 0',
    '1:',
    '1:0',
    '2 in 5',
    'less than 1 in 1,000 trillion',
    '5 million',
    '1e',
    `1 in ${'9'.repeat(101)}`,
  ])('is refused if it is none: %s', (text) => {
    expect(LOCALES.map((locale) => parseChance(text, locale))).toEqual(LOCALES.map(() => undefined))
  })

  test('is a number or refused, whatever was typed', () => {
    const unit = fc.constantFrom(...'0123456789.,-:/%٫ eEinMk万分之一من')
    fc.assert(
      fc.property(fc.string({ unit }), fc.constantFrom(...LOCALES), (text, locale) => {
        expect(parseChance(text, locale)).not.toBeNaN()
      }),
    )
  })
})

test.each(
  LOCALES,
)('the help of the limit has its values as the screens show them, in %s', (locale) => {
  const help = translate(locale, 'signals:provider-fsp.fast-updates.probability.help')
  const plain = (text: string) => text.replace(/[\s\u2068\u2069]/g, '')
  for (const value of [0.1, 1e-7]) expect(plain(help)).toContain(plain(formatChance(value, locale)))
  expect(help).not.toMatch(/0[.,]\d|\de-/)
})

test('a number for programs has no exponent', () => {
  expect([1e-15, 1e-7, 0.1, 20, 10_000].map(decimalNumber)).toEqual([
    '0.000000000000001',
    '0.0000001',
    '0.1',
    '20',
    '10000',
  ])
})
