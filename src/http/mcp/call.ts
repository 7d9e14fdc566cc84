import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { unknownNames } from '#src/kernel/validation.ts'
import type { App } from '#src/operations/define.ts'
import { encodeOutput } from '#src/operations/gate/idempotency.ts'
import { invoke, previewCall, type RawInput } from '#src/operations/gate/invoke.ts'
import { reportProblem } from '../problems.ts'
import { type ConfirmedCall, makeConfirmation, readConfirmation } from './confirmation.ts'
import { type Asking, isQuestion, questionOf } from './question.ts'
import { needsConfirmation, pageOf, type ToolEntry, takesKey } from './tools.ts'

/** Caller of a tool, and the HTTP request. */
export interface ToolCaller {
  readonly caller: Caller | undefined
  readonly locale: Locale
  readonly requestId: string
  /** Whether the message was counted already. */
  readonly isCounted: boolean
  /** How the client asks its person; undefined if it cannot. */
  readonly asking?: Asking | undefined
  readonly limits: Pick<RawInput, 'limitKey' | 'reportCount'>
}

type Reader = Pick<ToolCaller, 'caller' | 'locale'>

/** Number of characters of a page that is read without a `limit`. */
const RESULT_LENGTH_MAX = 20_000

type Arguments = Readonly<Record<string, unknown>>

/** Calls a tool through the gate. A refusal is a result, too: the same problem document as in REST. */
export async function callTool(
  app: App,
  toolCaller: ToolCaller,
  tool: ToolEntry,
  args: Arguments,
): Promise<CallToolResult | InputRequiredResult> {
  const { limits } = toolCaller
  let { isCounted } = toolCaller
  const counting = (of: ToolCaller['limits']): ToolCaller['limits'] => ({
    ...of,
    reportCount: (count) => {
      isCounted = true
      of.reportCount?.(count)
    },
  })
  try {
    const answer = await answerOf(app, { ...toolCaller, limits: counting(limits) }, tool, args)
    return isQuestion(answer) ? answer : resultOf(answer)
  } catch (error) {
    return await refusal(app, toolCaller, error, isCounted)
  }
}

/** The problem of a refused call. A call that was refused before the gate counted it is counted here. */
async function refusal(
  app: App,
  toolCaller: ToolCaller,
  error: unknown,
  isCounted: boolean,
): Promise<CallToolResult> {
  const { body, retryAfterSeconds } = reportProblem(
    app,
    isCounted ? error : await countRefused(app, toolCaller, error),
    toolCaller,
  )
  const seconds = retryAfterSeconds !== undefined && { retryAfterSeconds }
  return { ...resultOf({ ...body, ...seconds }), isError: true }
}

/** Counts a refused call. @returns its error, or the refusal of too many */
async function countRefused(app: App, toolCaller: ToolCaller, error: unknown): Promise<unknown> {
  try {
    await countCall(app, toolCaller)
    return error
  } catch (tooMany) {
    return tooMany
  }
}

/** Counts a message that no operation counts. @throws AppError rate_limited */
export async function countCall(app: App, { caller, limits }: ToolCaller): Promise<void> {
  const rate = caller === undefined ? 'public' : 'read'
  await app.limits.admit(rate, limits.limitKey ?? '', limits.reportCount)
}

async function answerOf(
  app: App,
  toolCaller: ToolCaller,
  tool: ToolEntry,
  args: Arguments,
): Promise<unknown> {
  const { caller, locale, limits } = toolCaller
  const { operation } = tool
  const { confirmation, ...input } = args
  refuseUnknown(tool, args)
  const raw = {
    params: textsOf(pick(input, tool.params)),
    query: textsOf(pick({ ...pageOf(tool), ...input }, tool.query)),
    body: input['body'],
    locale,
    ...limits,
    ...keyOf(args),
  }
  if (caller !== undefined && needsConfirmation(operation, raw.body)) {
    const call = { wallet: caller.wallet, tool: operation.id, input }
    return await answerConfirmed(app, { ...toolCaller, caller }, tool, {
      ...{ call, raw, confirmation },
    })
  }
  const answer = await run(app, tool, { caller, locale }, raw)
  const limit = Object.hasOwn(input, 'limit') ? undefined : fittingRows(tool, answer)
  if (limit === undefined) return answer
  const { idempotencyKey: _used, ...again } = raw
  const query = { ...raw.query, limit: String(limit) }
  return await run(app, tool, { caller, locale }, { ...again, query })
}

/**
 * A call that a person has to agree to. A client that can ask its person does so, and only its answer counts: what the
 * agent itself says of a confirmation is not read. For other clients the agent asks, and repeats the call.
 */
