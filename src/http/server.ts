import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import { negotiateLocale } from '#src/kernel/locale.ts'
import { bySimilarity } from '#src/kernel/similar.ts'
import { runInTrace, traceIdOf } from '#src/kernel/trace.ts'
import type { AnyOperation, App } from '#src/operations/define.ts'
import { matchesTag } from '#src/operations/gate/etag.ts'
import { encodeOutput } from '#src/operations/gate/idempotency.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { API_PREFIX } from '#src/operations/openapi/openapi.ts'
import { accepts } from './accept.ts'
import { authenticate, refuseTokenInQuery } from './authenticate.ts'
import { acceptJson } from './bodies.ts'
import { addClientNetwork, trustedProxies } from './client.ts'
import { closePromptly } from './closing.ts'
import {
  acceptsGzip,
  type Compression,
  compressedTag,
  createCompression,
  isPublicDocument,
} from './compression.ts'
import { limitConnections } from './connections.ts'
import { allowPages, answerPreflight } from './cross-origin.ts'
import { registerData, type Upstreams } from './data.ts'
import { answerError } from './errors.ts'
import { requireOneHost } from './host-line.ts'
import { limitKeyOf, writeRateHeaders } from './limits.ts'
import { answerMalformed } from './malformed.ts'
import { registerMcp } from './mcp/index.ts'
import { collectMethods, PARAMETER_LENGTH_MAX } from './methods.ts'
import { registerOAuth } from './oauth.ts'
import { cutSlowBodies } from './slow-bodies.ts'
import { cutSlowReaders } from './slow-readers.ts'

/** Timeouts of the server in milliseconds, after which a connection is closed. */
export interface ServerTimes {
  /** Timeout for receiving the headers of a request, and then for its body. */
  readonly requestMs: number
  /** Timeout for receiving a whole request to `/data`, whose body is streamed. */
  readonly dataRequestMs: number
  /** Timeout of a connection without traffic, as when a client does not read its answer. */
  readonly stillMs: number
  /** Timeout for sending an answer, plus a second for each 2048 bytes of the answer. */
  readonly readMs: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Id of the route's operation. */
    readonly operation?: string
  }
}

const TIMES: ServerTimes = {
  requestMs: 30_000,
  dataRequestMs: 300_000,
  stillMs: 60_000,
  readMs: 60_000,
}
/** Minimum speed of reading an answer. A bad mobile connection is several times as fast. */
const READ_BYTES_PER_SECOND = 2048
/** Number of times that a slow request line or header is looked for in its time. */
const CHECKS = 10
const BODY_BYTES_MAX = 65_536
/** Text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const REQUEST_ID = /^[\w.-]{1,64}$/

/**
 * Creates the public server: one route per operation, answers encoded by its schema, refusals as problems.
 *
 * `app.ts` adds pages and Telegram's webhook; it does not listen yet.
 */
export function createServer(
  app: App,
  options: {
    readonly trustProxy: number | readonly string[]
    readonly upstreams: Upstreams
    readonly times?: ServerTimes
    /** Maximum number of open connections from one address; unlimited by default. */
    readonly connectionsPerAddress?: number | undefined
    /** Minimum speed of reading an answer, beyond `readMs`; 2048 by default. */
    readonly readBytesPerSecond?: number
  },
): FastifyInstance {
  const times = options.times ?? TIMES
  const server = openServer(app, times, options.trustProxy)
  addClientNetwork(server, app.log)
  countAnswers(server, app)
  const refusalOfUnknown = createRefusals(server)
  closePromptly(server)
  cutSlowBodies(server, times.requestMs)
  cutSlowReaders(server, {
    graceMs: times.readMs,
    bytesPerSecond: options.readBytesPerSecond ?? READ_BYTES_PER_SECOND,
  })
  if (options.connectionsPerAddress !== undefined)
    limitConnections(server, options.connectionsPerAddress)
  // Hooks of every request take a callback, because a promise for each would cost more than the work of the
  // hook.
  server.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    runInTrace(traceIdOf(request.headers.traceparent), done)
  })
  // A body is read outside the trace, in the events of its connection.
  server.addHook('preValidation', (request, _reply, done) => {
    runInTrace(traceIdOf(request.headers.traceparent), done)
  })
  requireOneHost(server)
  server.addHook('onRequest', (request, reply, done) => {
    // A request target in absolute form can name any server, so one resource would have many URLs.
    if (!request.url.startsWith('/')) done(new AppError('not_found', 'not_found'))
    // Checked before the body is read, because an unknown path accepts no body.
    else if (answerPreflight(request, reply)) return
    else done(refusalOfUnknown(request, reply))
  })
  acceptJson(server)
  server.setErrorHandler((error, request, reply) => answerError(app, error, request, reply))
  server.setNotFoundHandler((request, reply) => {
    throw refusalOfUnknown(request, reply) ?? unknownPath(request)
  })
  addRoutes(server, app, options.upstreams)
  return server
}

