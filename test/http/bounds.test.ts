/** The bounds of the OpenAPI document are those of the service: random values just inside and just outside of each are sent. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createLimits } from '#src/operations/gate/limits.ts'
import { englishDocument } from '../generated/generate.ts'
import { serviceOnly } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'
import { runs } from '../support/runs.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  multipleOf: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  pattern: z.string().optional(),
  not: z.object({ pattern: z.string() }).optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
})
type Schema = z.output<typeof Schema>

const document = englishDocument()

function resolved(schema: unknown): Schema {
  const parsed = Schema.parse(schema)
  const name = parsed.$ref?.split('/').at(-1)
  return name === undefined ? parsed : Schema.parse(document.components.schemas[name])
}

/** Values near a bound, on its two sides. */
interface Edges {
  readonly inside: readonly fc.Arbitrary<unknown>[]
  readonly outside: readonly fc.Arbitrary<unknown>[]
}

const NEAR = 5
const CONTROL = fc.integer({ min: 1, max: 31 }).map((code) => `a${String.fromCharCode(code)}`)
const timeIn = (min: number, max: number) =>
  fc
    .date({
      min: new Date(Date.UTC(2001, 0)),
      max: new Date(Date.UTC(2001, 11)),
      noInvalidDate: true,
    })
    .chain((date) =>
      fc
        .integer({ min, max })
        .map((year) => date.toISOString().replace(/^2001/, String(year).padStart(4, '0'))),
    )

function edgesOf(schema: Schema, example: unknown): Edges {
  const kinds = [numbersOf(schema), textsOf(schema), timesOf(schema), listsOf(schema, example)]
  return {
    inside: kinds.flatMap(({ inside }) => inside),
    outside: kinds.flatMap(({ outside }) => outside),
  }
}

function numbersOf({ type, minimum, maximum, multipleOf: step = 1 }: Schema): Edges {
  if (type !== 'integer' && type !== 'number') return { inside: [], outside: [] }
  const span = Math.round(((maximum ?? Infinity) - (minimum ?? -Infinity)) / step)
  const away = (from: number, min: number, max: number) =>
    fc.integer({ min, max }).map((steps) => (Math.round(from / step) + steps) / (1 / step))
  const near = Math.min(NEAR, span)
  return {
    inside: [
      ...(minimum === undefined ? [] : [away(minimum, 0, near)]),
      ...(maximum === undefined ? [] : [away(maximum, -near, 0)]),
    ],
    outside: [
      ...(minimum === undefined ? [] : [away(minimum, -NEAR, -1)]),
      ...(maximum === undefined ? [] : [away(maximum, 1, NEAR)]),
    ],
  }
}

/** Texts of letters, if the pattern allows letters, and with a control character, if it does not allow that. */
function textsOf({ type, minLength = 0, maxLength, pattern, format }: Schema): Edges {
  const fits = (text: string) => pattern === undefined || new RegExp(pattern).test(text)
  if (type !== 'string' || format !== undefined || !fits('xxx')) return { inside: [], outside: [] }
  const of = (min: number, max: number) =>
    fc.integer({ min, max }).map((length) => 'x'.repeat(length))
  const near = maxLength === undefined ? NEAR : Math.min(NEAR, maxLength - minLength)
  return {
    inside: [
      of(minLength, minLength + near),
      ...(maxLength === undefined ? [] : [of(maxLength - near, maxLength)]),
    ],
    outside: [
      ...(minLength > 0 ? [of(0, minLength - 1)] : []),
      ...(maxLength === undefined ? [] : [of(maxLength + 1, maxLength + NEAR)]),
      ...(fits('a\u0007') ? [] : [CONTROL]),
    ],
  }
}

function timesOf({ not }: Schema): Edges {
  if (not === undefined) return { inside: [], outside: [] }
  return { inside: [timeIn(1970, 1975), timeIn(9990, 9999)], outside: [timeIn(1, 1969)] }
}

