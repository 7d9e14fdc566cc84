import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import { formatDecimal } from './format.ts'
import { parseAmount, parseQuantity } from './parse.ts'

const decimals = fc
  .tuple(fc.bigInt(0n, 10n ** 18n), fc.integer({ min: 0, max: 9_999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(4, '0')}`.replace(/\.?0+$/, '') || '0')

describe('a typed number', () => {
  test('is parsed to the value that was shown, in every locale', () => {
    fc.assert(
      fc.property(
        decimals,
        fc.constantFrom(...LOCALES),
        fc.boolean(),
        (decimal, locale, isMinus) => {
          const value = isMinus && /[1-9]/.test(decimal) ? `-${decimal}` : decimal
          const shown = formatDecimal({ value, symbol: 'FLR' }, locale)
          expect(parseQuantity(shown, locale)).toEqual([{ value, unit: 'FLR' }])
        },
      ),
    )
  })

  test('is read in the digits of every script', () => {
    const zeros = ['০', '०', '٠', '۰', '０', '௦', '၀', '\u{1d7ce}', '\u{1d7d8}']
    fc.assert(
      fc.property(decimals, fc.constantFrom(...zeros), (decimal, zero) => {
        const from = zero.codePointAt(0) ?? 0
        const text = decimal.replace(/\d/g, (digit) => String.fromCodePoint(from + Number(digit)))
        expect(parseAmount(text, 'en')).toBe(decimal)
      }),
    )
  })

  test.each([
    ['250', 'en', '250'],
    ['1,250.5', 'en', '1250.5'],
    ['1.250,5', 'en', '1250.5'],
    ['1.250,5', 'de', '1250.5'],
    ['1,250.5', 'de', '1250.5'],
    ['1,250', 'en', '1250'],
    ['1.250', 'en', '1.25'],
    ['1.250', 'de', '1250'],
    ['1,250', 'de', '1.25'],
    ['1.250', 'fr', '1.25'],
    ['1,5', 'en', '1.5'],
    ['1.5', 'de', '1.5'],
    ['0.125', 'de', '0.125'],
    ['1,234,567', 'de', '1234567'],
    ['1.234.567', 'en', '1234567'],
    ['12,34,567.25', 'hi', '1234567.25'],
    ['1 234 567,89', 'fr', '1234567.89'],
    ['1\u202f234', 'fr', '1234'],
    ['1 234,567', 'en', '1234.567'],
    ["1'250.50", 'de', '1250.5'],
    ['1’250', 'de', '1250'],
    ['١٬٢٥٠٫٥', 'ar', '1250.5'],
    ['١٢٫٥', 'en', '12.5'],
    ['۱۲٫۵', 'ar', '12.5'],
    ['\u200f١٢\u200f', 'ar', '12'],
    ['１，２５０．５', 'zh', '1250.5'],
    ['.5', 'en', '0.5'],
    ['5.', 'en', '5'],
    ['007', 'en', '7'],
    ['0.000', 'en', '0'],
    ['+5', 'en', '5'],
    ['-5', 'en', '-5'],
    ['\u22125', 'en', '-5'],
    ['-0', 'en', '0'],
  ] as const)('%s is understood in %s as %s', (text, locale, value) => {
    expect(parseAmount(text, locale)).toBe(value)
  })

  test.each([
    ['5%', '%'],
    ['5 %', '%'],
    ['5٪', '٪'],
    ['5％', '％'],
    ['5 per cent', 'per cent'],
    ['5 FLR', 'FLR'],
    ['FLR 5', 'FLR'],
    ['5flr', 'flr'],
    ['5 USDT0', 'USDT0'],
    ['5 €', '€'],
    ['$5', '$'],
    ['US$ 5', 'US$'],
    ['USD 5', 'USD'],
    ['$5 USD', 'USD'],
    ['5点', '点'],
    ['百分之5', '百分之'],
    ['5 ক্রেডিট', 'ক্রেডিট'],
    ['5 मिनट', 'मिनट'],
    ['5 دولار', 'دولار'],
    ['5 min', 'min'],
    ['5', ''],
  ])('may have a unit: %s', (text, unit) => {
    expect(LOCALES.map((locale) => parseQuantity(text, locale))).toEqual(
      LOCALES.map(() => [{ value: '5', unit }]),
    )
    expect(parseAmount(text, 'en')).toBe(unit === '' ? '5' : undefined)
  })

  test.each([
    ['15k', 'en', '15000', ''],
    ['1.5k', 'de', '1500', ''],
    ['0.0005m', 'en', '500', ''],
    ['-2k', 'en', '-2000', ''],
    ['$20k', 'en', '20000', '$'],
    ['20k$', 'en', '20000', '$'],
    ['5 k FLR', 'en', '5000', 'FLR'],
    ['5 million FLR', 'fr', '5000000', 'FLR'],
    ['5 Mio. FLR', 'de', '5000000', 'FLR'],
    ['1.25 Mrd', 'de', '1250000000', ''],
    ['5 billion', 'en', '5000000000', ''],
    ['5 Billionen', 'de', '5000000000000', ''],
    ['5万', 'zh', '50000', ''],
    ['1.5万点', 'zh', '15000', '点'],
    ['2百万', 'zh', '2000000', ''],
    ['৫ হাজার ক্রেডিট', 'bn', '5000', 'ক্রেডিট'],
    ['२ लाख', 'hi', '200000', ''],
    ['٥ ألف', 'ar', '5000', ''],
    ['٣ ملايين FLR', 'ar', '3000000', 'FLR'],
  ] as const)('may be multiplied by a word: %s', (text, locale, value, unit) => {
    expect(parseQuantity(text, locale)).toContainEqual({ value, unit })
  })

  test('has the meaning of a unit first, and then that of a word that multiplies', () => {
    expect(parseQuantity('5 m', 'en')).toEqual([
      { value: '5', unit: 'm' },
      { value: '5000000', unit: '' },
    ])
  })

  test.each([
    '5e3',
    '5 FLR per day',
    '$5 EUR',
    'about 5',
    '5 million of them',
  ])('has no unit that is none: %s', (text) => {
    expect(LOCALES.map((locale) => parseQuantity(text, locale))).toEqual(LOCALES.map(() => []))
  })

  test.each([
    '',
    ' ',
    '.',
    ',',
    '-',
    '%',
    'abc',
    'FLR 5',
    '1 5',
    '1,23,45',
    '1.2.3',
    '1,250,5',
    '1.234,567,890',
    '1,250 .5 5',
    '12345,678.5',
    '0,125,000',
    '1٫5٫5',
    '5 FLR per day',
    '5 - 6',
    '--5',
    '0x5',
    '9'.repeat(101),
  ])('is refused if it is not a number: %s', (text) => {
    expect(LOCALES.map((locale) => parseAmount(text, locale))).toEqual(LOCALES.map(() => undefined))
  })

  test('is parsed to decimal text or refused, whatever was typed', () => {
    const typing = fc.string({
      unit: fc.constantFrom(..."0123456789.,-+ '%٫٬eEkxFLR$१२万", '\u200f'),
    })
    fc.assert(
      fc.property(
        fc.oneof(typing, fc.string({ unit: anyUnicodeCharacter })),
        fc.constantFrom(...LOCALES),
        (text, locale) => {
          for (const { value } of parseQuantity(text, locale)) {
            expect(value).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/)
          }
        },
      ),
    )
  })
})
