import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DisplayValue } from '#src/kernel/display-values.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import {
  formatAgo,
  formatAmount,
  formatDate,
  formatDateTime,
  formatDecimal,
  formatDisplayValue,
  formatDuration,
  formatList,
  formatNumber,
  formatOffset,
  formatPercent,
  formatPrice,
  formatTime,
  isTimeZone,
  sentenceValues,
  shortAddress,
} from './format.ts'
import { withoutIsolates } from './isolates.ts'

const AT = new Date('2026-11-20T21:04:31Z')
const BERLIN = 'Europe/Berlin'
const FLR = { decimals: 18, symbol: 'FLR' }
const CHANGE = { ...FLR, units: -12_500_500_000_000_000_000_000n, signed: true }

test.each([
  ['0.5', '0.50\u00a0USD'],
  ['10', '10\u00a0USD'],
  ['10.00', '10\u00a0USD'],
  ['267.5', '267.50\u00a0USD'],
  ['1234.567', '1,234.57\u00a0USD'],
  ['0.01', '0.01\u00a0USD'],
  ['0.002', '0.002\u00a0USD'],
  ['0.00003', '0.00003\u00a0USD'],
  ['-0.5', '\u22120.50\u00a0USD'],
])('%s dollars are %s', (value, text) => {
  expect(formatDecimal({ value, symbol: 'USD' }, 'en')).toBe(text)
})

/** The table of formats, one column per locale in the order of LOCALES. */
const TABLE: Readonly<Record<string, readonly [(locale: Locale) => string, readonly string[]]>> = {
  'whole number': [
    (locale) => formatNumber(1_234_567, locale),
    [
      '1,234,567',
      '1.234.567',
      '1\u202f234\u202f567',
      '12,34,567',
      '1,234,567',
      '12,34,567',
      '1,234,567',
    ],
  ],
  amount: [
    (locale) => formatAmount({ ...FLR, units: 12_500_500_000_000_000_000_000n }, locale),
    [
      '12,500.5\u00a0FLR',
      '12.500,5\u00a0FLR',
      '12\u202f500,5\u00a0FLR',
      '12,500.5\u00a0FLR',
      '12,500.5\u00a0FLR',
      '12,500.5\u00a0FLR',
      '12,500.5\u00a0FLR',
    ],
  ],
  'change of an amount': [
    (locale) => formatAmount(CHANGE, locale),
    [
      '\u221212,500.5\u00a0FLR',
      '\u221212.500,5\u00a0FLR',
      '\u221212\u202f500,5\u00a0FLR',
      '\u221212,500.5\u00a0FLR',
      '\u221212,500.5\u00a0FLR',
      '\u221212,500.5\u00a0FLR',
      '\u221212,500.5\u00a0FLR',
    ],
  ],
  price: [
    (locale) => formatPrice({ value: '0.02134561', symbol: 'USD' }, locale),
    [
      '0.0213456\u00a0USD',
      '0,0213456\u00a0USD',
      '0,0213456\u00a0USD',
      '0.0213456\u00a0USD',
      '0.0213456\u00a0USD',
      '0.0213456\u00a0USD',
      '0.0213456\u00a0USD',
    ],
  ],
  percent: [
    (locale) => formatPercent(0.0525, locale),
    ['5.25%', '5,25\u00a0%', '5,25\u00a0%', '5.25%', '5.25%', '5.25%', '5.25%'],
  ],
  move: [
    (locale) => formatPercent(-0.1142, locale, { signed: true }),
    [
      '\u221211.42%',
      '\u221211,42\u00a0%',
      '\u221211,42\u00a0%',
      '\u221211.42%',
      '\u221211.42%',
      '\u221211.42%',
      '\u221211.42%',
    ],
  ],
  'date and time': [
    (locale) => formatDateTime(AT, locale, BERLIN, { offset: false }),
    [
      'Nov 20, 2026, 22:04',
      '20. Nov. 2026, 22:04',
      '20 nov. 2026, 22:04',
      '20 নভে 2026, 22:04',
      '2026年11月20日 22:04',
      '20 नव॰ 2026, 22:04',
      '20 نوفمبر 2026، 22:04',
    ],
  ],
  'duration in a text': [
    (locale) => formatDuration(8_100, locale, 'long'),
    [
      '2 hours, 15 minutes',
      '2 Stunden, 15 Minuten',
      '2\u00a0heures et 15 minutes',
      '2 ঘণ্টা, 15 মিনিট',
      '2 小时 15 分钟',
      '2 घंटे और 15 मिनट',
      'ساعتان و15 دقيقة',
    ],
  ],
  'duration in a field': [
    (locale) => formatDuration(8_100, locale, 'short'),
    [
      '2 h, 15 min',
      '2 h, 15 min',
      '2\u202fh et 15\u00a0min',
      '2 ঘণ্টা, 15 মিনিট',
      '2 小时 15 分钟',
      '2 घं॰, 15 मि॰',
      '2 س و15 د',
    ],
  ],
  'how long ago': [
    (locale) => formatAgo(185, locale),
    [
      '3 minutes ago',
      'vor 3 Minuten',
      'il y a 3 minutes',
      '3 মিনিট আগে',
      '3 分钟前',
      '3 मिनट पहले',
      'قبل 3 دقائق',
    ],
  ],
  list: [
    (locale) => withoutIsolates(formatList(['A', 'B', 'C'], locale)),
    ['A, B, and C', 'A, B und C', 'A, B et C', 'A, B এবং C', 'A、B 和 C', 'A, B, और C', 'A وB وC'],
  ],
}