/** Lists of different items, made from the first item of the example. */
function listsOf({ items, minItems = 0, maxItems }: Schema, example: unknown): Edges {
  if (!Array.isArray(example) || example.length === 0) return { inside: [], outside: [] }
  const item = resolved(items)
  const nth = (index: number): unknown => {
    if (item.enum !== undefined) return item.enum[index % item.enum.length]
    if (typeof example[0] === 'number') return (item.minimum ?? 0) + index
    return { ...Object(example[0]), ...('id' in Object(example[0]) && { id: `x${index}` }) }
  }
  const of = (min: number, max: number) =>
    fc.integer({ min, max }).map((length) => Array.from({ length }, (_, index) => nth(index)))
  const near = maxItems === undefined ? NEAR : Math.min(NEAR, maxItems - minItems)
  return {
    inside: [
      of(minItems, minItems + near),
      ...(maxItems === undefined ? [] : [of(maxItems - near, maxItems)]),
    ],
    outside: [
      ...(minItems > 0 ? [of(0, minItems - 1)] : []),
      ...(maxItems === undefined ? [] : [of(maxItems + 1, maxItems + NEAR)]),
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
  Object.assign(service.app.limits, createLimits(service.app, 1000))
  alice = await withTrial(await signIn(service, 'alice'))
})
afterAll(() => service.close())

/** Sends a request that is refused neither for its rights nor for its number. */
async function sent(...call: Parameters<typeof alice.request>) {
  const answer = await alice.request(...call)
  expect([403, 429]).not.toContain(answer.status)
  expect(answer.body?.['code']).not.toBe('invalid_token')
  return answer
}

/** What a schema says of a value; an allowed text may still be no name of an asset, or no id of a recipient. */
const BOUNDS = ['too_small', 'too_big', 'too_short', 'too_long', 'control_characters', 'instant']
const FieldError = z.object({ pointer: z.string(), code: z.string() })

/** Sends a request. @returns the errors of what is refused as invalid */
async function errorsOf(...call: Parameters<typeof sent>) {
  const { body } = await sent(...call)
  const problem = z.object({ code: z.string(), errors: z.array(FieldError) }).safeParse(body)
  return problem.success ? problem.data.errors : []
}

/**
 * Sends values on both sides of each bound of a place.
 *
 * @param send sends one value. @returns the errors of the answer
 */
async function tryEdges(
  { inside, outside }: Edges,
  pointer: string,
  send: (value: unknown) => Promise<readonly z.output<typeof FieldError>[]>,
): Promise<void> {
  const isAt = (found: string) => found === pointer || found.startsWith(`${pointer}/`)
  const tried = (values: fc.Arbitrary<unknown>, check: (value: unknown) => Promise<void>) =>
    fc.assert(fc.asyncProperty(values, check), { numRuns: runs(3) })
  for (const values of outside) {
    await tried(values, async (value) => {
      const errors = await send(value)
      expect(
        errors.some((error) => isAt(error.pointer)),
        pointer,
      ).toBe(true)
    })
  }
  for (const values of inside) {
    await tried(values, async (value) => {
      const errors = await send(value)
      const wrong = errors.filter(
        ({ pointer: at, code }) => at === pointer && BOUNDS.includes(code),
      )
      expect(wrong, pointer).toEqual([])
    })
  }
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
  for (const { path: place, edges } of casesIn(schema, example)) {
    await tryEdges(edges, `/${place.join('/')}`, (value) =>
      errorsOf(method.toUpperCase(), address, withValue(example, place, value)),
    )
  }
})

const withQuery = OPERATIONS.filter(
  ([id, { entry }]) =>
    !LEFT_OUT.includes(id) && entry.parameters.some((parameter) => parameter.in === 'query'),
)
test.each(withQuery)('the query of %s', async (_id, { path, method, entry }) => {
  const example = entry.requestBody?.content['application/json']?.example
  const address = path.replaceAll('{id}', '1')
  for (const { name, schema } of entry.parameters.filter((parameter) => parameter.in === 'query')) {
    await tryEdges(edgesOf(resolved(schema), undefined), `/${name}`, (value) => {
      const query = `?${name}=${encodeURIComponent(String(value))}`
      return errorsOf(method.toUpperCase(), address + query, example)
    })
  }
})

test('the idempotency key', async () => {
  const [, create] = OPERATIONS.find(([id]) => id === 'createRecipient') ?? []
  const key = create?.entry.parameters.find(({ name }) => name === 'Idempotency-Key')
  const edges = edgesOf(resolved(key?.schema), undefined)
  expect([edges.inside.length, edges.outside.length]).toEqual([2, 3])
  const example = create?.entry.requestBody?.content['application/json']?.example
  await tryEdges(edges, '/key', async (value) => {
    const headers = { 'idempotency-key': String(value) }
    const { body } = await sent('POST', '/recipients', example, headers)
    const isRefused = body['code'] === 'invalid_idempotency_key'
    return isRefused ? [{ pointer: '/key', code: 'too_long' }] : []
  })
})

test('every value of a request has bounds', () => {
  const open = OPERATIONS.flatMap(([id, { entry }]) => {
    const { schema } = entry.requestBody?.content['application/json'] ?? {}
    const inQuery = entry.parameters.filter((parameter) => parameter.in === 'query')
    const unbounded = [schema, ...inQuery.map((one) => one.schema)].flatMap((one) => placesIn(one))
    return unbounded.map((place) => `${id} ${place}`)
  })
  expect(open).toEqual([])
})

/** Paths of numbers, texts and lists in a schema that lack a bound. */
function placesIn(given: unknown, path = ''): readonly string[] {
  if (given === undefined) return []
  const schema = resolved(given)
  if (schema.enum !== undefined || schema['const'] !== undefined) return []
  const { type, minimum, maximum, maxLength, maxItems, pattern, format } = schema
  const isOpen =
    ((type === 'integer' || type === 'number') &&
      (minimum === undefined || maximum === undefined)) ||
    (type === 'string' && (maxLength ?? pattern ?? format) === undefined) ||
    (type === 'array' && maxItems === undefined)
  return [
    ...(isOpen ? [path] : []),
    ...[...schema.anyOf, ...schema.oneOf].flatMap((inner) => placesIn(inner, path)),
    ...Object.entries(schema.properties).flatMap(([name, inner]) =>
      placesIn(inner, `${path}/${name}`),
    ),
    ...placesIn(schema.items, `${path}/*`),
  ]
}
