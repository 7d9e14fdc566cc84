import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { closeServer } from '../loopback.ts'
import {
  type Arguments,
  argumentsFrom,
  isObject,
  readableArguments,
  textArgument,
  type UploadedFile,
} from './arguments.ts'
import type { Backend } from './backend.ts'
import type { Fault } from './faults.ts'
import { REGISTRY } from './methods/index.ts'
import type { Wire } from './model.ts'
import { BotApiRefusal, badRequest } from './refusal.ts'

/** The HTTP server. */
export interface BotApiServer {
  /** API root for clients, without a trailing slash. */
  readonly url: string
  /** Refuses every connection and breaks the open ones. */
  down(): Promise<void>
  /** Accepts connections again, at the same address. */
  up(): Promise<void>
  /** Breaks the connections of hanging calls. */
  release(): void
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 50 * 1024 * 1024

/** Serves `/bot<token>/<method>` on this machine only. Port 0 uses a free one. */
export async function startBotApiServer(backend: Backend, port: number): Promise<BotApiServer> {
  const app = fastify({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true, logger: false })
  const hanging = new Set<FastifyReply>()
  readBodies(app)
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    refuse(reply, asRefusal(error)),
  )
  app.setNotFoundHandler((_request, reply) => refuse(reply, new BotApiRefusal(404, 'Not Found')))
  app.all<{ Params: { token: string; method: string } }>(
    '/bot:token/:method',
    async (request, reply) => {
      const refusal = wrongToken(backend, request.params.token)
      if (refusal) return refuse(reply, refusal)
      return await answer(backend, request, reply, hanging)
    },
  )
  await app.listen({ host: HOST, port })
  const { port: boundPort } = app.server.address() as AddressInfo

  const release = () => {
    for (const reply of hanging) reply.raw.destroy()
    hanging.clear()
  }
  return {
    url: `http://${HOST}:${boundPort}`,
    release,
    down: () => closeServer(app.server),
    async up() {
      if (app.server.listening) return
      app.server.listen(boundPort, HOST)
      await once(app.server, 'listening')
    },
    async close() {
      backend.webhook.close()
      backend.poller.release()
      release()
      await app.close()
    },
  }
}

/** A malformed request is the client's fault, anything else a fault of this server. */
function asRefusal(error: Error & { statusCode?: number }): BotApiRefusal {
  const { statusCode = 500 } = error
  if (error instanceof BotApiRefusal) return error
  if (statusCode === 413) return new BotApiRefusal(413, 'Request Entity Too Large')
  if (statusCode < 500) return new BotApiRefusal(400, `Bad Request: ${error.message}`)
  return new BotApiRefusal(500, `Internal Server Error: ${error.message}`)
}

/** Malformed tokens match no path of the real server; others are unknown. */
function wrongToken(backend: Backend, token: string): BotApiRefusal | undefined {
  if (!/^[1-9]\d*:[\w-]+$/.test(token)) return new BotApiRefusal(404, 'Not Found')
  return token === backend.token ? undefined : new BotApiRefusal(401, 'Unauthorized')
}

function refuse(reply: FastifyReply, refusal: BotApiRefusal): FastifyReply {
  const retryAfter = refusal.parameters?.retry_after
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  return reply.code(refusal.code).send({
    ok: false,
    error_code: refusal.code,
    description: refusal.message,
    ...(refusal.parameters ? { parameters: refusal.parameters } : {}),
  })
}

/** Executes one call, or its fault, and records it. */
async function answer(
  backend: Backend,
  request: FastifyRequest<{ Params: { token: string; method: string } }>,
  reply: FastifyReply,
  hanging: Set<FastifyReply>,
): Promise<FastifyReply> {
  const asked = request.params.method.toLowerCase()
  const method = REGISTRY.find((known) => known.name.toLowerCase() === asked)
  const args = readArguments(request)
  const name = method?.name ?? request.params.method
  const log = (result: unknown, refused?: { code: number; description: string }) => {
    const isQuiet = asked === 'getupdates' && !refused
    if (isQuiet) return
    backend.calls.add({
      method: name,
      payload: readableArguments(args),
      at: backend.clock.now(),
      result,
      refused,
    })
  }
  const fault = backend.faults.take(asked, textArgument(args, 'chat_id'))
  if (fault !== undefined && fault !== 'lost') {
    const refused = typeof fault === 'string' ? { code: 0, description: fault } : refusedBy(fault)
    log(undefined, refused)
    return fail(fault, reply, hanging)
  }
  try {
    if (!method) throw new BotApiRefusal(404, 'Not Found: method not found')
    const result = await method.run(backend, args, whenGone(reply))
    log(result)
    if (fault === 'lost') {
      reply.hijack()
      reply.raw.destroy()
      return reply
    }
    return reply.send({ ok: true, result })
  } catch (problem) {
    if (!(problem instanceof BotApiRefusal)) throw problem
    log(undefined, { code: problem.code, description: problem.message })
    return refuse(reply, problem)
  }
}

function refusedBy(fault: Exclude<Fault, string>): { code: number; description: string } {
  return { code: fault.error_code, description: fault.description }
}

function fail(
  fault: Exclude<Fault, 'lost'>,
  reply: FastifyReply,
  hanging: Set<FastifyReply>,
): FastifyReply {
  switch (fault) {
    case 'html':
      return reply
        .code(502)
        .type('text/html')
        .send(
          '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>',
        )
    case 'reset':
      reply.hijack()
      reply.raw.destroy()
      return reply
    case 'hang':
      reply.hijack()
      hanging.add(reply)
      return reply
    default:
      return refuse(reply, new BotApiRefusal(fault.error_code, fault.description, fault.parameters))
  }
}

/** A signal that is aborted when the client disconnects before its answer. */
function whenGone(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort()
  })
  return gone.signal
}

interface ParsedBody {
  readonly values: Wire
  readonly files: ReadonlyMap<string, UploadedFile>
}

function readArguments(request: FastifyRequest): Arguments {
  const body = request.body as ParsedBody | undefined
  const query = request.query as Wire
  return argumentsFrom({ ...query, ...body?.values }, body?.files)
}

/** Parses JSON, forms and multipart into the same shape. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const asText = { parseAs: 'string' } as const
  app.addContentTypeParser<string>(
    'application/json',
    asText,
    async (_: FastifyRequest, body: string) => {
      return { values: readJson(body), files: new Map() } satisfies ParsedBody
    },
  )
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    asText,
    async (_: FastifyRequest, body: string) => {
      const values = Object.fromEntries(new URLSearchParams(body))
      return { values, files: new Map() } satisfies ParsedBody
    },
  )
  app.addContentTypeParser<Buffer>(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) =>
      await readMultipart(request.headers['content-type'] ?? '', body),
  )
}

function readJson(body: string): Wire {
  try {
    const value: unknown = body === '' ? {} : JSON.parse(body)
    if (isObject(value)) return value
  } catch {
    throw badRequest("can't parse the JSON of the request")
  }
  throw badRequest('the body of the request must be a JSON object')
}

async function readMultipart(contentType: string, body: Buffer): Promise<ParsedBody> {
  const headers = { 'content-type': contentType }
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw badRequest("can't parse the form of the request")
  })
  const values: Record<string, unknown> = {}
  const files = new Map<string, UploadedFile>()
  for (const [name, value] of form) {
    if (typeof value === 'string') values[name] = value
    else files.set(name, await uploaded(value))
  }
  return { values, files }
}

async function uploaded(file: File): Promise<UploadedFile> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { name: file.name, mimeType: file.type, bytes }
}
