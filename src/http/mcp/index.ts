import type * as Mcp from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { id as bare, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { AppError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { VERSION } from '#src/kernel/release.ts'
import type { App } from '#src/operations/define.ts'
import { accepts } from '../accept.ts'
import { authenticate, refuseTokenInQuery } from '../authenticate.ts'
import { answerError } from '../errors.ts'
import { limitKeyOf, writeRateHeaders } from '../limits.ts'
import { callTool, countCall, type ToolCaller } from './call.ts'
import { RESOURCE_PATH, registerDiscovery } from './discovery.ts'
import { askingOf } from './question.ts'
import { closestTool, findTool, toolsFor } from './tools.ts'

const PATH = '/mcp'
const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
const IMPLEMENTATION = { name: 'flare-watchdog', version: VERSION }

/** In the address of a client that asks for a token only after a refusal, as hosted assistants do. */
const SIGN_IN = 'sign-in'

const ToolCall = z.looseObject({
  // Without an id it is a notification, which nothing is called for.
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string() }),
})

/**
 * Adds the front door of agents: the Model Context Protocol over streamable HTTP, without sessions. Each
 * request has a separate server object, which knows the caller and is dropped afterwards. The package is loaded
 * with the first message, because it needs 10 MB and most processes get none.
 */
export function registerMcp(server: FastifyInstance, app: App): void {
  const errorHandler = createErrorHandler(app)
  registerDiscovery(server, app)
  server.post(PATH, { config: { operation: 'mcp' }, errorHandler }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    refuseTokenInQuery(request.query as Readonly<Record<string, unknown>>)
    const media = mediaOf(request.headers.accept)
    const caller = await authenticate(app, request.headers.authorization)
    const toolCaller = toolCallerOf(request, reply, caller)
    refuseMisshapen(request.body)
    if (caller === undefined) requireNoToken(request)
    const isCounted = await countMessage(app, toolCaller, request.body)
    const mcp = await import('@modelcontextprotocol/server')
    // The list of tools is constant, so a subscription is acknowledged and ends at once.
    const handler = mcp.createMcpHandler(() => serverFor(mcp, app, { ...toolCaller, isCounted }), {
      keepAliveMs: 0,
      onerror: (error) =>
        app.log.debug({ requestId: request.id, error: loggableError(error) }, 'message refused'),
    })
    const answer = await handler.fetch(webRequest(app, request), { parsedBody: request.body })
    return await sendAnswer(reply, answer, media)
  })
}

/** Answers a message that is refused before it is counted, and counts it, by network. */
function createErrorHandler(app: App) {
  return async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const isCounted = error instanceof AppError && error.kind === 'rate_limited'
    try {
      if (!isCounted) await countCall(app, toolCallerOf(request, reply, undefined))
    } catch (tooMany) {
      return answerError(app, tooMany, request, reply)
    }
    return answerError(app, error, request, reply, app.publicUrl + RESOURCE_PATH + PATH)
  }
}

function toolCallerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | undefined,
): ToolCaller {
  return {
    caller,
    locale: negotiateLocale(request.headers['accept-language']),
    requestId: request.id,
    isCounted: false,
    limits: {
      limitKey: limitKeyOf(request, caller),
      reportCount: (count) => writeRateHeaders(reply, count),
    },
  }
}

/**
 * Refuses what needs a token with status 401, by which clients begin to sign in: a call of a tool that not anybody may call,
 * and every message to an address with `?sign-in`.
 *
 * @throws AppError unauthenticated `missing_token`
 */
function requireNoToken({ query, body }: FastifyRequest): void {
  const call = ToolCall.safeParse(body)
  const tool = call.success ? findTool(call.data.params.name) : undefined
  const needsToken = tool !== undefined && tool.operation.scope !== 'none'
  if (needsToken || Object.hasOwn(Object(query), SIGN_IN)) {
    throw new AppError('unauthenticated', 'missing_token')
  }
}

/**
 * Refuses batches, which would count as one message against the limits, and malformed texts.
 *
 * @throws AppError invalid `validation_failed`
 */
function refuseMisshapen(body: unknown): void {
  const isMessage = typeof body === 'object' && body !== null && !Array.isArray(body)
  const errors = isMessage
    ? inputErrors(body)
    : [{ pointer: '', code: 'type', values: { expected: 'object' } }]
  if (errors.length > 0) throw new AppError('invalid', 'validation_failed', { errors })
}

/**
 * Counts a message against the rate limit, unless it is a call that its operation will count: of a tool that the caller
 * may have, with an id.
 *
 * @returns whether it was counted
 */
async function countMessage(app: App, toolCaller: ToolCaller, body: unknown): Promise<boolean> {
  const call = ToolCall.safeParse(body)
  const tool = call.success ? findTool(call.data.params.name) : undefined
  if (tool === undefined) await countCall(app, toolCaller)
  return tool === undefined
}

function serverFor(mcp: typeof Mcp, app: App, toolCaller: ToolCaller): Mcp.Server {
  const { caller, locale } = toolCaller
  const server = new mcp.Server(
    { ...IMPLEMENTATION, title: `Watchdog for ${servedChain().name}` },
    {
      capabilities: { tools: {} },
      instructions: translator(locale)('operations:mcp.instructions'),
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [...toolsFor(caller, locale)] }))
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const tool = findTool(params.name)
    if (tool !== undefined) {
      const asker = { ...toolCaller, asking: askingOf(mcp, context) }
      return callTool(app, asker, tool, params.arguments ?? {})
    }
    const closest = bare(closestTool(params.name))
    const message = translator(locale)('errors:not_found.tool', { closest })
    throw new mcp.ProtocolError(mcp.INVALID_PARAMS, message)
  })
  return server
}

/**
 * The request without its token, which was read before. The parsed body is passed. The protocol asks clients to accept
 * both media types; those that accept one get that one.
 */
function webRequest({ publicUrl }: App, request: FastifyRequest): Request {
  const { authorization: _token, 'content-length': _length, ...others } = request.headers
  const headers = new Headers()
  for (const [name, value] of Object.entries(others)) {
    if (typeof value === 'string') headers.set(name, value)
  }
  headers.set('accept', `${JSON_TYPE}, ${STREAM_TYPE}`)
  return new Request(publicUrl + PATH, { method: 'POST', headers })
}

/** Media types of answers that a client accepts. */
type Media = Readonly<Record<'json' | 'stream', boolean>>

/** @throws AppError not_acceptable if neither is accepted */
function mediaOf(accept: string | undefined): Media {
  const media = { json: accepts(accept, JSON_TYPE), stream: accepts(accept, STREAM_TYPE) }
  if (!media.json && !media.stream) throw new AppError('not_acceptable', 'not_acceptable')
  return media
}

async function sendAnswer(
  reply: FastifyReply,
  answer: Response,
  media: Media,
): Promise<FastifyReply> {
  const type = answer.headers.get('content-type')
  const text = await answer.text()
  reply.code(answer.status)
  if (text === '' || type === null) return reply.send()
  const isStream = type.startsWith(STREAM_TYPE)
  if (isStream && !media.stream) return reply.type(JSON_TYPE).send(lastMessage(text))
  if (!isStream && !media.json && answer.ok) {
    return reply.type(STREAM_TYPE).send(`event: message\ndata: ${text}\n\n`)
  }
  return reply.type(type).send(text)
}

/** The last message of a stream, which is the response; notifications come before it. */
function lastMessage(stream: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '))
  return lines.at(-1)?.slice('data: '.length) ?? ''
}
