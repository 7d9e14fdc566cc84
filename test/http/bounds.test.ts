/** The bounds of the OpenAPI document are those of the service: values just inside and just outside of each are sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { englishDocument } from '../generated/generate.ts'
import { serviceOnly } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  maxItems: z.number().optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  'x-minimum': z.string().optional(),
  enum: z.array(z.unknown()).optional(),
})
type Schema = z.output<typeof Schema>

const document = englishDocument()

function resolved(schema: unknown): Schema {
  const parsed = Schema.parse(schema)
  const name = parsed.$ref?.split('/').at(-1)
  return name === undefined ? parsed : Schema.parse(document.components.schemas[name])
}

/** Values around the bounds of a schema. */
interface Edges {
  readonly inside: readonly unknown[]
  readonly outside: readonly unknown[]
}

/** A text of this length that fits the pattern; undefined if letters do not. */
function textOf(length: number, pattern: string | undefined): string | undefined {
  const text = 'x'.repeat(length)
  return pattern === undefined || new RegExp(pattern).test(text) ? text : undefined
}

function edgesOf(schema: Schema, example: unknown): Edges {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern, format } = schema
  const texts = (lengths: readonly (number | undefined)[]) =>
    format !== undefined
      ? []
      : lengths.flatMap((length) => {
          const text = length === undefined ? undefined : textOf(length, pattern)
          return text === undefined ? [] : [text]
        })
  const longer = maxLength === undefined ? undefined : maxLength + 1
  const isOpen = format === undefined && longer !== undefined && textOf(1, pattern) !== undefined
  const item = Array.isArray(example) && example.length > 0 ? example[0] : undefined
  const list = (length: number) => Array.from({ length }, () => item)
  return {
    inside: [
      ...[minimum, maximum].filter((bound) => bound !== undefined),
      ...texts([minLength, maxLength]),
    ],
    outside: [
      ...(minimum === undefined ? [] : [minimum - 1]),
      ...(maximum === undefined ? [] : [maximum + 1]),
      ...(minLength === 1 ? [''] : []),
      ...texts([longer]),
      // A control character, where the pattern refuses it.
      ...(isOpen && pattern !== undefined && !new RegExp(pattern).test('a\u0007')
        ? ['a\u0007']
        : []),
      ...(schema['x-minimum'] === undefined ? [] : ['1969-12-31T23:59:59Z']),
      ...(maxItems === undefined || item === undefined ? [] : [list(maxItems + 1)]),
    ],
  }
}

/** A place in a body with the values around its bounds. */
interface Case {
  readonly path: readonly string[]
  readonly edges: Edges
}

function casesIn(given: unknown, example: unknown, path: readonly string[] = []): readonly Case[] {
  const schema = resolved(given)
  if (schema.enum !== undefined) return []
  const own = path.length > 0 ? [{ path, edges: edgesOf(schema, example) }] : []
  const values: Record<string, unknown> = { ...Object(example) }
  const below = Object.entries(schema.properties).flatMap(([name, inner]) =>
    // A nested object that the example lacks would be incomplete.
    path.length === 0 || name in values ? casesIn(inner, values[name], [...path, name]) : [],
  )
  // One alternative beside null has the bounds of both.
  const others = schema.anyOf.filter((inner) => resolved(inner).type !== 'null')
  const only = others.length === 1 ? casesIn(others[0], example, path) : []
  const chosen = schema.oneOf.find((variant) => {
    const { type } = resolved(variant).properties
    return type !== undefined && Schema.parse(type)['const'] === values['type']
  })
  return [...own, ...below, ...only, ...(chosen ? casesIn(chosen, example, path) : [])]
}

/** A body with another value at a path. */
function withValue(
  body: unknown,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): unknown {
  const copy: Record<string, unknown> = { ...Object(body) }
  return { ...copy, [name]: rest.length === 0 ? value : withValue(copy[name], rest, value) }
}

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Awaited<ReturnType<typeof signIn>>

beforeAll(async () => {
  service = await serviceOnly()
  alice = await withTrial(await signIn(service, 'alice'))
})
afterAll(() => service.close())

