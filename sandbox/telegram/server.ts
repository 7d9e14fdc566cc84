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

/** The HTTP server of the local Bot API. */
export interface BotApiServer {
  /** API root for clients, without a trailing slash. */
  readonly url: string
  /** Closes all connections, and refuses new ones until `up()`. */
  down(): Promise<void>
  /** Accepts connections again, at the same address; no effect if it accepts them. */
  up(): Promise<void>
  /** Breaks the connections of calls that the fault `hang` left without an answer. */
  release(): void
  /** Ends polls and the webhook, and closes the server for good. */
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const BODY_BYTES_MAX = 50 * 1024 * 1024

/**
 * Serves `/bot<token>/<method>` on 127.0.0.1.
 *
 * @param port 0 for any free port
 */
export async function startBotApiServer(backend: Backend, port: number): Promise<BotApiServer> {
  const app = fastify({ bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true, logger: false })
  const hanging = new Set<FastifyReply>()
  addBodyParsers(app)
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
    refuse(reply, asRefusal(error)),
  )
  app.setNotFoundHandler((_request, reply) => refuse(reply, new BotApiRefusal(404, 'Not Found')))
  app.all<{ Params: { token: string; method: string } }>(
    '/bot:token/:method',
    async (request, reply) => {
      const refusal = refusalOfToken(backend, request.params.token)
      if (refusal) return refuse(reply, refusal)
      return await answerCall(backend, request, reply, hanging)
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

/** The refusal for an error: 4xx for a request that cannot be read, 500 for an error of this server. */
function asRefusal(error: Error & { statusCode?: number }): BotApiRefusal {
  const { statusCode = 500 } = error
  if (error instanceof BotApiRefusal) return error
  if (statusCode === 413) return new BotApiRefusal(413, 'Request Entity Too Large')
  if (statusCode < 500) return new BotApiRefusal(400, `Bad Request: ${error.message}`)
  return new BotApiRefusal(500, `Internal Server Error: ${error.message}`)
}

/** Refusal of a token, as on the real server: 404 for a malformed token, 401 for a wrong one; undefined for the bot's. */
function refusalOfToken(backend: Backend, token: string): BotApiRefusal | undefined {
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

/**
 * Executes a call, or its fault. Records it in `backend.calls`, except for a successful `getUpdates` and errors of this
 * server.
 */
async function answerCall(
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
    const refused =
      typeof fault === 'string' ? { code: 0, description: fault } : loggedRefusal(fault)
    log(undefined, refused)
    return answerWithFault(fault, reply, hanging)
  }
  try {
    if (!method) throw new BotApiRefusal(404, 'Not Found: method not found')
    const result = await method.run(backend, args, signalOfClient(reply))
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

/** A fault with an error code, as the log of calls shows it. */
function loggedRefusal(fault: Exclude<Fault, string>): { code: number; description: string } {
  return { code: fault.error_code, description: fault.description }
}

/** Does what a fault says instead of the call. */
function answerWithFault(
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

/** A signal that is aborted when the client disconnects before the answer. */
function signalOfClient(reply: FastifyReply): AbortSignal {
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

/** Adds parsers of JSON, forms and multipart, which all return a `ParsedBody`. */
function addBodyParsers(app: FastifyInstance): void {
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
    else files.set(name, await readUpload(value))
  }
  return { values, files }
}

async function readUpload(file: File): Promise<UploadedFile> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { name: file.name, mimeType: file.type, bytes }
}