async function answerConfirmed(
  app: App,
  toolCaller: ToolCaller & { readonly caller: Caller },
  tool: ToolEntry,
  {
    call,
    raw,
    confirmation,
  }: {
    readonly call: ConfirmedCall
    readonly raw: RawInput
    readonly confirmation: unknown
  },
): Promise<unknown> {
  const { caller, locale, asking } = toolCaller
  const t = translator(locale)
  if (asking?.answer === 'refused') {
    await countCall(app, toolCaller)
    return { confirmed: false, message: t('operations:mcp.refused') }
  }
  const by = asking === undefined ? 'agent' : 'client'
  const given = asking === undefined ? confirmation : asking.state
  const confirmed = typeof given === 'string' ? readConfirmation(app, given, call, by) : undefined
  if (confirmed !== undefined && (asking === undefined || asking.answer === 'agreed')) {
    return await run(app, tool, { caller, locale }, { ...raw, confirmed })
  }
  const { estimate, summary, bound } = await previewCall(app, tool.operation, caller, raw)
  const made = makeConfirmation(app, call, { by, bound })
  if (asking !== undefined) {
    return questionOf(t, { ...call, summary, state: made.confirmation })
  }
  return {
    confirmationRequired: true,
    message: t('operations:mcp.confirm'),
    summary,
    ...call,
    ...(estimate !== undefined && { estimate }),
    ...made,
  }
}

/** What is read of an answer with a page, which for an account is that of its ledger. */
const Rows = z.object({ data: z.array(z.unknown()) })
const Paged = z.union([Rows, z.object({ ledger: Rows }).transform(({ ledger }) => ledger)])

/**
 * Number of rows of a page that are short enough for a model; undefined for an answer that is short enough, or no page.
 * The page is read again with this limit, because its cursor has to follow its last row. That read counts as any other.
 */
function fittingRows(tool: ToolEntry, answer: unknown): number | undefined {
  if (pageOf(tool).limit === undefined) return undefined
  const { data } = Paged.parse(answer)
  let length = JSON.stringify(answer).length - JSON.stringify(data).length
  const over = data.findIndex((row) => {
    length += JSON.stringify(row).length + 1
    return length > RESULT_LENGTH_MAX
  })
  return over < 0 ? undefined : Math.max(1, over)
}

async function run(
  app: App,
  { operation }: ToolEntry,
  { caller, locale }: Reader,
  raw: RawInput,
): Promise<unknown> {
  const { status, output } = await invoke(app, operation, caller, raw)
  const read = operation.forAgents?.(output) ?? output
  return withoutSecret(encodeOutput(operation, read), locale) ?? { status }
}

/** Replaces a signing secret by the place where a person finds it: no model may read it. */
function withoutSecret(output: unknown, locale: Locale): unknown {
  if (typeof output !== 'object' || output === null || !('secret' in output)) return output
  const t = translator(locale)
  return { ...output, secret: t('operations:mcp.secret', { button: t('bot:button.secret') }) }
}

/**
 * The idempotency key of a call. Numbers are converted, as for parameters.
 *
 * @throws AppError invalid `validation_failed` for anything else but a text
 */
function keyOf({ idempotencyKey }: Arguments): { readonly idempotencyKey?: string } {
  if (idempotencyKey === undefined) return {}
  if (typeof idempotencyKey === 'string') return { idempotencyKey }
  if (typeof idempotencyKey === 'number') return { idempotencyKey: String(idempotencyKey) }
  const error = { pointer: '/idempotencyKey', code: 'type', values: { expected: 'string' } }
  throw new AppError('invalid', 'validation_failed', { errors: [error] })
}

/**
 * Refuses arguments that the tool does not have, so that a misspelt filter is not left out.
 *
 * @throws AppError invalid `validation_failed`
 */
function refuseUnknown({ operation, params, query }: ToolEntry, args: Arguments): void {
  const { body, summarize } = operation
  const knownNames = [
    ...params,
    ...query,
    ...(body === undefined ? [] : ['body']),
    ...(takesKey(operation) ? ['idempotencyKey'] : []),
    ...(summarize === undefined ? [] : ['confirmation']),
  ]
  const unknown = Object.keys(args).filter((name) => !knownNames.includes(name))
  const errors = [...inputErrors(args), ...unknownNames('', unknown, knownNames)]
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}

function pick(args: Arguments, names: readonly string[]): Arguments | undefined {
  const picked = Object.entries(args).filter(([name]) => names.includes(name))
  return picked.length === 0 ? undefined : Object.fromEntries(picked)
}

/**
 * Converts numbers to text, because models send numbers where the schemas of path and query expect
 * text.
 */
function textsOf(args: Arguments | undefined): Arguments | undefined {
  if (args === undefined) return undefined
  const texts = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === 'number' ? String(value) : value,
  ])
  return Object.fromEntries(texts)
}

/** A result as JSON, and as text for clients that read no structure. */
function resultOf(value: unknown): CallToolResult {
  const text = JSON.stringify(value)
  const structured = Structured.safeParse(value)
  return {
    content: [{ type: 'text', text }],
    ...(structured.success && { structuredContent: structured.data }),
  }
}

const Structured = z.record(z.string(), z.unknown())