/** Sends a request; when the limit of a minute is used up, in the next minute. */
async function sent(...call: Parameters<typeof alice.request>) {
  const answer = await alice.request(...call)
  if (answer.status !== 429) return answer
  service.clock.advance(MINUTE_MS)
  return await alice.request(...call)
}

const FieldError = z.object({ pointer: z.string(), code: z.string() })

/** Sends a request. @returns the pointers of what is refused as invalid */
async function refusedAt(...call: Parameters<typeof alice.request>): Promise<readonly string[]> {
  const { body, status } = await sent(...call)
  expect([403, 429]).not.toContain(status)
  expect(body?.['code']).not.toBe('invalid_token')
  const Problem = z.object({ code: z.string(), errors: z.array(FieldError) })
  const problem = Problem.safeParse(body)
  // A text of a length that is allowed may still be no name of an asset.
  const errors = problem.success ? problem.data.errors : []
  return errors.filter(({ code }) => code !== 'choice').map(({ pointer }) => pointer)
}

type Entry = Record<string, never> & {
  readonly operationId: string
  readonly requestBody?: { content: Record<string, { schema: unknown; example: unknown }> }
  readonly parameters: readonly { name: string; in: string; schema: unknown }[]
}
const OPERATIONS = Object.entries<Record<string, Entry>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(
      ([method, entry]) => [entry.operationId, { path, method, entry }] as const,
    ),
)
// They end the token.
const LEFT_OUT = ['revokeToken']

const withBody = OPERATIONS.filter(([, { entry }]) => entry.requestBody !== undefined)
test.each(withBody)('the body of %s', async (_id, { path, method, entry }) => {
  const { schema, example } = entry.requestBody?.content['application/json'] ?? {}
  const address = path.replaceAll('{id}', '1').replaceAll('{key}', 'webhook')
  const cases = casesIn(schema, example)
  for (const { path: place, edges } of cases) {
    const pointer = `/${place.join('/')}`
    const send = (value: unknown) =>
      refusedAt(method.toUpperCase(), address, withValue(example, place, value))
    const isAt = (found: string) => found === pointer || found.startsWith(`${pointer}/`)
    for (const value of edges.outside) {
      expect((await send(value)).some(isAt), `${pointer}: ${JSON.stringify(value)}`).toBe(true)
    }
    for (const value of edges.inside) {
      expect((await send(value)).filter(isAt), `${pointer}: ${JSON.stringify(value)}`).toEqual([])
    }
  }
})

const withQuery = OPERATIONS.filter(
  ([id, { entry }]) =>
    !LEFT_OUT.includes(id) && entry.parameters.some((parameter) => parameter.in === 'query'),
)
test.each(withQuery)('the query of %s', async (_id, { path, method, entry }) => {
  const example = entry.requestBody?.content['application/json']?.example
  for (const { name, schema } of entry.parameters.filter((parameter) => parameter.in === 'query')) {
    const { inside, outside } = edgesOf(resolved(schema), undefined)
    const send = (value: unknown) => {
      const query = `?${name}=${encodeURIComponent(String(value))}`
      return refusedAt(method.toUpperCase(), path.replaceAll('{id}', '1') + query, example)
    }
    for (const value of outside)
      expect(await send(value), `${name}: ${value}`).toContain(`/${name}`)
    const isNumber = resolved(schema).type === 'integer'
    // Texts have a form besides their length.
    for (const value of isNumber ? inside : []) {
      expect(await send(value), `${name}: ${value}`).not.toContain(`/${name}`)
    }
  }
})

test('the idempotency key', async () => {
  const [, create] = OPERATIONS.find(([id]) => id === 'createRecipient') ?? []
  const key = create?.entry.parameters.find(({ name }) => name === 'Idempotency-Key')
  const { inside, outside } = edgesOf(resolved(key?.schema), undefined)
  expect([inside.length, outside.length]).toEqual([2, 3])
  const example = create?.entry.requestBody?.content['application/json']?.example
  const codeOf = async (value: unknown) => {
    const headers = { 'idempotency-key': String(value) }
    return (await sent('POST', '/recipients', example, headers)).body['code']
  }
  for (const value of outside) expect(await codeOf(value)).toBe('invalid_idempotency_key')
  for (const value of inside) expect(await codeOf(value)).toBeUndefined()
})
