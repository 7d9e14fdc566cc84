import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration } from '#src/i18n/format.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import {
  type NumberUnit,
  readDuration,
  readFeed,
  readNumber,
  readParameter,
  readTime,
} from './typed-input.ts'

const AMOUNT = {
  min: '0.000001',
  max: '1000000000000000',
  decimals: 18,
  unit: { symbol: 'FLR' },
}
const WINDOW = { min: 60, max: 604_800 }

describe('a number', () => {
  test.each([
    ['250', 'en', '250'],
    ['1,250.5', 'en', '1250.5'],
    ['1.250,5', 'de', '1250.5'],
    ['১২৫০.৫', 'bn', '1250.5'],
    ['१२५०', 'hi', '1250'],
    ['١٢٥٠٫٥', 'ar', '1250.5'],
    ['۱۲۵۰', 'ar', '1250'],
    ['１２５０', 'zh', '1250'],
    ['1 250,5 FLR', 'fr', '1250.5'],
    ['0.000001', 'en', '0.000001'],
  ] as const)('typed as %s in %s is %s', (text, locale, value) => {
    expect(readNumber(text, AMOUNT, locale)).toEqual({ ok: true, value })
  })

  test.each([
    ['abc', 'not_understood'],
    ['', 'not_understood'],
    ['0', 'too_small'],
    ['0.0000001', 'too_small'],
    ['-5', 'too_small'],
    ['1000000000000000.1', 'too_big'],
  ])('%s is refused as %s', (text, reason) => {
    expect(readNumber(text, AMOUNT, 'en')).toEqual({ ok: false, reason })
  })

  test('with more decimals than its field takes is refused', () => {
    expect(readNumber('0.5', { min: '0', max: '9', decimals: 0, unit: 'rounds' }, 'en')).toEqual({
      ok: false,
      reason: 'too_many_decimals',
    })
  })
})

describe('the unit of a number', () => {
  const field = (unit: NumberUnit) => ({ ...AMOUNT, unit })

  test.each<[string, Locale, NumberUnit, string]>([
    ['250 flr', 'en', { symbol: 'FLR' }, '250'],
    ['FLR 250', 'en', { symbol: 'FLR' }, '250'],
    ['5 k FLR', 'en', { symbol: 'FLR' }, '5000'],
    ['5 usdt0', 'en', { symbol: 'USD₮0' }, '5'],
    ['5', 'en', { symbol: undefined }, '5'],
    ['5m', 'en', { symbol: 'FLR' }, '5000000'],
    ['5 %', 'en', 'percent', '5'],
    ['5 Prozent', 'de', 'percent', '5'],
    ['٥٪', 'ar', 'percent', '5'],
    ['百分之5', 'zh', 'percent', '5'],
    ['15k', 'en', 'credits', '15000'],
    ['15k credits', 'en', 'credits', '15000'],
    ['1.5万点', 'zh', 'credits', '15000'],
    ['১৫ হাজার ক্রেডিট', 'bn', 'credits', '15000'],
    ['$20', 'en', 'credits', '20000'],
    ['20 USD', 'en', 'credits', '20000'],
    ['20,5 Dollar', 'de', 'credits', '20500'],
    ['२० डॉलर', 'hi', 'credits', '20000'],
    ['3 rounds', 'en', 'rounds', '3'],
    ['5m', 'en', 'minutes', '5'],
    ['2 hours', 'en', 'minutes', '120'],
    ['90 s', 'en', 'minutes', '1.5'],
  ])('is taken where it fits: %s', (text, locale, unit, value) => {
    expect(readNumber(text, field(unit), locale)).toEqual({ ok: true, value })
  })

  test.each<[string, Locale, NumberUnit, string, string]>([
    ['50 USD', 'en', { symbol: 'FLR' }, '50', 'USD'],
    ['$50k', 'en', { symbol: 'FLR' }, '50000', '$'],
    ['5%', 'en', { symbol: 'FLR' }, '5', '%'],
    ['100 WFLR', 'en', { symbol: 'FLR' }, '100', 'WFLR'],
    ['100 FLR', 'en', { symbol: 'WFLR' }, '100', 'FLR'],
    ['5 min', 'en', { symbol: 'FLR' }, '5', 'min'],
    ['100 FLR', 'en', { symbol: undefined }, '100', 'FLR'],
    ['0.03 USD', 'en', 'percent', '0.03', 'USD'],
    ['100 FLR', 'en', 'percent', '100', 'FLR'],
    ['2 ساعات', 'ar', 'percent', '2', 'ساعات'],
    ['500 FLR', 'en', 'credits', '500', 'FLR'],
    ['20 €', 'de', 'credits', '20', '€'],
    ['5 %', 'fr', 'rounds', '5', '%'],
    ['5 轮', 'zh', 'minutes', '5', '轮'],
  ])('is refused where it does not fit: %s', (text, locale, unit, value, other) => {
    expect(readNumber(text, field(unit), locale)).toEqual({
      ok: false,
      reason: 'other_unit',
      other: { value, unit: other },
    })
  })
})

