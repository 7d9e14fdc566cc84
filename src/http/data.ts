/**
 * The metered reverse proxy: `/data/<resource>/*` goes to the upstream that is set up for the resource,
 * behind its meter. Bodies stream both ways. What an upstream answers below 500 is the answer, and
 * charged; anything else is a problem of ours, and given back.
 */
import proxy from '@fastify/http-proxy'
import type { FastifyInstance } from 'fastify'
import { Agent, type Dispatcher, errors } from 'undici'
import { RESOURCES, type ResourceId, resourcePath } from '#src/billing/price-list.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { App } from '#src/operations/define.ts'
import { headersForClient, headersForUpstream, isOurs } from './data-headers.ts'
import { createMeter, type Meter } from './meter.ts'

/** The base URL of each resource that is set up, without a slash at the end. */
export type Upstreams = Readonly<Partial<Record<ResourceId, string>>>

const CONNECT_TIMEOUT_MS = 5000
/** Until an upstream begins to answer, and between two pieces of its answer. */
const SILENCE_MS = 30_000
const RETRY_AFTER_SECONDS = 60

/** A Fastify plugin with the data routes; other routes of the server are not changed. */
export async function registerData(
  server: FastifyInstance,
  options: {
    readonly app: App
    readonly upstreams: Upstreams
    /** Longest silence of an upstream; 30 s unless given. */
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
  // Bodies pass as they are: any type, any length.
  server.removeAllContentTypeParsers()
  server.addHook('onRequest', async ({ url }) => {
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
  await server.register(proxy, {
    upstream,
    prefix,
    undici: dispatcherOf(agent),
    disableRequestLogging: true,
    preHandler: meter.meter(resource),
    // Of an upstream without a path the resource itself is its root. Without this the client's own path is sent.
    handler: (_request, reply, destination, replyOptions) =>
      reply.from(destination === '' ? '/' : destination, replyOptions),
    replyOptions: {
      // One call is asked for once; whether to repeat it is the caller's decision.
      retryDelay: () => null,
      rewriteRequestHeaders: (request, headers) => headersForUpstream(headers, request),
      rewriteHeaders: (headers) => headersForClient(headers, { upstream, prefix }),
      onResponse: (request, reply, { statusCode, stream }) => {
        stream.on('error', (error) => {
          // Nothing is wrong with the upstream when the client has gone.
          if (error instanceof errors.RequestAbortedError) return
          app.log.warn({ resource, problem: error.message }, 'upstream broke off')
          void meter.refund(request)
        })
        if (statusCode < 500) return void reply.send(stream)
        stream.destroy()
        app.log.warn({ resource, statusCode }, 'upstream failed')
        refuse(reply)
      },
      onError: (reply, { error }) => {
        app.log.warn({ resource, problem: error.message }, 'upstream not reached')
        refuse(reply, error)
      },
    },
  })
}

type Undici = NonNullable<Parameters<typeof proxy>[1]['undici']>

/**
 * The agent as the proxy takes it.
 *
 * When a client has gone before the answer, the proxy drops the answer and listens to nothing of it
 * any more; what the stream says then must not end the process.
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
  // The proxy has undici's types of another version; it uses this one function of it.
  return { request } as unknown as Undici
}

/** What is used of a reply, of whatever kind of server. */
interface Reply {
  getHeaders(): object
  removeHeader(name: string): unknown
  send(payload: unknown): unknown
}

/** Answers in place of an upstream that cannot. */
function refuse(reply: Reply, cause?: Error): void {
  for (const name of Object.keys(reply.getHeaders())) if (!isOurs(name)) reply.removeHeader(name)
  const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
  reply.send(new AppError('upstream', 'dependency_unavailable', details, { cause }))
}

/** Whether a path means the same to everybody: nothing in it that could lead out of its resource. */
function isPlainPath(url: string): boolean {
  const tail = /^\/data\/[^/?]*([^?]*)/.exec(url)?.[1] ?? ''
  if (tail.startsWith('//')) return false
  try {
    const decoded = decodeURIComponent(tail)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    return !/\/\.\.|\.\.\/|[\\\u0000-\u001f]/.test(decoded)
  } catch {
    return false
  }
}
