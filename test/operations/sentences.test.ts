import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { addressRefusal } from '#bot/views/refusals.ts'
import { AlertQuery, AlertSelection, AlertSelectionQuery } from '#src/alerts/model.ts'
import { ConfirmTopup } from '#src/billing/topups/model.ts'
import { translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { IdParam, readCursor, writeCursor } from '#src/kernel/pagination.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import { Address, Hash, Instant } from '#src/kernel/units.ts'
import { parseInput } from '#src/kernel/validation.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { problemBody, refusalText } from '#src/operations/problem.ts'
import { TimeZone } from '#src/recipients/model.ts'
import { Settings } from '#src/recipients/settings.ts'

const CHECKSUMMED = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
const DIGITS = CHECKSUMMED.slice(2).toLowerCase()
const MOVE = { type: 'feed-move', settings: { percent: 5, windowSeconds: 60 } }
const BALANCE = { type: 'wallet-balance', target: { address: CHECKSUMMED, asset: 'FLR' } }
const NewWatch = inputOf('POST', '/watches').body
const NewRecipient = inputOf('POST', '/recipients').body

function inputOf(method: string, path: string) {
  const operation = REGISTRY.find((entry) => entry.method === method && entry.path === path)
  if (operation === undefined) throw new Error(`no ${method} ${path}`)
  return operation
}

function refusalOf(schema: z.ZodType | undefined, value: unknown): AppError {
  const parsed = schema && parseInput(schema, value)
  if (parsed?.success !== false) throw new Error(`${JSON.stringify(value)} was accepted`)
  return parsed.error
}

/** What is wrong, the schema, the value, the beginning of the English sentence. */
const WRONG: readonly (readonly [string, z.ZodType | undefined, unknown, string])[] = [
  ['a short address', Address, '0x123', 'An address has 40 characters after 0x; this has 3.'],
  [
    'a long address',
    Address,
    `0x${DIGITS}a`,
    'An address has 40 characters after 0x; this has 41.',
  ],
  [
    'a transaction as address',
    Address,
    `0x${'a'.repeat(64)}`,
    'An address has 40 characters after 0x; this has 64.',
  ],
  [
    'an address with a letter that is no digit',
    Address,
    `0x${DIGITS.slice(1)}g`,
    'That is not an address.',
  ],
  ['an address without 0x', Address, DIGITS, 'That is not an address.'],
  ['an address with a space', Address, ` ${CHECKSUMMED}`, 'That is not an address.'],
  ['a word as address', Address, 'alice', 'That is not an address.'],
  ['two addresses', Address, `${CHECKSUMMED},0x${'1'.repeat(40)}`, 'These are two addresses.'],
  [
    'an address with one letter wrong',
    Address,
    CHECKSUMMED.replace('B8', 'b8'),
    'One character of this address seems wrong.',
  ],
  [
    'the address of a watch',
    NewWatch,
    { ...BALANCE, settings: { threshold: '1' }, target: { address: '0x123', asset: 'FLR' } },
    'An address has 40 characters after 0x; this has 3.',
  ],
  [
    'a token with a short address',
    NewWatch,
    { ...BALANCE, settings: { threshold: '1' }, target: { address: CHECKSUMMED, asset: '0x12' } },
    'An address has 40 characters after 0x; this has 2.',
  ],
  ['a short hash', Hash, '0x12ab', 'A hash has 64 characters, not counting 0x; this has 4.'],
  ['a word as hash', Hash, 'paid', 'That is not a hash.'],
  [
    'a short transaction',
    ConfirmTopup,
    { txHash: 'ab' },
    'A hash has 64 characters, not counting 0x; this has 2.',
  ],
  [
    'yesterday',
    Instant,
    'yesterday',
    'Use an RFC 3339 time in the years 1970 to 9999, such as 2026-11-28T16:00:00Z',
  ],
  [
    'a day',
    AlertQuery,
    { from: '2026-11-28' },
    'Use an RFC 3339 time in the years 1970 to 9999, such as 2026-11-28T16:00:00Z',
  ],
  ['a time without a zone', Instant, '2026-11-28T16:00:00', 'Use an RFC 3339 time'],
  ['a time of another age', Instant, '1969-12-31T00:00:00Z', 'Use an RFC 3339 time'],
  [
    'a clock',
    Settings.shape.digestAt,
    '7 pm',
    'Use a time of day with hours and minutes, such as 22:00.',
  ],
  ['a zone', TimeZone, 'Berlin', 'Unknown time zone.'],
  [
    'a mailbox',
    NewRecipient,
    { name: 'a', channel: 'email', address: 'ops' },
    'This is not an e-mail address.',
  ],
  ['an id in words', IdParam, { id: 'seven' }, 'Use a whole number in digits, such as 50.'],
  ['a fraction of an id', IdParam, { id: '1.5' }, 'Use a whole number in digits, such as 50.'],
  [
    'a fraction as JSON',
    NewWatch,
    { ...MOVE, target: { feed: 'FLR/USD' }, settings: { percent: 5, windowSeconds: 60.5 } },
    'Use a whole number in digits, such as 50.',
  ],
  ['an id that is too small', IdParam, { id: '0' }, 'The smallest allowed value is 1.'],
  ['ids with spaces', AlertSelectionQuery, { ids: '1 2' }, 'Use ids with commas between them'],
  [
    'an amount with a comma',
    NewWatch,
    { ...BALANCE, settings: { threshold: '0,5' } },
    'Use a positive decimal number with a point',
  ],
  [
    'an amount below zero',
    NewWatch,
    { ...BALANCE, settings: { threshold: '-5' } },
    'Use a positive decimal number with a point',
  ],
  ['a feed', NewWatch, { ...MOVE, target: { feed: 'FLR vs USD' } }, 'This is not a price feed.'],
  [
    'a misspelt severity',
    AlertQuery,
    { severity: 'critcal' },
    'Allowed values, the closest first: critical,',
  ],
  [
    'a misspelt type',
    NewWatch,
    { type: 'wallet-balence' },
    'Allowed values, the closest first: wallet-balance,',
  ],
  [
    'a misspelt event',
    AlertQuery,
    { event: 'wallet-balance.move' },
    'Allowed values, the closest first: wallet-balance.moved,',
  ],
  ['a value where one is allowed', AlertSelectionQuery, { all: 'yes' }, 'Allowed values: true.'],
  ['a list as severity', AlertQuery, { severity: ['critical'] }, 'Allowed values: '],
  [
    'an empty name',
    NewRecipient,
    { name: '', channel: 'telegram' },
    'Too few characters: 0. The minimum is 1.',
  ],
  [
    'a long name',
    NewRecipient,
    { name: '水'.repeat(41), channel: 'telegram' },
    'Too many characters: 41. The maximum is 40.',
  ],
  [
    'a long address',
    NewRecipient,
    { name: 'a', channel: 'webhook', url: `https://example.org/${'a'.repeat(2030)}` },
    'Too many characters: 2,050. The maximum is 2,048.',
  ],
  ['no ids', AlertSelection, { ids: [] }, 'Too few entries: 0. The minimum is 1.'],
  [
    'many ids',
    AlertSelection,
    { ids: Array.from({ length: 501 }, (_, index) => index + 1) },
    'Too many entries: 501. The maximum is 500.',
  ],
  ['a misspelt parameter', AlertQuery, { severty: 'info' }, 'Did you mean severity?'],
  ['a parameter of other APIs', AlertQuery, { watch_id: '1' }, 'Did you mean watchId?'],
  ['a strange parameter', AlertQuery, { colour: 'red' }, 'Unknown property.'],
  [
    'a misspelt property of a variant',
    NewWatch,
    { ...BALANCE, settings: { threshhold: '1', threshold: '1' } },
    'Did you mean threshold?',
  ],
  [
    'a misspelt property of a variant in a list',
    NewWatch,
    {
      ...BALANCE,
      settings: { threshold: '1' },
      signals: [{ id: 'balance-change', Enabled: true }],
    },
    'Did you mean enabled?',
  ],
]

describe('an input that is refused', () => {
  test.each(
    WRONG,
  )('has a sentence of its own in every language: %s', (_what, schema, value, sentence) => {
    const refusal = refusalOf(schema, value)
    const texts = LOCALES.map((locale) => refusalText(translator(locale), refusal))
    expect(texts[0]).toContain(sentence)
    expect(new Set(texts).size).toBe(LOCALES.length)
    expect(texts.join()).not.toContain('{{')
  })
})

test('every pattern of every operation has a code with a sentence', () => {
  const found = new Map<string, z.core.$ZodType>()
  for (const { params, query, body } of REGISTRY) {
    for (const schema of [params, query, body]) {
      if (schema === undefined) continue
      z.toJSONSchema(schema, {
        io: 'input',
        unrepresentable: 'any',
        override: ({ zodSchema, jsonSchema }) => {
          const { type, pattern, format } = jsonSchema
          if (type === 'string' && (pattern ?? format) !== undefined) {
            found.set(`${format} ${pattern}`, zodSchema)
          }
        },
      })
    }
  }
  expect(found.size).toBeGreaterThan(9)
  const general = new Set(['invalid', 'type', undefined])
  for (const [form, schema] of found) {
    for (const wrong of ['\n§', 'x'.repeat(1000)]) {
      // Safe: schemas of the registry are classic ones.
      const parsed = parseInput(schema as z.ZodType, wrong)
      if (parsed.success) continue
      expect(general.has(parsed.errors[0]?.code), `${form} refuses ${wrong}`).toBe(false)
    }
  }
})

test('a cursor of another list, of nobody or of any length is refused with its sentence', () => {
  const ofAnotherList = 'This cursor belongs to another list'
  const unknown = 'This is not a cursor of this service. Send nextCursor'
  for (const [cursor, sentence] of [
    ['', unknown],
    ['hello', unknown],
    ['x'.repeat(5000), unknown],
    [writeCursor([101], {}), unknown],
    ['1.abcdef', ofAnotherList],
    [writeCursor([1], { state: 'firing' }), ofAnotherList],
    [writeCursor([1, 2], 'watches'), ofAnotherList],
  ] as const) {
    try {
      readCursor(cursor, [100], {})
      expect.fail(`${cursor} was accepted`)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      expect(error).toMatchObject({ details: { errors: [{ pointer: '/cursor', code: 'cursor' }] } })
      expect(refusalText(translator('en'), error)).toContain(sentence)
    }
  }
})

test.each(LOCALES)('chat and API say the same about an address, in %s', (locale) => {
  const t = translator(locale)
  for (const text of [
    '0x123',
    'alice',
    CHECKSUMMED.replace('B8', 'b8'),
    `${CHECKSUMMED} 0x${'1'.repeat(40)}`,
  ]) {
    const typed = readAddress(text)
    if (typed.ok) throw new Error(`${text} was accepted`)
    expect(addressRefusal(t, typed)).toBe(refusalText(t, refusalOf(Address, text)))
  }
})

test('the answer to misspelt values names eight of many, and stays small', () => {
  const refusal = refusalOf(AlertQuery, { event: 'wallet-balance.move' })
  const { errors } = refusal.details
  const t = translator('en')
  const body = problemBody(t, 'https://watchdog.example.org', {
    code: refusal.code,
    requestId: 'r',
    errors,
  })
  expect(body).toMatchObject({ errors: [{ pointer: '/event', code: 'choice' }] })
  expect(String(errors?.[0]?.values?.['options']).split(', ')).toHaveLength(9)
})
