/** Operations as tools of the Model Context Protocol. */
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { id as bare, checkedKey, type Translate, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { bySimilarity } from '#src/kernel/similar.ts'
import { JsonObject } from '#src/kernel/units.ts'
import type { AnyOperation } from '#src/operations/define.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { inlineSchema } from '#src/operations/openapi/schema.ts'
import { leanSchema } from './lean-schema.ts'
import { saidOnce } from './said-once.ts'

/**
 * Operations that are not offered as tools. Sign-in needs the wallet, and no model may read its token. A CSV
 * of all alerts and the description of the API are larger than what a model can read. Metrics are for
 * programs; `getProviderFsp` has the same figures.
 */
const NO_TOOLS: readonly string[] = [
  'createChallenge',
  'deleteAccount',
  'exchangeToken',
  'exportAlerts',
  'getOpenApi',
  'getProviderMetrics',
]

/** An operation with the names of its parameters. */
export interface ToolEntry {
  readonly operation: AnyOperation
  readonly params: readonly string[]
  /** Names in the query that are not also in the body. */
  readonly query: readonly string[]
}

const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  REGISTRY.filter(({ id }) => !NO_TOOLS.includes(id)).map((operation) => [
    operation.id,
    { operation, params: namesOf(operation.params), query: queryNamesOf(operation) },
  ]),
)

/** Number of rows of a list for an agent that names no other. */
const AGENTS_ROWS = 10

/** The `limit` of a call that names none; empty for tools without pages. */
export function pageOf({ query }: Pick<ToolEntry, 'query'>): { readonly limit?: number } {
  return query.includes('limit') ? { limit: AGENTS_ROWS } : {}
}

/** What is read of the JSON Schema of parameters or of a body. */
const ObjectSchema = z
  .object({
    properties: z.record(z.string(), JsonObject).default({}),
    required: z.array(z.string()).default([]),
  })
  .catchall(z.json())

/** Finds the operation of a tool; undefined for an unknown name. */
export function findTool(name: string): ToolEntry | undefined {
  return TOOLS.get(name)
}

/** The name of the tool that is most similar to an unknown name, however that is written. */
export function closestTool(name: string): string {
  const form = (text: string) => text.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()
  return bySimilarity([...TOOLS.keys()], form(name.slice(0, NAME_LENGTH_MAX)), form)[0] ?? ''
}

/** Part of an unknown name that is looked at. */
const NAME_LENGTH_MAX = 100

/** A tool, and the scopes each of which allows it. */
interface Described {
  readonly tool: Tool
  readonly scopes: readonly string[]
}

const DESCRIBED = new Map<Locale, readonly Described[]>()

/** The tools that a caller's scopes allow, in the order of the registry. */
export function toolsFor(caller: Caller | undefined, locale: Locale): readonly Tool[] {
  const held: readonly string[] = ['none', ...(caller?.scopes ?? [])]
  const described = DESCRIBED.get(locale) ?? describeAll(locale)
  DESCRIBED.set(locale, described)
  const allowed = described.filter(({ scopes }) => scopes.some((scope) => held.includes(scope)))
  const t = translator(locale)
  return saidOnce(
    allowed.map(({ tool }) => tool),
    (name) => t('operations:mcp.sameAs', { tool: bare(name) }),
  )
}

function describeAll(locale: Locale): readonly Described[] {
  const t = translator(locale)
  return [...TOOLS.values()].map((entry) => {
    const { scope, otherScope } = entry.operation
    const scopes = otherScope === undefined ? [scope] : [scope, otherScope.scope]
    return { tool: describeTool(t, entry), scopes }
  })
}

/** Whether this call of a tool is confirmed first. A call with an invalid body is refused in any case. */
export function needsConfirmation(operation: AnyOperation, body: unknown): boolean {
  if (operation.summarize === undefined || operation.onlyAdds === undefined) {
    return operation.summarize !== undefined
  }
  const bare = body === undefined && operation.bodyOptional === true
  const parsed = bare ? { success: true, data: undefined } : operation.body?.safeParse(body)
  return parsed?.success === true && !operation.onlyAdds(parsed.data)
}

/** Whether a tool takes an idempotency key: the confirmation of a call is its key. */
export function takesKey({ idempotent, summarize, onlyAdds }: AnyOperation): boolean {
  return idempotent === true && (summarize === undefined || onlyAdds !== undefined)
}

function describeTool(t: Translate, entry: ToolEntry): Tool {
  const { operation, query: queryNames } = entry
  const { id, scope, method, params, query, body, bodyOptional } = operation
  const read = (schema: z.ZodType, path?: readonly string[]) =>
    ObjectSchema.parse(inlineSchema(t, schema, path))
  const inPath = params && read(params, ['path', id])
  const inQuery = query && read(query, ['query', id])
  const bodySchema = body && read(body)
  const hasBody = bodySchema !== undefined && !isEmptyObject(bodySchema)
  const asks = operation.summarize !== undefined
  const readsOnly = scope === 'read' || scope === 'none'
  const text = (description: string) => ({ type: 'string', description })
  const title = t(checkedKey(`operations:${id}.summary`))
  const description = t(checkedKey(`operations:${id}.description`))
  const isShortened = operation.forAgents !== undefined
  const notes = [
    ...(isShortened ? [t(checkedKey(`operations:${id}.forAgents`))] : []),
    ...(asks ? [t('operations:mcp.asksFirst')] : []),
  ]
  return {
    name: id,
    title,
    description: [description, ...notes].join('\n\n'),
    inputSchema: {
      type: 'object',
      ...leanSchema({
        properties: {
          ...inPath?.properties,
          ...pickNames(inQuery?.properties, queryNames),
          ...(queryNames.includes('limit') && {
            limit: { ...inQuery?.properties['limit'], default: AGENTS_ROWS },
          }),
          ...(hasBody && { body: bodySchema }),
          ...(takesKey(operation) && {
            idempotencyKey: text(t('operations:info.idempotencyKey')),
          }),
          ...(asks && { confirmation: text(t('operations:mcp.confirmation')) }),
        },
        required: [
          ...(inPath?.required ?? []),
          ...(inQuery?.required ?? []),
          ...(hasBody && bodyOptional !== true ? ['body'] : []),
        ],
        additionalProperties: false,
      }),
    },
    annotations: readsOnly
      ? { readOnlyHint: true }
      : { readOnlyHint: false, destructiveHint: asks, idempotentHint: method !== 'POST' },
  }
}

function pickNames(
  properties: Readonly<Record<string, JsonObject>> = {},
  names: readonly string[],
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)))
}

function isEmptyObject({ properties, anyOf, oneOf }: z.output<typeof ObjectSchema>): boolean {
  return Object.keys(properties).length === 0 && anyOf === undefined && oneOf === undefined
}

/** A selection that a query and a body can have is a body for agents, as in all other calls. */
function queryNamesOf({ query, body }: AnyOperation): readonly string[] {
  const inBody = namesOf(body)
  return namesOf(query).filter((name) => !inBody.includes(name))
}

function namesOf(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}
