import type { Server } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { AppError } from '#src/kernel/errors.ts'
import { inputErrors } from '#src/kernel/input-limits.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { App } from '#src/operations/define.ts'
import { authenticate, refuseTokenInQuery } from '../authenticate.ts'
import { limitKeyOf, writeRateHeaders } from '../limits.ts'
import { callTool, type ToolCaller } from './call.ts'
import { findTool, toolsFor } from './tools.ts'

const PATH = '/mcp'
const IMPLEMENTATION = { name: 'flare-watchdog', version: '1.0.0' }

const ToolCall = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string() }),
})

/**
 * Adds the front door of agents: the Model Context Protocol over streamable HTTP, without sessions. Each
 * request has a separate server object, which knows the caller and is dropped afterwards. The package is loaded
 * with the first message, because it needs 10 MB and most processes get none.
 */
export function registerMcp(server: FastifyInstance, app: App): void {
  server.post(PATH, { config: { operation: 'mcp' } }, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    refuseTokenInQuery(request.query as Readonly<Record<string, unknown>>)
    refuseOtherOrigin(app, request.headers.origin)
    const caller = await authenticate(app, request.headers.authorization)
    const toolCaller = toolCallerOf(request, reply, caller)
    refuseMisshapen(request.body)
    await countMessage(app, toolCaller, request.body)
    const mcp = await import('@modelcontextprotocol/server')
    const handler = mcp.createMcpHandler(() => serverFor(mcp.Server, app, toolCaller), {
      // The list of tools is constant, so there is no change to subscribe to.
      maxSubscriptions: 0,
      keepAliveMs: 0,
      onerror: (error) =>
        app.log.debug({ requestId: request.id, error: loggableError(error) }, 'message refused'),
    })
    const answer = await handler.fetch(webRequest(app, request), { parsedBody: request.body })
    return await sendAnswer(reply, answer)
  })
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
    limits: {
      limitKey: limitKeyOf(request, caller),
      reportCount: (count) => writeRateHeaders(reply, count),
    },
  }
}

/**
 * Refuses requests of pages of other origins. A page that reaches this service under another host name (DNS
 * rebinding) sends its own origin, too; programs send no origin.
 *
 * @throws AppError forbidden `origin_not_allowed`
 */
function refuseOtherOrigin({ publicUrl }: App, origin: string | undefined): void {
  if (origin === undefined || origin === new URL(publicUrl).origin) return
  throw new AppError('forbidden', 'origin_not_allowed')
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

/** Counts a message that calls no operation against the rate limit. */
async function countMessage(app: App, toolCaller: ToolCaller, body: unknown): Promise<void> {
  const call = ToolCall.safeParse(body)
  if (call.success && findTool(call.data.params.name) !== undefined) return
  const { limitKey = '', reportCount } = toolCaller.limits
  await app.limits.admit(toolCaller.caller === undefined ? 'public' : 'read', limitKey, reportCount)
}

function serverFor(McpServer: typeof Server, app: App, toolCaller: ToolCaller): Server {
  const { caller, locale } = toolCaller
  const server = new McpServer(
    { ...IMPLEMENTATION, title: `Watchdog for ${servedChain().name}` },
    {
      capabilities: { tools: {} },
      instructions: translator(locale)('operations:mcp.instructions'),
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: [...toolsFor(caller, locale)] }))
  server.setRequestHandler('tools/call', ({ params }) =>
    callTool(app, toolCaller, params.name, params.arguments ?? {}),
  )
  return server
}

/** The request without its token, which was read before. The parsed body is passed. */
function webRequest({ publicUrl }: App, request: FastifyRequest): Request {
  const { authorization: _token, 'content-length': _length, ...others } = request.headers
  const headers = new Headers()
  for (const [name, value] of Object.entries(others)) {
    if (typeof value === 'string') headers.set(name, value)
  }
  return new Request(publicUrl + PATH, { method: 'POST', headers })
}

async function sendAnswer(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get('content-type')
  const text = await answer.text()
  reply.code(answer.status)
  if (type !== null) reply.type(type)
  return text === '' ? reply.send() : reply.send(text)
}
