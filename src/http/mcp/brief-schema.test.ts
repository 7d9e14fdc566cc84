import { expect, test } from 'vitest'
import { briefInput, briefOutput, briefText } from './brief-schema.ts'

test('the arguments of a tool are named with their types, and those that a call needs are described', () => {
  const body = {
    type: 'object',
    required: ['kind'],
    properties: { kind: { type: 'string', description: 'Kind of it. Not more.' } },
    oneOf: [
      { properties: { kind: { const: 'a' }, url: { type: 'string', description: 'Where.' } } },
      { properties: { kind: { const: 'b' }, inner: { type: 'object', properties: { x: {} } } } },
    ],
  }
  const schema = { properties: { id: { type: 'integer', description: 'Its id.' }, body } }
  const said = new Set<string>()
  expect(briefInput({ ...schema, required: ['id', 'body'] }, said)).toEqual({
    required: ['id', 'body'],
    properties: {
      id: { type: 'integer', description: 'Its id.' },
      body: {
        type: 'object',
        required: ['kind'],
        properties: {
          kind: { type: 'string', description: 'Kind of it.' },
          url: { type: 'string' },
          inner: { type: 'object' },
        },
      },
    },
  })
  const again = briefInput({ ...schema, required: ['id'] }, said)
  expect(again).toMatchObject({ properties: { id: { type: 'integer' } } })
  expect(JSON.stringify(again)).not.toContain('description')
  expect(briefInput({ properties: {} }, said)).toEqual({})
})

test('an answer is named by its members, also those of one variant', () => {
  const variants = [{ properties: { queued: { type: 'boolean' } } }]
  expect(briefOutput({ properties: { id: { anyOf: [] } }, anyOf: variants })).toEqual({
    type: 'object',
    properties: { queued: { type: 'boolean' }, id: {} },
  })
})

test.each([
  ['One. Two. Three.', 9, 'One. Two.'],
  ['One, 0.50 USD. Two.', 3, 'One, 0.50 USD.'],
  ['一个。两个。', 3, '一个。'],
  ['পড়ুন। আবার।', 4, 'পড়ুন।'],
  ['No end', 1, 'No end'],
  ['', 5, ''],
])('a text is cut after a sentence: %s', (text, length, brief) => {
  expect(briefText(text, length)).toBe(brief)
})
