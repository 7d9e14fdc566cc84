import type { Tool } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { saidOnce } from './said-once.ts'

const note = { type: 'string', description: 'What the change is for.' }
const long = { type: 'object', description: 'x'.repeat(300) }

function tool(name: string, properties: object): Tool {
  return { name, inputSchema: { type: 'object', properties: { ...properties } } }
}

const shortened = (...tools: Tool[]) =>
  saidOnce(tools, (name) => `As for ${name}.`).map(({ inputSchema }) => inputSchema.properties)

test('a property is described in the first tool that has it', () => {
  const [first, second] = shortened(tool('a', { note, long }), tool('b', { note, long }))
  expect(first).toEqual({ note, long })
  expect(second).toEqual({
    note: { type: 'string' },
    long: { type: 'object', description: 'As for a.' },
  })
})

test('so is a property inside a property or a variant', () => {
  const inside = { body: { oneOf: [{ properties: { note } }] } }
  const [, second] = shortened(tool('a', { note }), tool('b', inside))
  expect(second).toEqual({ body: { oneOf: [{ properties: { note: { type: 'string' } } }] } })
})

test('another name, or another text, is described', () => {
  const other = { note: { ...note, description: 'Why.' }, remark: note }
  expect(shortened(tool('a', { note }), tool('b', other))[1]).toEqual(other)
})
