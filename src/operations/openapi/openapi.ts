import { z } from 'zod'
import { WebhookPayload } from '#src/channels/hooks/webhook.ts'
import { checkedKey, type Translate, translator } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { VERSION } from '#src/kernel/release.ts'
import type { AnyOperation, App } from '../define.ts'
import type { OperationExample } from '../examples/define.ts'
import { examplesAt } from '../examples/index.ts'
import { PARAMETERS } from '../examples/parameters.ts'
import { IdempotencyKey } from '../gate/idempotency.ts'
import { withDataMeanings } from './events.ts'
import { pathsOfNamed, withMeanings } from './meanings.ts'
import { errorCodes, Problem, problemAnswers, problemReferences } from './problems.ts'
import { jsonSchema, optionsFor } from './schema.ts'
import { alertWebhook, eventComponent, listEventDataSchemas } from './webhooks.ts'

/** Prefix of all operations' paths. */
export const API_PREFIX = '/api/x402'
const JSON_TYPE = 'application/json'
/** Component that describes the webhook of an alert. */
const WEBHOOK = 'AlertWebhook'

/** What the document describes. `supportUrl`: where people reach the operator. */
export interface Documented extends Pick<App, 'publicUrl' | 'operations'> {
  readonly supportUrl?: string | undefined
}

/** The parts of the document that depend on its language and on the service's URL. */
interface Edition {
  readonly t: Translate
  readonly publicUrl: string
  readonly examples: Readonly<Record<string, OperationExample>>
}

/**
 * The registry as OpenAPI 3.1: schemas, scopes, headers, errors and examples of every operation, described
 * in the given language.
 */
export function openApiDocument(app: Documented, locale: Locale): Record<string, unknown> {
  const { operations: registry, publicUrl, supportUrl } = app
  const t = translator(locale)
  const edition = { t, publicUrl, examples: examplesAt(publicUrl) }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of registry) {
    if (operation.path === undefined) continue
    const others = paths[operation.path]
    const method = operation.method.toLowerCase()
    paths[operation.path] = { ...others, [method]: describeOperation(edition, operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: t('operations:info.title'),
      version: VERSION,
      description: t('operations:info.description'),
      license: { name: 'MIT', identifier: 'MIT' },
      ...(supportUrl !== undefined && { contact: contactOf(supportUrl) }),
    },
    servers: [{ url: publicUrl + API_PREFIX }],
    tags: [...tagsOf(t, registry), { name: 'webhooks', description: t('operations:tag.webhooks') }],
    paths,
    webhooks: { alert: { $ref: `#/components/pathItems/${WEBHOOK}` } },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: t('operations:info.security'),
        },
      },
      responses: problemAnswers(edition, registry),
      pathItems: { [WEBHOOK]: alertWebhook(edition, reference(t, WebhookPayload), componentUri) },
      schemas: withSupport(t, componentSchemas(t, registry), supportUrl),
    },
  }
}

function describeOperation(edition: Edition, operation: AnyOperation): Record<string, unknown> {
  const { id, scope, body } = operation
  const { t, examples } = edition
  const description = t(checkedKey(`operations:${id}.description`))
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary: t(checkedKey(`operations:${id}.summary`)),
    description,
    security: scope === 'none' ? [] : [{ bearer: [] }],
    ...(scope !== 'none' && { 'x-scope': scope }),
    ...(operation.isExtension && { 'x-extension': true }),
    'x-error-codes': errorCodes(operation),
    ...(operation.otherScope && { 'x-conditional-scope': operation.otherScope.scope }),
    parameters: [
      ...parameters(t, 'path', operation),
      ...parameters(t, 'query', operation),
      ...headers(t, operation),
    ],
    ...(body && {
      requestBody: {
        required: operation.bodyOptional !== true,
        content: { [JSON_TYPE]: { schema: reference(t, body), example: examples[id]?.request } },
      },
    }),
    responses: { ...answers(edition, operation), ...problemReferences(operation) },
  }
}

/** Success responses, and 304, by status. */
function answers({ t, examples }: Edition, operation: AnyOperation): Record<string, unknown> {
  const { id, output, produces, status, queued } = operation
  const example = examples[id]
  const schema = output ? reference(t, output) : produces && { type: 'string' }
  const answer = (shown: unknown) => ({
    description: t('operations:info.success'),
    ...(schema !== undefined && {
      content: { [produces ?? JSON_TYPE]: { schema, example: shown } },
    }),
  })
  return {
    [status]: answer(example?.response),
    ...(queued && { [queued.status]: answer(example?.queued) }),
    ...(operation.etag &&
      operation.method === 'GET' && {
        304: { description: t('operations:info.notModified') },
      }),
  }
}

