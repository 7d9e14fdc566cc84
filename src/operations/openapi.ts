import { z } from 'zod'
import { builtKey, type Translate, translator } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { AnyOperation, App } from './define.ts'

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'

/** The problem body of every refusal. @see RFC 9457 */
const Problem = z
  .object({
    type: z.url(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() }))
      .optional(),
  })
  .meta({ id: 'Problem' })

/**
 * The registry as OpenAPI 3.1: real schemas, scopes, headers and problems of every operation, explained
 * in the given language.
 */
export function openApiDocument(
  app: Pick<App, 'publicUrl' | 'operations'>,
  locale: Locale,
): Record<string, unknown> {
  const registry = app.operations
  const t = translator(locale)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of registry) {
    if (operation.path === undefined) continue
    const others = paths[operation.path]
    const method = operation.method.toLowerCase()
    paths[operation.path] = { ...others, [method]: describeOperation(t, operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: t('operations:info.title'),
      version: '1.0.0',
      description: t('operations:info.description'),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${app.publicUrl}/api/x402` }],
    tags: tagsOf(t, registry),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: t('operations:info.security'),
        },
      },
      schemas: componentSchemas(registry),
    },
  }
}

function describeOperation(t: Translate, operation: AnyOperation): Record<string, unknown> {
  const { id, scope, body, output, status } = operation
  const success = [status, ...(operation.queued ? [operation.queued.status] : [])]
  const description = t(builtKey(`operations:${id}.description`))
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary: t(builtKey(`operations:${id}.summary`)),
    description,
    security: scope === 'none' ? [] : [{ bearer: [] }],
    ...(scope !== 'none' && { 'x-scope': scope }),
    ...(operation.otherScope && { 'x-conditional-scope': operation.otherScope.scope }),
    parameters: [
      ...parameters('path', operation.params),
      ...parameters('query', operation.query),
      ...headers(t, operation),
    ],
    ...(body && {
      requestBody: {
        required: operation.bodyOptional !== true,
        content: { [JSON_TYPE]: { schema: reference(body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        success.map((code) => [
          code,
          {
            description: t('operations:info.success'),
            ...(output && { content: { [JSON_TYPE]: { schema: reference(output) } } }),
          },
        ]),
      ),
      ...problems(t, operation),
    },
  }
}

/** The refusals an operation can answer with, by status. */
function problems(t: Translate, operation: AnyOperation): Record<string, unknown> {
  const { scope, params, query, body, idempotent, method } = operation
  const isChange = method !== 'GET'
  const statuses = [
    ...(params || query || body ? [400] : []),
    ...(scope === 'none' ? [] : [401, 403]),
    ...(params ? [404] : []),
    ...(isChange ? [409] : []),
    ...(operation.etag && isChange ? [412] : []),
    ...(body ? [413, 415] : []),
    ...(idempotent ? [422] : []),
    429,
    500,
    503,
  ]
  const answer = {
    description: t('operations:info.problem'),
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  }
  return Object.fromEntries(statuses.map((status) => [status, answer]))
}

function headers(t: Translate, operation: AnyOperation): unknown[] {
  const text = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })
  return [
    ...(operation.idempotent ? [text('Idempotency-Key', t('operations:info.idempotencyKey'))] : []),
    ...(operation.etag && operation.method !== 'GET'
      ? [text('If-Match', t('operations:info.ifMatch'))]
      : []),
    ...(operation.etag && operation.method === 'GET'
      ? [text('If-None-Match', t('operations:info.ifNoneMatch'))]
      : []),
  ]
}

/** One parameter per property of a path or query schema. */
function parameters(where: 'path' | 'query', schema: z.ZodType | undefined): unknown[] {
  if (schema === undefined) return []
  const { properties, required } = ObjectSchema.parse(jsonSchema(schema))
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || (required ?? []).includes(name),
    schema: property,
  }))
}

const ObjectSchema = z.object({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).optional(),
})

function tagsOf(t: Translate, registry: readonly AnyOperation[]): unknown[] {
  const names = [...new Set(registry.map(tagOf))]
  return names.map((name) => ({
    name,
    description: t(builtKey(`operations:tag.${name}`)),
  }))
}

/** The first part of the path: what the operation is about. */
function tagOf({ path = '' }: AnyOperation): string {
  return path.split('/')[1]?.replace('.json', '') ?? ''
}

/** Bodies and answers have names; what has none is described in place. */
function reference(schema: z.ZodType): unknown {
  const id = z.globalRegistry.get(schema)?.id
  return id === undefined ? jsonSchema(schema) : { $ref: componentUri(id) }
}

/** Every named schema that the given operations reach. */
function componentSchemas(registry: readonly AnyOperation[]): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...OPTIONS, uri: componentUri })
  const all = Object.fromEntries(
    Object.entries(schemas).map(([id, schema]) => [id, withoutMarks(schema)]),
  )
  const named = [Problem, ...registry.flatMap(({ body, output }) => [body, output])]
  const open = named.flatMap((schema) => (schema ? namesIn(reference(schema)) : []))
  const reached = new Set<string>()
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue
    reached.add(name)
    open.push(...namesIn(all[name]))
  }
  return Object.fromEntries([...reached].sort().map((name) => [name, all[name]]))
}

function namesIn(schema: unknown): string[] {
  const text = JSON.stringify(schema) ?? ''
  return [...text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)].flatMap(([, name]) => name ?? [])
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`
}

// Answers are encoded, bodies decoded: the JSON side of every codec is its input.
const OPTIONS = { io: 'input', unrepresentable: 'any', override: withoutNoise } as const

/** Leaves out what zod says of every whole number and every instant. */
function withoutNoise({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
}

function jsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, OPTIONS)
  return JSON.parse(JSON.stringify(rest).replaceAll('#/$defs/', '#/components/schemas/'))
}

/** Without the marks that only a schema of its own needs. */
function withoutMarks({
  $schema: _dialect,
  $id: _id,
  ...schema
}: Record<string, unknown>): unknown {
  return schema
}
