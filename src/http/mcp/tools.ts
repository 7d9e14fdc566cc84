/** Operations as tools of the Model Context Protocol. */
import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { checkedKey, type Translate, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { bySimilarity } from '#src/kernel/similar.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { AGENT_OPERATIONS } from '#src/operations/agents.ts'
import { defineChatOperation, type OperationWith } from '#src/operations/define.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { inlineSchema } from '#src/operations/openapi/schema.ts'
import { briefInput, briefOutput, briefText, type Said } from './brief-schema.ts'
import { leanSchema } from './lean-schema.ts'

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

/** An operation that is a tool. */
type ToolOperation = OperationWith<unknown>

/** An operation with the names of its parameters. */
export interface ToolEntry {
  readonly operation: ToolOperation
  readonly params: readonly string[]
  /** Names in the query that are not also in the body. */
  readonly query: readonly string[]
}

/** All that is known of a tool: the list has the beginning of it. Descriptions are in the language of the request. */
const describeToolOperation: ToolOperation = defineChatOperation({
  id: 'describeTool',
  scope: 'none',
  rate: 'public',
  query: z.strictObject({
    tool: z.string().max(100).meta({ description: 'operations:field.tool' }),
  }),
  output: z.object({
    name: z.string(),
    description: z.string(),
    inputSchema: JsonObject,
    outputSchema: JsonObject.optional(),
  }),
  handle: async ({ query, locale }) => {
    const entry = findTool(query.tool)
    if (entry === undefined) throw new AppError('not_found', 'not_found')
    return describeWhole(translator(locale), entry)
  },
})

const TOOLS: ReadonlyMap<string, ToolEntry> = new Map(
  [
    describeToolOperation,
    ...AGENT_OPERATIONS,
    ...REGISTRY.filter(({ id }) => !NO_TOOLS.includes(id)),
  ].map((operation) => [
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

/** A tool, the whole schema of its arguments, and the scopes each of which allows it. */
interface Described {
  readonly tool: Omit<Tool, 'inputSchema'>
  readonly input: JsonObject
  readonly scopes: readonly string[]
}

const DESCRIBED = new Map<Locale, readonly Described[]>()

/** The tools that a caller's scopes allow, in the order of the registry. */
export function toolsFor(caller: Caller | undefined, locale: Locale): readonly Tool[] {
  const held: readonly string[] = ['none', ...(caller?.scopes ?? [])]
  const described = DESCRIBED.get(locale) ?? describeAll(locale)
  DESCRIBED.set(locale, described)
  const allowed = described.filter(({ scopes }) => scopes.some((scope) => held.includes(scope)))
  const said: Said = new Set()
  return allowed.map(({ tool, input }) => ({
    ...tool,
    inputSchema: { type: 'object', ...briefInput(input, said) },
  }))
}

function describeAll(locale: Locale): readonly Described[] {
  const t = translator(locale)
  return [...TOOLS.values()].map((entry) => {
    const { scope, otherScope } = entry.operation
    const scopes = otherScope === undefined ? [scope] : [scope, otherScope.scope]
    return { tool: describeTool(t, entry), input: inputSchemaOf(t, entry), scopes }
  })
}

/** Whether this call of a tool is confirmed first. A call with an invalid body is refused in any case. */
export function needsConfirmation(operation: ToolOperation, body: unknown): boolean {
  if (operation.summarize === undefined || operation.onlyAdds === undefined) {
    return operation.summarize !== undefined
  }
  const bare = body === undefined && operation.bodyOptional === true
  const parsed = bare ? { success: true, data: undefined } : operation.body?.safeParse(body)
  return parsed?.success === true && !operation.onlyAdds(parsed.data)
}

/** Whether a tool takes an idempotency key: the confirmation of a call is its key. */
export function takesKey({ idempotent, summarize, onlyAdds }: ToolOperation): boolean {
  return idempotent === true && (summarize === undefined || onlyAdds !== undefined)
}

/** A tool as the list has it: short, because a model reads all of them before its first call. */
function describeTool(t: Translate, { operation }: ToolEntry): Described['tool'] {
  const { id, scope, method, output } = operation
  const asks = operation.summarize !== undefined
  const readsOnly = scope === 'read' || scope === 'none'
  const answer = output && briefOutput(inlineSchema(t, output))
  const isBrief = answer !== undefined && JSON.stringify(answer).length <= OUTPUT_LENGTH_MAX
  return {
    name: id,
    description: briefText(descriptionOf(t, operation), DESCRIPTION_LENGTH_MAX),
    ...((isBrief || scope === 'none') && answer && { outputSchema: { ...answer, type: 'object' } }),
    annotations: readsOnly
      ? { readOnlyHint: true }
      : { destructiveHint: asks, ...(method !== 'POST' && { idempotentHint: true }) },
  }
}

/** Length of a description in the list, in characters, unless its first sentence is longer. */
const DESCRIPTION_LENGTH_MAX = 150
/** Longest schema of an answer in the list, in characters of JSON, unless anybody may call the tool. */
const OUTPUT_LENGTH_MAX = 130

function describeWhole(t: Translate, entry: ToolEntry) {
  const { operation } = entry
  const { id, output } = operation
  return {
    name: id,
    description: descriptionOf(t, operation),
    inputSchema: inputSchemaOf(t, entry),
    ...(output && { outputSchema: answerSchemaOf(inlineSchema(t, output)) }),
  }
}

/** Longest schema of an answer that is sent whole. That of alerts has the data of every event. */
const WHOLE_LENGTH_MAX = 15_000

function answerSchemaOf(schema: JsonObject): JsonObject {
  const whole = leanSchema(schema)
  return JSON.stringify(whole).length > WHOLE_LENGTH_MAX ? briefOutput(schema) : whole
}

function descriptionOf(t: Translate, { id, forAgents }: ToolOperation): string {
  const texts = ['summary', 'description', ...(forAgents === undefined ? [] : ['forAgents'])]
  return texts.map((text) => t(checkedKey(`operations:${id}.${text}`))).join('\n')
}

/** The whole schema of the arguments. */
function inputSchemaOf(t: Translate, { operation, query: queryNames }: ToolEntry): JsonObject {
  const { id, params, query, body, bodyOptional } = operation
  const read = (schema: z.ZodType, path?: readonly string[]) =>
    ObjectSchema.parse(inlineSchema(t, schema, path))
  const inPath = params && read(params, ['path', id])
  const inQuery = query && read(query, ['query', id])
  const bodySchema = body && read(body)
  const hasBody = bodySchema !== undefined && !isEmptyObject(bodySchema)
  return leanSchema({
    type: 'object',
    properties: {
      ...inPath?.properties,
      ...pickNames(inQuery?.properties, queryNames),
      ...(queryNames.includes('limit') && {
        limit: { ...inQuery?.properties['limit'], default: AGENTS_ROWS },
      }),
      ...(hasBody && { body: bodySchema }),
      ...(takesKey(operation) && { idempotencyKey: { type: 'string' } }),
      ...(operation.summarize !== undefined && { confirmation: { type: 'string' } }),
    },
    required: [
      ...(inPath?.required ?? []),
      ...(inQuery?.required ?? []),
      ...(hasBody && bodyOptional !== true ? ['body'] : []),
    ],
    additionalProperties: false,
  })
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
function queryNamesOf({ query, body }: ToolOperation): readonly string[] {
  const inBody = namesOf(body)
  return namesOf(query).filter((name) => !inBody.includes(name))
}

function namesOf(schema: z.ZodType | undefined): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}
