/** Writes the generated part of `clients/typescript` from the OpenAPI document. */
import { z } from 'zod'

const Schema = z.looseObject({
  $ref: z.string().optional(),
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
})
type Schema = z.output<typeof Schema>

const Content = z.record(z.string(), z.object({ schema: Schema.optional() }))

const OperationEntry = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  'x-scope': z.string().optional(),
  'x-conditional-scope': z.string().optional(),
  'x-error-codes': z.array(z.string()),
  parameters: z.array(
    z.looseObject({ name: z.string(), in: z.string(), required: z.boolean(), schema: Schema }),
  ),
  requestBody: z.looseObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: Content.optional() })),
})
export type OperationEntry = z.output<typeof OperationEntry>

const Reference = z.looseObject({ $ref: z.string() })
const EventVariant = z.looseObject({
  properties: z.object({ event: z.object({ enum: z.array(z.string()) }), data: Reference }),
})

/** The parts of the document that clients are written from. */
export const Document = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), OperationEntry)),
  components: z.looseObject({
    schemas: z.looseObject({ WebhookEvent: z.object({ oneOf: z.array(Reference) }) }),
  }),
})
export type Document = z.output<typeof Document>

/** An operation of the document with what its method needs. */
export interface Described {
  readonly document: Document
  readonly path: string
  readonly method: string
  readonly entry: OperationEntry
}

/**
 * TypeScript of every operation as a method, of the error codes, and of the events with their data.
 *
 * @param openApi the document in English
 */
export function writeClient(openApi: unknown): string {
  const document = Document.parse(openApi)
  const operations = operationsOf(document)
  const methods = operations.flatMap((operation) => [methodOf(operation), ...pagesOf(operation)])
  const text = methods.join('\n')
  const models = Object.keys(document.components.schemas).filter((name) =>
    new RegExp(`\\b${name}\\b`).test(`${text}${eventTypes(document)}`),
  )
  return [
    '/* Generated from the operations of the service: npm run types:api */',
    `import type { ${models.toSorted().join(', ')} } from './models.ts'`,
    "import { Transport, type CallOptions, type KeyedCallOptions, type VersionedCallOptions } from '../transport.ts'",
    "import { allPages } from '../pages.ts'",
    '',
    '/** Codes of refusals, which never change. Later releases add some. */',
    `export type ErrorCode = ${literals(errorCodes(operations))}`,
    '',
    eventTypes(document),
    '',
    '/** Every operation of the service. */',
    'export abstract class Operations extends Transport {',
    text,
    '}',
    '',
  ].join('\n')
}

/** Every operation, in the order of the document. */
export function operationsOf(document: Document): readonly Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => ({ document, path, method, entry })),
  )
}

function errorCodes(operations: readonly Described[]): readonly string[] {
  return [...new Set(operations.flatMap(({ entry }) => entry['x-error-codes']))].toSorted()
}

function literals(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(' | ')
}

/** A type with the data of every event, by the name of the event. */
function eventTypes({ components }: Document): string {
  const lines = components.schemas.WebhookEvent.oneOf.flatMap(({ $ref }) => {
    const { event, data } = EventVariant.parse(components.schemas[nameOf($ref)]).properties
    return event.enum.map((name) => `  '${name}': ${nameOf(data.$ref)}`)
  })
  return [
    '/** Data of every event that this release of the service knows. */',
    'export interface EventData {',
    ...lines,
    '}',
    '',
    '/** Name of an event. */',
    'export type EventName = keyof EventData',
  ].join('\n')
}

/** The name of the schema that a reference is to. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** What a method takes and returns, as TypeScript. */
interface Signature {
  readonly parameters: readonly string[]
  readonly call: string
  readonly result: string
  /** Schema of the answer if it is JSON. */
  readonly answer: Schema | undefined
  readonly query: string | undefined
}

