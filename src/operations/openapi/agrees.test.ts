import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { AlertQuery, AlertSelectionQuery } from '#src/alerts/model.ts'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import { translator } from '#src/i18n/translate.ts'
import { Label, oneLine } from '#src/kernel/label.ts'
import { NewRecipient } from '#src/recipients/model.ts'
import { Settings } from '#src/recipients/settings.ts'
import { WatchChanges } from '#src/watches/model.ts'
import { runs } from '../../../test/support/runs.ts'
import { inlineSchema, jsonSchema } from './schema.ts'

/** What the published schema and the service say of a value is the same. */

const Text = z.object({
  pattern: z.string().default(''),
  minLength: z.number().default(0),
  maxLength: z.number().default(Infinity),
})

/** Whether a published schema of a text accepts it. */
function accepts(schema: z.ZodType, text: string): boolean {
  const { pattern, minLength, maxLength } = Text.parse(jsonSchema(translator('en'), schema))
  const { length } = [...text]
  const bare = new RegExp(pattern).test(text)
  expect(new RegExp(pattern, 'u').test(text)).toBe(bare)
  return bare && length >= minLength && length <= maxLength
}

test('of a list of ids in a query', () => {
  const { ids } = AlertSelectionQuery.shape
  const list = (length: number) => Array.from({ length }, (_, index) => index + 1).join()
  const texts = ['0', '1', '01', '1,0', '1,2', '1,', ',1', '-1', '1.5', '', list(500), list(501)]
  const near = [2_147_483_647, 2_147_483_648, 2_147_483_650, 2_147_484_000, 9_999_999_999, 1e9]
  for (const text of [...texts, ...near.map(String)]) {
    expect([text, accepts(ids, text)]).toEqual([text, ids.safeParse(text).success])
  }
  expect(ids.safeParse('2147483647').success).toBe(true)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e9 }), (id) => {
      expect(accepts(ids, String(id))).toBe(id >= 1 && id <= 2_147_483_647)
    }),
    { numRuns: runs(1000) },
  )
})

test('of a name that shows nothing', () => {
  const shown = ['a', 'ع', '水', '😀', '1', '·', '\u{1f468}']
  const unseen = [
    ' ',
    '\u00a0',
    '\u200b',
    '\u200d',
    '\u2800',
    '\u3164',
    '\ufe0f',
    '\u0301',
    '\ue000',
  ]
  const refused = ['\n', '\u202e', '\u0000']
  const letters = fc.constantFrom(...shown, ...unseen, ...unseen, ...refused)
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 6 }), (parts) => {
      const text = parts.join('')
      expect([text, accepts(Label, text)]).toEqual([text, Label.safeParse(text).success])
    }),
    { numRuns: runs(500) },
  )
})

test('of the length of a text, in which an emoji is one character', () => {
  const { signal } = AlertQuery.shape
  for (const schema of [signal, oneLine(64)]) {
    for (const [text, isAccepted] of [
      ['😀'.repeat(64), true],
      ['😀'.repeat(65), false],
      ['x'.repeat(64), true],
      ['x'.repeat(65), false],
      ['x'.repeat(1000), false],
    ] as const) {
      expect([accepts(schema, text), schema.safeParse(text).success]).toEqual([
        isAccepted,
        isAccepted,
      ])
    }
  }
  expect([accepts(oneLine(4), ''), oneLine(4).safeParse('').success]).toEqual([false, false])
})

test('of what is given twice', () => {
  const published = (schema: z.ZodType) => jsonSchema(translator('en'), schema)
  const { critical } = Settings.shape.repeat.shape
  expect(published(critical)).toMatchObject({ uniqueItems: true })
  expect(critical.safeParse([15, 15]).success).toBe(false)
  expect(critical.safeParse([15, 60]).success).toBe(true)
  const { signals } = WatchChanges.shape
  expect(published(signals)).toMatchObject({ uniqueItems: true })
})

test('of the address that a channel needs, and no other has', () => {
  const parts = { address: 'ops@example.org', url: 'https://hooks.example.org/a' }
  const chosen = [{}, { address: parts.address }, { url: parts.url }, parts]
  const Variant = z.object({
    properties: z.record(z.string(), z.unknown()),
    required: z.array(z.string()),
    additionalProperties: z.literal(false),
  })
  const published = NewRecipient.options.map((option) => {
    const { properties, required } = Variant.parse(inlineSchema(translator('en'), option))
    const of = z.object({ const: z.string().optional(), enum: z.array(z.string()).optional() })
    const { const: only, enum: several = [only] } = of.parse(properties['channel'])
    return { several, properties, required }
  })
  for (const channel of CHANNEL_KEYS) {
    const variant = published.find(({ several }) => several.includes(channel))
    for (const given of chosen) {
      const body = { name: 'Pager', channel, ...given }
      const isPublished =
        Object.keys(body).every((name) => name in (variant?.properties ?? {})) &&
        variant?.required.every((name) => name in body)
      expect([body, NewRecipient.safeParse(body).success]).toEqual([body, isPublished])
    }
  }
  expect(published.map(({ required }) => required.toSorted().join(' '))).toEqual([
    'address channel name',
    'channel name url',
    'channel name',
  ])
})
