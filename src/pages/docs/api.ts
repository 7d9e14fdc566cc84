/** The content of the API reference's pages, generated from the OpenAPI document. Pure. */
import { z } from 'zod'
import { type CallExample, callExamples } from './calls.ts'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
})
type Schema = z.output<typeof Schema>

const Content = z.record(z.string(), z.object({ schema: Schema.optional(), example: z.unknown() }))
const Answer = z.looseObject({ content: Content.optional() })
const OperationEntry = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  'x-scope': z.string().optional(),
  'x-conditional-scope': z.string().optional(),
  parameters: z.array(
    z.looseObject({
      name: z.string(),
      in: z.string(),
      required: z.boolean(),
      description: z.string().optional(),
      schema: Schema,
      example: z.union([z.string(), z.number()]).optional(),
    }),
  ),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(z.string(), Answer),
})
const Document = z.looseObject({
  servers: z.tuple([z.object({ url: z.string() })]),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), OperationEntry)),
  components: z.looseObject({
    schemas: z.record(z.string(), Schema),
    pathItems: z.object({
      AlertWebhook: z.object({
        post: z.looseObject({ requestBody: z.looseObject({ content: Content }) }),
      }),
    }),
  }),
})

/** One row of a table of fields. */
export interface FieldRow {
  /** Path of the field, with dots from the top and `[]` after a list. */
  readonly name: string
  /** Type in the notation of programmers: `string`, `integer | null`, `"a" | "b"`, `object[]`. */
  readonly type: string
  readonly required: boolean
  readonly description: string | undefined
}

/** One operation, for a page. */
export interface OperationDoc {
  readonly id: string
  readonly tag: string
  readonly method: string
  readonly address: string
  readonly summary: string
  readonly description: string
  /** Required scope; undefined for public operations. */
  readonly scope: string | undefined
  readonly isIdempotent: boolean
  readonly parameters: readonly FieldRow[]
  readonly body: readonly FieldRow[]
  readonly answer: readonly FieldRow[]
  readonly status: string
  /** Example answer as JSON or text; undefined without one. */
  readonly answerExample: string | undefined
  /** HTTP statuses of its refusals. */
  readonly refusals: readonly string[]
  /** The example call in every language. */
  readonly calls: readonly CallExample[]
  /** Parameters of path and query, for a form. */
  readonly inputs: readonly Input[]
  /** Example body as JSON; undefined without one. */
  readonly bodyExample: string | undefined
  /** Effect that a reader confirms before a call of the console; undefined for harmless calls. */
  readonly asksFirst: 'spend' | 'delete' | undefined
}

/** A parameter of the path or the query. */
interface Input {
  readonly name: string
  readonly place: 'path' | 'query'
  readonly example: string | number | undefined
  readonly required: boolean
}

/** The reference: tags, and all operations in the order of the registry. */
export interface ApiDocs {
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly operations: readonly OperationDoc[]
  /** The body of a webhook, field by field. */
  readonly webhook: readonly FieldRow[]
}

/** Maximum depth of nested fields; deeper fields are in the example. */
const DEPTH_MAX = 3
/**
 * Maximum number of values of a type that are named. If there are more, as for events, only the first are
 * named.
 */
const NAMES_MAX = 16
const NAMES_SHOWN = 4

/**
 * Parses an OpenAPI document of this service.
 * @throws ZodError
 */
export function apiDocs(openApi: unknown): ApiDocs {
  const { servers, tags, paths, components } = Document.parse(openApi)
  const [{ url: base }] = servers
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) =>
      operationDoc({ base, schemas: components.schemas }, { path, method, entry }),
    ),
  )
  const [payload] =
    firstOf(components.pathItems.AlertWebhook.post.requestBody.content)?.schema?.allOf ?? []
  const webhook = rowsOf({ base, schemas: components.schemas }, Schema.parse(payload))
  const described = new Set(operations.map(({ tag }) => tag))
  return { tags: tags.filter(({ name }) => described.has(name)), operations, webhook }
}

interface Context {
  readonly base: string
  readonly schemas: Readonly<Record<string, Schema>>
}

function operationDoc(
  context: Context,
  operation: { path: string; method: string; entry: z.output<typeof OperationEntry> },
): OperationDoc {
  const { path, entry } = operation
  const method = operation.method.toUpperCase()
  const address = context.base + path
  const body = firstOf(entry.requestBody?.content)
  const [status = '', answer] =
    Object.entries(entry.responses).find(([code]) => code.startsWith('2')) ?? []
  const success = firstOf(answer?.content)
  const scope = entry['x-scope']
  const type = Object.keys(answer?.content ?? {})[0]
  const call = {
    method,
    address: exampleAddress(address, entry.parameters),
    isAuthenticated: scope !== undefined,
    body: body?.example,
    answer: type === undefined ? 'none' : type === 'application/json' ? 'json' : 'text',
  } as const
  return {
    id: entry.operationId,
    tag: entry.tags[0] ?? '',
    method,
    address: new URL(address).pathname.replaceAll('%7B', '{').replaceAll('%7D', '}'),
    summary: entry.summary,
    description: entry.description,
    scope,
    isIdempotent: entry.parameters.some(({ name }) => name === 'Idempotency-Key'),
    parameters: entry.parameters.map(({ name, required, description, schema }) => ({
      name,
      required,
      type: typeOf(context, schema),
      description: description ?? resolve(context, schema).description,
    })),
    body: body?.schema ? rowsOf(context, body.schema) : [],
    answer: success?.schema ? rowsOf(context, success.schema) : [],
    status,
    answerExample: textOf(success?.example),
    refusals: Object.keys(entry.responses).filter((code) => Number(code) >= 400),
    calls: callExamples(call),
    inputs: inputsOf(entry),
    bodyExample: textOf(body?.example),
    asksFirst: asksFirst(method, entry),
  }
}