function headers(t: Translate, operation: AnyOperation): unknown[] {
  const text = (name: string, description: string, schema = z.string()) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: jsonSchema(t, schema),
  })
  return [
    ...(operation.idempotent
      ? [text('Idempotency-Key', t('operations:info.idempotencyKey'), IdempotencyKey)]
      : []),
    ...(operation.etag && operation.method !== 'GET'
      ? [text('If-Match', t('operations:info.ifMatch'))]
      : []),
    ...(operation.etag && operation.method === 'GET'
      ? [text('If-None-Match', t('operations:info.ifNoneMatch'))]
      : []),
  ]
}

/** One parameter per property of a path or query schema. */
function parameters(
  t: Translate,
  where: 'path' | 'query',
  { id, params, query }: AnyOperation,
): unknown[] {
  const schema = where === 'path' ? params : query
  if (schema === undefined) return []
  const { properties, required } = ObjectSchema.parse(jsonSchema(t, schema, [where, id]))
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || (required ?? []).includes(name),
    schema: property,
    ...(PARAMETERS[id]?.[name] !== undefined && { example: PARAMETERS[id][name] }),
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
    description: t(checkedKey(`operations:tag.${name}`)),
  }))
}

/** The tag of an operation: its own, or the first segment of its path. */
function tagOf({ path = '', tag }: AnyOperation): string {
  return tag ?? path.split('/')[1]?.replace('.json', '') ?? ''
}

/** A reference to a named schema; an unnamed schema is inline. */
function reference(t: Translate, schema: z.ZodType): unknown {
  const id = z.globalRegistry.get(schema)?.id
  return id === undefined ? jsonSchema(t, schema) : { $ref: componentUri(id) }
}

/** Every named schema that operations, problems, webhooks or events use. */
function componentSchemas(
  t: Translate,
  registry: readonly AnyOperation[],
): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...optionsFor(t), uri: componentUri })
  const ofEvents = eventComponent(t, componentUri)
  // The data of events has other descriptions than the fields of operations.
  const events = new Set(listEventDataSchemas().map(({ component }) => component))
  const described: Record<string, unknown> = { ...ofEvents }
  for (const [id, path] of pathsOfNamed(schemas)) {
    const bare = withoutMarks(schemas[id] ?? {})
    described[id] = events.has(id) ? withDataMeanings(t, bare, id) : withMeanings(t, bare, path)
  }
  const named = [Problem, WebhookPayload, ...registry.flatMap(({ body, output }) => [body, output])]
  const open = [
    ...Object.keys(ofEvents),
    ...named.flatMap((schema) => (schema ? namesIn(reference(t, schema)) : [])),
  ]
  const reached = new Set<string>()
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue
    reached.add(name)
    open.push(...namesIn(described[name]))
  }
  return Object.fromEntries([...reached].sort().map((name) => [name, described[name]]))
}

function namesIn(schema: unknown): string[] {
  const text = JSON.stringify(schema) ?? ''
  return [...text.matchAll(/"#\/components\/schemas\/([^"/]+)"/g)].flatMap(([, name]) => name ?? [])
}

/** The operator's address as a contact of the document. */
function contactOf(supportUrl: string): Record<string, string> {
  const { protocol, pathname } = new URL(supportUrl)
  return protocol === 'mailto:' ? { email: decodeURIComponent(pathname) } : { url: supportUrl }
}

/** Says of the id of a failed request to whom it is of use, if the operator can be reached. */
function withSupport(
  t: Translate,
  schemas: Record<string, unknown>,
  url: string | undefined,
): Record<string, unknown> {
  if (url === undefined) return schemas
  const { properties, ...problem } = ObjectSchema.loose().parse(schemas['Problem'])
  const requestId = {
    ...Object(properties['requestId']),
    description: t('operations:info.requestId', { url }),
  }
  return { ...schemas, Problem: { ...problem, properties: { ...properties, requestId } } }
}

function componentUri(id: string): string {
  return `#/components/schemas/${id}`
}

/** Removes the keywords `$schema` and `$id`, which only a schema outside of a document needs. */
function withoutMarks({
  $schema: _dialect,
  $id: _id,
  ...schema
}: Record<string, unknown>): unknown {
  return schema
}