function signatureOf({ document, path, method, entry }: Described): Signature {
  const inPath = entry.parameters.filter(({ in: place }) => place === 'path')
  const named = entry.parameters.filter(({ in: place }) => place === 'query')
  const body = bodyOf(document, entry)
  // What the body can say as well needs no query.
  const query = named.every(({ name }) => body?.names.includes(name)) ? [] : named
  const type = queryType(query)
  const isRequired = query.some(({ required }) => required)
  const answers = Object.entries(entry.responses).filter(([status]) => status.startsWith('2'))
  const content = answers.map(([, { content }]) => content).find((content) => content !== undefined)
  const json = content?.['application/json']?.schema
  const isText = content !== undefined && json === undefined
  const options = optionsType(entry)
  const url = path.replaceAll(/\{(\w+)\}/g, (_whole, name) => `\${encodeURIComponent(${name})}`)
  const facts = [
    `method: '${method.toUpperCase()}'`,
    `path: ${inPath.length > 0 ? `\`${url}\`` : `'${url}'`}`,
    ...(query.length > 0 ? ['query'] : []),
    ...(body === undefined ? [] : ['body']),
    ...(options === 'KeyedCallOptions' ? ['isKeyed: true'] : []),
    ...(isText ? [`accepts: '${Object.keys(content)[0]}'`] : []),
  ]
  return {
    parameters: [
      ...inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`),
      ...(body === undefined ? [] : [`body${body.isRequired ? '' : '?'}: ${body.type}`]),
      ...(query.length > 0 ? [`query${isRequired ? '' : '?'}: ${type}`] : []),
      `options?: ${options}`,
    ],
    call: `{ ${facts.join(', ')} }`,
    result: isText
      ? 'ReadableStream<Uint8Array>'
      : json === undefined
        ? 'void'
        : json.$ref === undefined
          ? 'Record<string, unknown>'
          : nameOf(json.$ref),
    answer: json,
    query: query.length > 0 ? type : undefined,
  }
}

function methodOf(operation: Described): string {
  const { entry } = operation
  const { parameters, call, result } = signatureOf(operation)
  const invoked = result.startsWith('ReadableStream')
    ? `this.stream(${call}, options)`
    : `this.request<${result}>(${call}, options)`
  return [
    comment(entry),
    `  ${entry.operationId}(${parameters.join(', ')}): Promise<${result}> {`,
    `    return ${invoked}`,
    '  }',
    '',
  ].join('\n')
}

/** A second method for a list, which follows its cursors. */
function pagesOf(operation: Described): string[] {
  const { document, entry } = operation
  const { query, answer, parameters } = signatureOf(operation)
  const page = resolve(document, answer)?.properties ?? {}
  const isPaged = query?.includes('cursor?:') === true && 'data' in page && 'nextCursor' in page
  if (!isPaged || answer?.$ref === undefined) return []
  const item = `${nameOf(answer.$ref)}['data'][number]`
  const name = entry.operationId.replace(/^list/, 'all')
  if (name === entry.operationId) throw new Error(`${name} is a list with another verb`)
  const lines = [
    `  /** Every item of \`${entry.operationId}\`, page after page. */`,
    `  ${name}(${parameters.join(', ')}): AsyncGenerator<${item}, void, undefined> {`,
    `    return allPages((cursor) => this.${entry.operationId}({ ...query, ...cursor }, options))`,
    '  }',
    '',
  ]
  return [lines.join('\n')]
}

function bodyOf(document: Document, { requestBody }: OperationEntry) {
  const schema = requestBody?.content['application/json']?.schema
  if (requestBody === undefined || schema?.$ref === undefined) return undefined
  const { properties = {} } = resolve(document, schema) ?? {}
  const isRequired = requestBody.required
  return { type: nameOf(schema.$ref), isRequired, names: Object.keys(properties) }
}

function resolve(document: Document, schema: Schema | undefined): Schema | undefined {
  if (schema?.$ref === undefined) return schema
  return Schema.parse(document.components.schemas[nameOf(schema.$ref)])
}

function optionsType({ parameters }: OperationEntry): string {
  const has = (header: string) => parameters.some(({ name }) => name === header)
  if (has('Idempotency-Key')) return 'KeyedCallOptions'
  return has('If-Match') ? 'VersionedCallOptions' : 'CallOptions'
}

function queryType(query: OperationEntry['parameters']): string {
  const parts = query.map(
    ({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema, name)}`,
  )
  return `{ ${parts.join('; ')} }`
}

function typeOf({ type, enum: values, const: only }: Schema, name?: string): string {
  if (values !== undefined) return name === 'event' ? 'EventName' : literals(values)
  if (only !== undefined) return JSON.stringify(only)
  return type === 'integer' || type === 'number' ? 'number' : 'string'
}

function comment(entry: OperationEntry): string {
  const { summary, description, 'x-scope': scope, 'x-conditional-scope': other } = entry
  const needs =
    scope === undefined ? 'no token' : [scope, ...(other ? [`sometimes ${other}`] : [])].join(', ')
  const lines = [summary, '', ...description.split('\n'), '', `Needs: ${needs}.`]
  return ['  /**', ...lines.map((line) => `   * ${line}`.trimEnd()), '   */'].join('\n')
}