describe('a length of time', () => {
  test.each([
    ['90m', 5400],
    ['2h', 7200],
    ['2 h', 7200],
    ['1 day', 86_400],
    ['1.5 hours', 5400],
    ['1 day 12 hours', 129_600],
    ['২ ঘণ্টা', 7200],
    ['2小时15分钟', 8100],
    ['٣ ساعات', 10_800],
    ['2 Std., 15 Min.', 8100],
    ['90 s', 90],
    ['120 Sekunden', 120],
    ['١٢٠ ثانية', 120],
    ['1 week', 604_800],
  ])('%s is %i seconds', (text, value) => {
    expect(readDuration(text, WINDOW, 'en')).toEqual({ ok: true, value })
  })

  test.each([
    ['90', 'not_understood'],
    ['soon', 'not_understood'],
    ['2h!', 'not_understood'],
    ['2 moons', 'not_understood'],
    ['5%', 'not_understood'],
    ['100 FLR', 'not_understood'],
    ['5 rounds', 'not_understood'],
    ['0 h', 'too_small'],
    ['8 days', 'too_big'],
  ])('%s is refused as %s', (text, reason) => {
    expect(readDuration(text, WINDOW, 'en')).toEqual({ ok: false, reason })
  })

  test.each(LOCALES)('is understood as %s writes it', (locale) => {
    for (const seconds of [60, 120, 300, 900, 3600, 5400, 7200, 8100, 18_000, 86_400, 176_400]) {
      for (const style of ['long', 'short'] as const) {
        const text = formatDuration(seconds, locale, style)
        expect(readDuration(text, WINDOW, locale), text).toEqual({ ok: true, value: seconds })
      }
    }
  })

  test.each([
    ['ساعتين', 7200],
    ['ساعة واحدة', 3600],
    ['يومان و3 ساعات', 183_600],
    ['دقيقتان', 120],
  ])('without a digit is understood: %s', (text, value) => {
    expect(readDuration(text, WINDOW, 'ar')).toEqual({ ok: true, value })
  })
})