describe('each format looks in every locale as its readers write it', () => {
  for (const [what, [format, expected]] of Object.entries(TABLE)) {
    test(what, () => {
      expect(LOCALES.map(format)).toEqual(expected)
    })
  }
})

describe('amounts', () => {
  test('keep every digit of a large amount', () => {
    const units = 123_456_789_012_345_678_901_234_567_890_123_400_000_000_000_000n
    expect(formatAmount({ ...FLR, units }, 'en')).toBe(
      '123,456,789,012,345,678,901,234,567,890.1234\u00a0FLR',
    )
  })

  test('show a plus sign only for changes, and no sign for zero', () => {
    const oneFlr = { ...FLR, units: 10n ** 18n }
    expect(formatAmount(oneFlr, 'en')).toBe('1\u00a0FLR')
    expect(formatAmount({ ...oneFlr, signed: true }, 'en')).toBe('+1\u00a0FLR')
    expect(formatAmount({ ...FLR, units: 0n, signed: true }, 'en')).toBe('0\u00a0FLR')
  })

  test('show the first digits of what would round to 0', () => {
    expect(formatAmount({ ...FLR, units: 1n }, 'en')).toBe('0.000000000000000001\u00a0FLR')
    expect(formatAmount({ ...FLR, units: -49_999_999_999_999n, signed: true }, 'de')).toBe(
      '\u22120,00005\u00a0FLR',
    )
    expect(formatDecimal({ value: '0.00001234', symbol: 'FXRP' }, 'en')).toBe('0.000012\u00a0FXRP')
    expect(formatDecimal({ value: '0.00005', symbol: 'FXRP' }, 'en')).toBe('0.0001\u00a0FXRP')
    expect(formatDecimal({ value: '0.0000', symbol: 'FXRP' }, 'en')).toBe('0\u00a0FXRP')
  })

  test('are shown as zero only if they are zero', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 30n), 10n ** 30n),
        fc.integer({ min: 0, max: 24 }),
        (units, decimals) => {
          const text = formatAmount({ units, decimals, symbol: 'X' }, 'en')
          expect(/[1-9]/.test(text)).toBe(units !== 0n)
          expect(text.startsWith('\u2212')).toBe(units < 0n)
        },
      ),
    )
  })

  test('refuse what is not a decimal number', () => {
    expect(() => formatDecimal({ value: '1e5', symbol: 'FLR' }, 'en')).toThrow(
      'not a decimal number',
    )
  })
})

