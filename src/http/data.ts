/**
 * The metered reverse proxy: `/data/<resource>/*` is forwarded to the resource's upstream, behind its
 * meter. Bodies stream both ways. An upstream's answer with a status below 500 is returned and charged; any
 * other result is a problem of this service, and the call is refunded.
 */
import type proxy from '@fastify/http-proxy'
import type { FastifyInstance } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import { RESOURCES, type ResourceId, resourcePath } from '#src/billing/price-list.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import {
  DATA_POLICY,
  headersForClient,
  headersForUpstream,
  isReservedForService,
} from './data-headers.ts'
import { createMeter, type Meter } from './meter.ts'

/** Base URL of each configured resource, without a trailing slash. */
export type Upstreams = Readonly<Partial<Record<ResourceId, string>>>

const CONNECT_TIMEOUT_MS = 5000
/** Timeout before the first byte of an upstream's answer, and between two parts of it. */
const SILENCE_MS = 30_000
const RETRY_AFTER_SECONDS = 60

/** Fastify plugin with the data routes; other routes of the server are unchanged. */
export async function registerData(
  server: FastifyInstance,
  options: {
    readonly app: App
    readonly upstreams: Upstreams
    /** Timeout of a silent upstream; 30 s by default. */
    readonly silenceMs?: number
  },
): Promise<void> {
  const { app, upstreams, silenceMs = SILENCE_MS } = options
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  })
  server.addHook('onClose', () => agent.destroy())
  // Bodies of any type and length are passed on unparsed.
  server.removeAllContentTypeParsers()
  server.addHook('onRequest', async ({ url }, reply) => {
    reply.header('content-security-policy', DATA_POLICY)
    if (!isPlainPath(url)) throw new AppError('not_found', 'not_found')
  })
  const meter = createMeter(server, app)
  for (const resource of RESOURCES) {
    const upstream = upstreams[resource]
    if (upstream !== undefined) await addProxy(server, { app, agent, meter }, resource, upstream)
  }
}

interface Parts {
  readonly app: App
  readonly agent: Agent
  readonly meter: Meter
}

async function addProxy(
  server: FastifyInstance,
  { app, agent, meter }: Parts,
  resource: ResourceId,
  upstream: string,
): Promise<void> {
  const prefix = resourcePath(resource)
  // Loaded only where an upstream is configured: it brings an undici of its own.
  const { default: plugin } = await import('@fastify/http-proxy')
  await server.register(plugin, {
    upstream,
    prefix,
    undici: dispatcherOf(agent),
    disableRequestLogging: true,
    preHandler: meter.meter(resource),
    // If the upstream has no path, the resource is its root. Otherwise the whole path of the client would
    // be sent.
    handler: (_request, reply, destination, replyOptions) =>
      reply.from(destination === '' ? '/' : destination, replyOptions),
    replyOptions: {
      // A call is sent once; the caller decides about retries.
      retryDelay: () => null,
      rewriteRequestHeaders: (request, headers) => headersForUpstream(headers, request),
      rewriteHeaders: (headers) => headersForClient(headers, { upstream, prefix }),
      onResponse: (request, reply, { statusCode, stream }) => {
        stream.on('error', (error) => {
          // A client that disconnected is not a fault of the upstream.
          if (error instanceof errors.RequestAbortedError) return
          app.log.warn(
            { resource, problem: error.message },
            'upstream ended its answer early; the call is refunded',
          )
          void meter.refund(request)
        })
        if (statusCode < 500) return void reply.send(stream)
        stream.destroy()
        app.log.warn(
          { resource, statusCode },
          'upstream answered with an error; the call is refunded',
        )
        refuse(reply)
      },
      onError: (reply, { error }) => {
        app.log.warn(
          { resource, problem: error.message },
          'upstream unreachable; the call is refunded',
        )
        refuse(reply, error)
      },
    },
  })
}

type Undici = NonNullable<Parameters<typeof proxy>[1]['undici']>

/**
 * Adapts the agent to the type that the proxy expects.
 *
 * When a client disconnects before the answer, the proxy drops the answer and removes its listeners; a
 * later error of the stream must not end the process.
 */
function dispatcherOf(agent: Agent): Undici {
  const request = (
    options: Dispatcher.RequestOptions,
    done: (error: Error | null, answer: Dispatcher.ResponseData) => void,
  ) => {
    agent.request(options, (error, answer) => {
      answer?.body?.on('error', () => undefined)
      done(error, answer)
    })
  }
  // The proxy has the types of another version of undici; it uses only this function.
  return { request } as unknown as Undici
}

/** The used parts of a reply, of any kind of server. */
interface Reply {
  getHeaders(): object
  header(name: string, value: string): unknown
  removeHeader(name: string): unknown
  send(payload: unknown): unknown
}

/** Answers for an upstream that failed. */
function refuse(reply: Reply, cause?: Error): void {
  for (const name of Object.keys(reply.getHeaders()))
    if (!isReservedForService(name)) reply.removeHeader(name)
  reply.header('content-security-policy', DATA_POLICY)
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  reply.send(new AppError('upstream', 'dependency_unavailable', details, { cause }))
}

/** Whether a path is unambiguous, without parts that could leave the resource. */
function isPlainPath(url: string): boolean {
  const tail = /^\/data\/[^/?]*([^?]*)/.exec(url)?.[1] ?? ''
  if (tail.startsWith('//')) return false
  try {
    const decoded = decodeURIComponent(tail)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
    return !/\/\.\.|\.\.\/|[\\\u0000-\u001f]/.test(decoded)
  } catch {
    return false
  }
}