describe('a parameter', () => {
  const bounds = { type: 'integer', default: 2, min: 1, max: 20 } as const
  const rounds = { ...bounds, key: 'rounds', unit: 'rounds' } as const
  const minutes = { ...bounds, key: 'minutes', unit: 'minutes', max: 1440 } as const
  const coin = { ...bounds, key: 'minimumFlr', unit: 'coin', max: 100_000 } as const
  const chance = { key: 'p', type: 'number', default: 1e-7, min: 1e-15, max: 0.1 } as const

  test('of type integer takes whole numbers inside its bounds only', () => {
    expect(readParameter('৭', rounds, 'bn')).toEqual({ ok: true, value: 7 })
    expect(readParameter('2.5', rounds, 'en')).toMatchObject({ reason: 'too_many_decimals' })
    expect(readParameter('21', rounds, 'en')).toMatchObject({ reason: 'too_big' })
    expect(readParameter('0', rounds, 'en')).toMatchObject({ reason: 'too_small' })
    expect(readParameter('x', rounds, 'en')).toMatchObject({ reason: 'not_understood' })
    expect(readParameter('1:5', rounds, 'en')).toMatchObject({ reason: 'not_understood' })
  })

  test('of type integer takes its own unit only', () => {
    expect(readParameter('3 Runden', rounds, 'de')).toEqual({ ok: true, value: 3 })
    expect(readParameter('3 minutes', rounds, 'en')).toMatchObject({ reason: 'other_unit' })
    expect(readParameter('2 h', minutes, 'en')).toEqual({ ok: true, value: 120 })
    expect(readParameter('90 s', minutes, 'en')).toMatchObject({ reason: 'too_many_decimals' })
    expect(readParameter('5%', minutes, 'en')).toMatchObject({ reason: 'other_unit' })
    expect(readParameter('2k FLR', coin, 'en')).toEqual({ ok: true, value: 2000 })
    expect(readParameter('20 USD', coin, 'en')).toMatchObject({ reason: 'other_unit' })
  })

  test.each([
    '1e-7',
    '0.0000001',
    '1:10000000',
    '1 : 10,000,000',
    '1 in 10 million',
    '0.00001 %',
  ])('of type number takes a small probability written as %s', (text) => {
    expect(readParameter(text, chance, 'en')).toEqual({ ok: true, value: 1e-7 })
  })

  test.each([
    '0.0001 $',
    '0.0001 FLR',
    '$0.0001',
    '5 min',
  ])('of type number is no amount with a unit: %s', (text) => {
    expect(readParameter(text, chance, 'en')).toMatchObject({ reason: 'not_understood' })
  })
})

describe('a feed', () => {
  const names = ['BTC/USD', 'FLR/USD', 'sFLR/USD', 'USDT/USD']

  test.each([
    'FLR/USD',
    'flr/usd',
    'FLRUSD',
    'flr-usd',
    'FLR USD',
    'flr_usd',
    'FLR : USD',
    '$FLR',
    ' flr ',
  ])('is found by the text “%s”', (text) => {
    expect(readFeed(text, names)).toBe('FLR/USD')
  })

  test.each([
    ['FLXUSD', 'FLXUSD'],
    ['matic usd', 'matic/usd'],
    ['the flare price', 'theflare/price'],
    [
      '0x01464c522f55534400000000000000000000000000',
      '0x01464c522f55534400000000000000000000000000',
    ],
    ['喂价', '喂价'],
  ])('of an unknown name is passed on as text: “%s”', (text, asked) => {
    expect(readFeed(text, names)).toBe(asked)
  })

  test('is passed on as text while no names are known', () => {
    expect(readFeed('flr usd', [])).toBe('flr/usd')
    expect(readFeed(' FLR ', [])).toBe('FLR')
  })
})

test('any text is read as a duration without an error', () => {
  fc.assert(fc.property(fc.string(), (text) => void readDuration(text, WINDOW, 'ar')))
})

describe('a time of day', () => {
  test.each([
    ['22:30', '22:30'],
    ['7.45', '07:45'],
    [' 9 h ', '09:00'],
    ['6h30', '06:30'],
    ['0645', '06:45'],
    ['23', '23:00'],
    ['২২:৩০', '22:30'],
    ['٢٢:٣٠', '22:30'],
    ['२२:३०', '22:30'],
    ['２２：３０', '22:30'],
    ['00:00', '00:00'],
  ])('is read from “%s” as %s', (text, time) => {
    expect(readTime(text)).toBe(time)
  })

  test.each([
    '',
    'late',
    '24:00',
    '12:60',
    '1:2',
    '12:345',
    '-1:00',
    '99',
  ])('is not read from “%s”', (text) => {
    expect(readTime(text)).toBeUndefined()
  })
})