/** Creates the server without hooks and routes. */
function openServer(
  app: App,
  times: ServerTimes,
  trustProxy: number | readonly string[],
): FastifyInstance {
  return Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    http: {
      // `requireOneHost` answers with a problem.
      requireHostHeader: false,
      requestTimeout: times.dataRequestMs,
      headersTimeout: times.requestMs,
      connectionsCheckingInterval: Math.max(1, times.requestMs / CHECKS),
    },
    connectionTimeout: times.stillMs,
    // Fastify writes its own over that of `http`, which `headersTimeout` may not exceed.
    requestTimeout: times.dataRequestMs,
    trustProxy: trustedProxies(trustProxy),
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    genReqId: ({ headers }) => {
      const clientId = headers['x-request-id']
      return typeof clientId === 'string' && REQUEST_ID.test(clientId) ? clientId : randomUUID()
    },
    // Malformed URLs, for which no route is looked up and no hook runs.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      answerError(app, error, request, reply)
    },
    clientErrorHandler: answerMalformed,
  })
}

/** Refusals of requests that match no route of their path: another method, or an unknown path; undefined for others. */
function createRefusals(server: FastifyInstance) {
  const methods = collectMethods(server)
  return (request: FastifyRequest, reply: FastifyReply): AppError | undefined => {
    if (!request.is404 && !methods.isShadowed(request)) return undefined
    const allow = methods.of(request.url.split('?')[0] ?? '')
    // A path that has the method, and still no route, has a part that no route takes.
    if (allow.length === 0) return unknownPath(request)
    if (allow.includes(request.method === 'HEAD' ? 'GET' : request.method)) {
      return new AppError('not_found', 'not_found')
    }
    reply.header(
      'allow',
      allow.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', '),
    )
    return new AppError('method_not_allowed', 'method_not_allowed')
  }
}

/** Refusal of an unknown path; below the API it names the operation whose method and path are most similar. */
function unknownPath({ method, url }: FastifyRequest): AppError {
  const path = url.split('?')[0] ?? ''
  if (!path.startsWith(`${API_PREFIX}/`)) return new AppError('not_found', 'not_found')
  const names = REGISTRY.map((operation) => `${operation.method} ${operation.path}`)
  const wanted = `${method} ${path.slice(API_PREFIX.length)}`
  const [closest = ''] = bySimilarity(names, wanted, (name) => name)
  const detail = 'not_found.operation'
  return new AppError('not_found', 'not_found', { detail, values: { closest } })
}

/** Adds the operations, the front door of agents and the metered calls. */
function addRoutes(server: FastifyInstance, app: App, upstreams: Upstreams): void {
  const compression = createCompression(app.clock)
  for (const operation of REGISTRY) addRoute(server, app, operation, compression)
  registerMcp(server, app)
  registerOAuth(server, app)
  server.register(registerData, { app, upstreams })
}

