/** Operations as tools of the Model Context Protocol. */
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { checkedKey, type Translate, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { bySimilarity } from '#src/kernel/similar.ts'
import { JsonObject } from '#src/kernel/units.ts'
import type { AnyOperation } from '#src/operations/define.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { inlineSchema } from '#src/operations/openapi-schema.ts'

/**
 * Operations that are not offered as tools. Sign-in needs the wallet, and no model may read its token. A CSV
 * of all alerts and the description of the API are larger than what a model can read. Metrics are for
 * programs; `getProviderFsp` has the same figures.
 */
const NO_TOOLS: readonly string[] = [
  'createChallenge',
  'exchangeToken',
  'exportAlerts',
  'getOpenApi',
  'getProviderMetrics',
]

/** An operation with the names of its parameters. */
export interface ToolEntry {
  readonly operation: AnyOperation
  readonly params: readonly string[]
  readonly query: readonly string[]
}

const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  REGISTRY.filter(({ id }) => !NO_TOOLS.includes(id)).map((operation) => [
    operation.id,
    { operation, params: namesOf(operation.params), query: namesOf(operation.query) },
  ]),
)

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

const DESCRIBED = new Map<Locale, ReadonlyMap<string, Tool>>()

/** The tools that a caller's scopes allow, in the order of the registry. */
export function toolsFor(caller: Caller | undefined, locale: Locale): readonly Tool[] {
  const scopes: readonly string[] = ['none', ...(caller?.scopes ?? [])]
  const described = DESCRIBED.get(locale) ?? describeAll(locale)
  DESCRIBED.set(locale, described)
  return [...TOOLS].flatMap(
    ([
      name,
      {
        operation: { scope, otherScope },
      },
    ]) => {
      const tool = described.get(name)
      const isAllowed = scopes.includes(scope) || scopes.includes(otherScope?.scope ?? scope)
      return isAllowed && tool !== undefined ? [tool] : []
    },
  )
}

function describeAll(locale: Locale): ReadonlyMap<string, Tool> {
  const t = translator(locale)
  return new Map([...TOOLS].map(([name, entry]) => [name, describeTool(t, entry)]))
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

function describeTool(t: Translate, { operation }: ToolEntry): Tool {
  const { id, scope, method, params, query, body, bodyOptional } = operation
  const inPath = params && ObjectSchema.parse(inlineSchema(t, params, ['path', id]))
  const inQuery = query && ObjectSchema.parse(inlineSchema(t, query, ['query', id]))
  const bodySchema = body && ObjectSchema.parse(inlineSchema(t, body))
  const hasBody = bodySchema !== undefined && !isEmptyObject(bodySchema)
  const asks = operation.summarize !== undefined
  const text = (description: string) => ({ type: 'string', description })
  const title = t(checkedKey(`operations:${id}.summary`))
  const description = t(checkedKey(`operations:${id}.description`))
  const notes = asks ? [t('operations:mcp.asksFirst')] : []
  return {
    name: id,
    title,
    description: [title, description, ...notes].join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: {
        ...inPath?.properties,
        ...inQuery?.properties,
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
    },
    annotations: {
      title,
      readOnlyHint: scope === 'read' || scope === 'none',
      destructiveHint: asks,
      idempotentHint: method !== 'POST' || scope === 'read' || scope === 'none',
    },
  }
}

function isEmptyObject({ properties, anyOf, oneOf }: z.output<typeof ObjectSchema>): boolean {
  return Object.keys(properties).length === 0 && anyOf === undefined && oneOf === undefined
}

function namesOf(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}