test('a percentage that rounds to nothing has no sign', () => {
  expect(formatPercent(-0.000_01, 'en')).toBe('0%')
  expect(formatPercent(0.000_01, 'en', { signed: true })).toBe('0%')
  expect(formatPercent(0.05, 'en', { signed: true })).toBe('+5%')
})

describe('times', () => {
  test('carry the offset of the zone at that instant', () => {
    expect(formatDateTime(AT, 'en', BERLIN)).toBe('Nov 20, 2026, 22:04\u00a0UTC+1')
    expect(formatTime(AT, 'ar', BERLIN, { seconds: true, offset: true })).toBe(
      '22:04:31\u00a0UTC+1',
    )
    expect(formatOffset(new Date('2026-07-01T00:00:00Z'), BERLIN)).toBe('UTC+2')
    expect(formatOffset(AT, 'Asia/Kolkata')).toBe('UTC+5:30')
    expect(formatOffset(AT, 'America/St_Johns')).toBe('UTC-3:30')
    expect(formatOffset(AT, 'UTC')).toBe('UTC')
    expect(formatOffset(AT, 'Europe/London')).toBe('UTC')
  })

  test('omit offset, seconds and year if asked to', () => {
    expect(formatTime(AT, 'en', BERLIN)).toBe('22:04')
    expect(formatTime(AT, 'en', BERLIN, { seconds: true })).toBe('22:04:31')
    expect(formatDateTime(AT, 'en', BERLIN, { offset: false, year: false })).toBe('Nov 20, 22:04')
    expect(formatDate(new Date('2026-11-20T23:30:00Z'), 'en', BERLIN)).toBe('Nov 21, 2026')
  })

  test('write midnight as 00:00', () => {
    expect(
      LOCALES.map((locale) => formatTime(new Date('2026-01-01T00:00:00Z'), locale, 'UTC')),
    ).toEqual(LOCALES.map(() => '00:00'))
  })
})

describe('durations', () => {
  test('show the two largest units, rounded down', () => {
    expect(formatDuration(2 * 86_400 + 3 * 3_600 + 59 * 60, 'en', 'long')).toBe('2 days, 3 hours')
    expect(formatDuration(3_599.9, 'en', 'long')).toBe('59 minutes, 59 seconds')
  })

  test('leave out a second unit that is 0, and write 0 seconds', () => {
    expect(formatDuration(86_400 + 59, 'en', 'long')).toBe('1 day')
    expect(formatDuration(720, 'en', 'long')).toBe('12 minutes')
    expect(formatDuration(0, 'en', 'long')).toBe('0 seconds')
    expect(formatDuration(-5, 'de', 'short')).toBe('0 s')
  })

  test('ago is never in the future', () => {
    expect(formatAgo(0, 'en')).toBe('0 seconds ago')
    expect(formatAgo(90_000, 'en')).toBe('1 day ago')
  })
})

test('every format uses Latin digits and no direction marks', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...LOCALES),
      fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      (locale, at, number) => {
        const all = [
          formatNumber(number, locale),
          formatPercent(number, locale, { signed: true }),
          formatDateTime(at, locale, 'Asia/Kolkata'),
          formatDuration(Math.abs(number), locale, 'long'),
          formatDuration(Math.abs(number), locale, 'short'),
          formatAgo(Math.abs(number), locale),
        ].join(' ')
        expect(all).not.toMatch(/[\u200e\u200f\u061c\u2066-\u2069]/)
        expect(all.replace(/[0-9]/g, '')).not.toMatch(/\p{Nd}/u)
      },
    ),
  )
})

test('a list in Arabic isolates each of its words', () => {
  expect(formatList(['A', 'B'], 'ar')).toBe('\u2068A\u2069 و\u2068B\u2069')
})

test('time zones are known by their IANA names', () => {
  const known = [
    'UTC',
    'Europe/Berlin',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'America/Argentina/Ushuaia',
  ]
  const unknown = ['', '+01:00', 'Berlin', 'Europe/Atlantis', 'Europe/Berlin ', 'x'.repeat(100)]
  expect(known.filter((name) => !isTimeZone(name))).toEqual([])
  expect(unknown.filter(isTimeZone)).toEqual([])
})