/** Counts answers by operation; pages and metered calls each as one. */
function countAnswers(server: FastifyInstance, { meters }: App): void {
  server.addHook('onResponse', (request, reply, done) => {
    const { config, url = '' } = request.routeOptions
    const kind = request.is404 ? 'unknown' : url.startsWith('/data') ? 'data' : 'page'
    meters.countHttpRequest(config.operation ?? kind, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
}

/** Sets the headers of every answer. */
function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id)
  reply.header('x-content-type-options', 'nosniff')
  allowPages(request, reply)
}

function addRoute(
  server: FastifyInstance,
  app: App,
  operation: AnyOperation,
  compression: Compression,
): void {
  server.route({
    method: operation.method,
    url: API_PREFIX + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { operation: operation.id },
    handler: (request, reply) => answerOperation({ app, compression }, operation, request, reply),
  })
}

/**
 * Answers a request with the output of an operation, or with 304 if the client has it already.
 *
 * @throws AppError refusals, such as those of `invoke`
 */
async function answerOperation(
  { app, compression }: { readonly app: App; readonly compression: Compression },
  operation: AnyOperation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (operation.noStore === true) reply.header('cache-control', 'no-store')
  const query = request.query as Readonly<Record<string, unknown>>
  refuseTokenInQuery(query)
  if (!accepts(request.headers.accept, operation.produces ?? 'application/json')) {
    throw new AppError('not_acceptable', 'not_acceptable')
  }
  const needsCaller = operation.scope !== 'none'
  const caller = needsCaller ? await authenticate(app, request.headers.authorization) : undefined
  const { status, output, isReplay } = await invoke(app, operation, caller, {
    params: request.params,
    query,
    body: request.body,
    locale: negotiateLocale(request.headers['accept-language']),
    ifMatch: request.headers['if-match'],
    idempotencyKey: headerText(request.headers['idempotency-key']),
    limitKey: limitKeyOf(request, caller),
    reportCount: (count) => writeRateHeaders(reply, count),
  })
  if (isReplay) reply.header('idempotent-replayed', 'true')
  const stored = storedAnswer(operation, output)
  const plainTag = stored === undefined ? operation.etag?.(output) : stored.tag
  const isDocument = isPublicDocument(operation)
  if (isDocument) reply.header('vary', 'accept-language, accept-encoding')
  const isCompressed = isDocument && acceptsGzip(request.headers['accept-encoding'])
  const tag = isCompressed && plainTag !== undefined ? compressedTag(plainTag) : plainTag
  if (tag !== undefined) {
    reply.header('etag', tag)
    if (operation.method === 'GET' && matchesTag(request.headers['if-none-match'], tag)) {
      return reply.code(304).send()
    }
  }
  const location = operation.location?.(output)
  if (location !== undefined) reply.header('location', API_PREFIX + location)
  if (operation.produces !== undefined) return sendPieces(reply.code(status), operation, output)
  const text = stored === undefined ? textOf(operation, output) : stored.text
  reply.code(status)
  if (text === undefined) return reply.send()
  reply.type('application/json; charset=utf-8')
  if (!isCompressed || tag === undefined) return reply.send(text)
  return reply.header('content-encoding', 'gzip').send(await compression(tag, text))
}

/** An output as JSON text; undefined if the operation has no output. */
function textOf(operation: AnyOperation, output: unknown): string | undefined {
  const body = encodeOutput(operation, output)
  return body === undefined ? undefined : JSON.stringify(body)
}

interface StoredAnswer {
  readonly text: string | undefined
  readonly tag: string | undefined
}

const storedAnswers = new WeakMap<object, StoredAnswer>()

/** Text and ETag of a constant output, cached; undefined for all others. */
function storedAnswer(operation: AnyOperation, output: unknown): StoredAnswer | undefined {
  if (operation.isConstant !== true || typeof output !== 'object' || output === null) {
    return undefined
  }
  const cached = storedAnswers.get(output)
  if (cached !== undefined) return cached
  const made = { text: textOf(operation, output), tag: operation.etag?.(output) }
  storedAnswers.set(output, made)
  return made
}

/** Streams an answer that is not JSON: a file, or metrics. */
function sendPieces(
  reply: FastifyReply,
  { id, produces }: AnyOperation,
  output: unknown,
): FastifyReply {
  const pieces = z.custom<AsyncIterable<string>>().parse(output)
  if (produces === 'text/csv') {
    reply.type('text/csv; charset=utf-8')
    reply.header('content-disposition', `attachment; filename="${id}.csv"`)
  } else reply.type(METRICS_TYPE)
  return reply.send(Readable.from(pieces))
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