function inputsOf({ parameters }: z.output<typeof OperationEntry>): readonly Input[] {
  return parameters.flatMap(({ name, in: place, example, required }) =>
    place === 'path' || place === 'query' ? [{ name, place, example, required }] : [],
  )
}

function asksFirst(
  method: string,
  entry: z.output<typeof OperationEntry>,
): OperationDoc['asksFirst'] {
  if ([entry['x-scope'], entry['x-conditional-scope']].includes('spend')) return 'spend'
  return method === 'DELETE' ? 'delete' : undefined
}

/** The address with the example values of its parameters. */
function exampleAddress(
  address: string,
  parameters: z.output<typeof OperationEntry>['parameters'],
): string {
  const withExample = parameters.filter(({ example }) => example !== undefined)
  const query = withExample.filter((parameter) => parameter.in === 'query')
  const path = withExample
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), address)
  const search = query.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
  return search.length === 0 ? path : `${path}?${search.join('&')}`
}

function firstOf(content: z.output<typeof Content> | undefined) {
  return Object.values(content ?? {})[0]
}

function textOf(example: unknown): string | undefined {
  if (example === undefined) return undefined
  return typeof example === 'string' ? example : JSON.stringify(example, undefined, 2)
}

function rowsOf(context: Context, schema: Schema, prefix = '', depth = 1): readonly FieldRow[] {
  const { properties = {}, required = [] } = objectIn(context, schema) ?? {}
  return Object.entries(properties).flatMap(([key, value]) => {
    const property = Schema.parse(value)
    const name = prefix + key
    const inner = objectIn(context, property)
    const isList = listIn(context, property) !== undefined
    const row = {
      name,
      required: required.includes(key),
      type: typeOf(context, property),
      description: property.description ?? resolve(context, property).description,
    }
    const below =
      inner === undefined || depth === DEPTH_MAX
        ? []
        : rowsOf(context, property, `${name}${isList ? '[]' : ''}.`, depth + 1)
    return [row, ...below]
  })
}

function resolve({ schemas }: Context, schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (schemas[name] ?? schema)
}

function listIn(context: Context, schema: Schema): Schema | undefined {
  const { items, anyOf } = resolve(context, schema)
  if (items !== undefined) return Schema.parse(items)
  const lists = (anyOf ?? []).map((schema) => listIn(context, Schema.parse(schema)))
  return lists.find((list) => list !== undefined)
}

/** The object of a schema, of its variants, or of its items; several objects are merged. */
function objectIn(context: Context, schema: Schema): Schema | undefined {
  const resolved = resolve(context, schema)
  if (resolved.properties !== undefined) return resolved
  if (resolved.items !== undefined) return objectIn(context, Schema.parse(resolved.items))
  const among = (resolved.anyOf ?? resolved.oneOf ?? [])
    .map((schema) => objectIn(context, Schema.parse(schema)))
    .filter((object) => object !== undefined)
  return among.length < 2 ? among[0] : merged(among)
}

/** Merges objects: the result has all properties, which are required if all objects require them. */
function merged(objects: readonly Schema[]): Schema {
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties ?? {})))
  const properties = [...names].map((name): [string, unknown] => {
    const alternatives = objects.flatMap(({ properties: own }) => own?.[name] ?? [])
    const different = new Map(alternatives.map((schema) => [JSON.stringify(schema), schema]))
    const variants = [...different.values()].map((schema) => Schema.parse(schema))
    const meanings = new Set(variants.flatMap(({ description }) => description ?? []))
    const description = meanings.size === 0 ? undefined : [...meanings].join(' ')
    return [name, variants.length === 1 ? variants[0] : { anyOf: variants, description }]
  })
  const required = [...names].filter((name) =>
    objects.every((object) => object.required?.includes(name) === true),
  )
  return { properties: Object.fromEntries(properties), required }
}

function typeOf(context: Context, schema: Schema): string {
  const resolved = resolve(context, schema)
  if (resolved.enum !== undefined) {
    const names = resolved.enum.map((value) => JSON.stringify(value))
    const shown = names.length > NAMES_MAX ? [...names.slice(0, NAMES_SHOWN), '…'] : names
    return shown.join(' | ')
  }
  if (resolved.const !== undefined) return JSON.stringify(resolved.const)
  const either = resolved.anyOf ?? resolved.oneOf
  if (either !== undefined) {
    const types = either.map((schema) => typeOf(context, Schema.parse(schema)))
    return [...new Set(types)].join(' | ')
  }
  if (resolved.items !== undefined) {
    const item = typeOf(context, Schema.parse(resolved.items))
    return item.includes(' ') ? `(${item})[]` : `${item}[]`
  }
  const { type } = resolved
  if (Array.isArray(type)) return type.join(' | ')
  return type ?? 'any'
}
