import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { CHANNEL_KEYS } from '#src/channels/index.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import { every } from '../../../test/support/every.ts'
import { Preview, PreviewRequest, previewMessage } from './preview.ts'

/** A preview of an event with any data is a message, or refused as invalid. */

const NOW = new Date('2026-11-20T12:00:00.000Z')

function preview(request: PreviewRequest) {
  return previewMessage(request, {
    reader: { locale: request.locale ?? 'en', timezone: 'Asia/Kathmandu' },
    wallet: '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C',
    watch: { id: 42, label: 'Node A' },
    publicUrl: 'https://watchdog.example.org',
    now: NOW,
  })
}

/** Asserts that a preview is well-formed, or refused with the pointer to its data. */
function requireAnswer(request: unknown) {
  const parsed = PreviewRequest.safeParse(request)
  // A front door refuses it.
  if (!parsed.success) return
  try {
    expect(Preview.safeParse(preview(parsed.data)).success).toBe(true)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error).toMatchObject({ kind: 'invalid', code: 'validation_failed' })
    expect(error.details.errors).toEqual([{ pointer: '/data', code: 'event_data' }])
  }
}

interface Shape {
  readonly names: readonly string[]
  readonly words: readonly unknown[]
}

/** Names of all properties of a JSON schema, at any depth, and the values that it names. */
function shapeOf(schema: unknown): Shape {
  const names = new Set<string>()
  const words = new Set<unknown>()
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, value] of Object.entries(node)) {
      if (key === 'properties') for (const name of Object.keys(Object(value))) names.add(name)
      if (key === 'enum' && Array.isArray(value)) for (const word of value) words.add(word)
      if (key === 'const') words.add(value)
      visit(value)
    }
  }
  visit(schema)
  return { names: [...names], words: [...words] }
}

const SHAPES = new Map(
  EVENTS.map((event) => {
    const source = findEventSource(event)
    if (source === undefined) throw new Error(`no signal emits ${event}`)
    const { signal } = source
    const schema = z.toJSONSchema(signal.data, { io: 'input', unrepresentable: 'any' })
    const { names, words } = shapeOf(schema)
    const examples = Object.values(signal.examples).flatMap((data) => Object.entries(data))
    return [
      event,
      {
        names: [...new Set([...names, ...examples.map(([name]) => name)])],
        values: [...words, ...examples.map(([, value]) => value)],
      },
    ]
  }),
)

const GARBAGE: readonly unknown[] = [
  null,
  true,
  '',
  ' ',
  '0',
  '-1',
  '1e400',
  'a'.repeat(5000),
  '9'.repeat(15_000),
  `-${'9'.repeat(78)}`,
  '\u202e<b>&\ud800',
  '2026-13-45T99:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00.000Z',
  '0x0000000000000000000000000000000000000000',
  `0x${'ff'.repeat(32)}`,
  -1,
  0,
  0.5,
  -0.5,
  1e-300,
  1e300,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  400_000_000,
  [],
  [null],
  [[[]]],
  {},
  { __proto__: null, kind: 'x' },
]

const anyData = (event: string) => {
  const { names, values } = SHAPES.get(event) ?? { names: [], values: [] }
  const value = fc.oneof(
    fc.constantFrom(...values, null),
    fc.constantFrom(...GARBAGE),
    fc.jsonValue({ maxDepth: 2 }),
  )
  return fc.dictionary(fc.constantFrom(...names, 'other'), value, { maxKeys: 6 })
}

// Only against hanging: many events are tried in one test.
describe('a preview of each event', { timeout: 600_000 }, () => {
  test('is written in every locale and channel from its example', () =>
    every(EVENTS, (event) => {
      for (const locale of LOCALES) {
        const { rendered, ...forms } = preview({ event, locale })
        expect(rendered.title).not.toBe('')
        expect(Object.keys(forms)).toEqual(expect.arrayContaining([...CHANNEL_KEYS]))
      }
    }))

  test('is written or refused as invalid, whatever one property is', () =>
    every(EVENTS, (event) => {
      const { names, values } = SHAPES.get(event) ?? { names: [], values: [] }
      const inputs = names.flatMap((name) =>
        [...new Set([...values, ...GARBAGE])].map((value) => ({ [name]: value })),
      )
      for (const [index, data] of inputs.entries()) {
        const channel = CHANNEL_KEYS[index % CHANNEL_KEYS.length]
        requireAnswer({ event, channel, data } as never)
      }
    }))

  test('is written or refused as invalid, whatever its data are', () =>
    every(EVENTS, (event) => {
      const inputs = fc.record({
        locale: fc.constantFrom(...LOCALES),
        channel: fc.constantFrom(...CHANNEL_KEYS),
        data: anyData(event),
      })
      fc.assert(fc.property(inputs, (input) => requireAnswer({ event, ...input } as never)))
    }))
})