const ADDRESS = '0x3f12b8aC9d2e7F4b6A1c5D8e0F9a7B3c2d1eA91c'
const HASH = `0x${'ab'.repeat(32)}` as const

const FACTS = {
  amount: { kind: 'amount', ...CHANGE },
  decimal: { kind: 'decimal', value: '12.5', symbol: 'FLR' },
  price: { kind: 'price', value: '0.0213456', symbol: 'USD' },
  percent: { kind: 'percent', value: 0.05, signed: true },
  chance: { kind: 'chance', value: 2.6e-8 },
  address: { kind: 'address', address: ADDRESS },
  transaction: { kind: 'transaction', hash: HASH },
  block: { kind: 'block', number: 41_880_123 },
  identifier: { kind: 'identifier', value: 1_519_400 },
  number: { kind: 'number', value: 1_519_400 },
  instant: { kind: 'instant', at: AT },
  duration: { kind: 'duration', seconds: 8_100 },
  counted: { kind: 'counted', unit: 'credits', count: 2_000 },
  share: { kind: 'share', part: 6, of: 3_360 },
  estimate: { kind: 'estimate', units: 3_271_400_000_000_000_000n, decimals: 18, symbol: 'FLR' },
  term: { kind: 'term', key: 'errors:no_free_slot.title' },
  name: { kind: 'name', text: 'Alpha Oracle' },
} satisfies { readonly [Kind in DisplayValue['kind']]: Extract<DisplayValue, { kind: Kind }> }

describe('facts', () => {
  test('are shown in full and in short units in fields', () => {
    const reader = { locale: 'en', timeZone: BERLIN } as const
    const fields = Object.entries(FACTS).map(([kind, fact]) => [
      kind,
      formatDisplayValue(fact, reader),
    ])
    expect(Object.fromEntries(fields)).toEqual({
      amount: '\u221212,500.5\u00a0FLR',
      decimal: '12.5\u00a0FLR',
      price: '0.0213456\u00a0USD',
      percent: '+5%',
      chance: '1 in 38 million',
      address: ADDRESS,
      transaction: HASH,
      block: '41880123',
      identifier: '1519400',
      number: '1,519,400',
      instant: 'Nov 20, 2026, 22:04\u00a0UTC+1',
      duration: '2 h, 15 min',
      counted: '2,000 credits',
      share: '6 of 3,360',
      estimate: 'about 3.3\u00a0FLR',
      term: 'No free slot',
      name: 'Alpha Oracle',
    })
  })

  test('are shortened and in words in sentences, and names are marked as typed', () => {
    const values = sentenceValues(FACTS, { locale: 'en', timeZone: BERLIN })
    expect(values).toMatchObject({
      address: '0x3f12…A91c',
      transaction: '0xabab…abab',
      duration: '2 hours, 15 minutes',
      name: { kind: 'typed', content: 'Alpha Oracle' },
    })
  })

  test('contain no direction isolates as fields, in any locale', () => {
    const fields = LOCALES.flatMap((locale) =>
      Object.values(FACTS).map((fact) => formatDisplayValue(fact, { locale, timeZone: BERLIN })),
    )
    expect(fields.filter((field) => /[\u2066-\u2069]/.test(field))).toEqual([])
  })

  test('are refused if their term or unit has no text', () => {
    const reader = { locale: 'en', timeZone: 'UTC' } as const
    expect(() => formatDisplayValue({ kind: 'term', key: 'errors:none' }, reader)).toThrow(
      'no text',
    )
    expect(() => formatDisplayValue({ kind: 'counted', unit: 'pears', count: 1 }, reader)).toThrow(
      'no text',
    )
  })
})

test('a short address shows its first six and last four characters', () => {
  expect(shortAddress(ADDRESS)).toBe('0x3f12…A91c')
})
