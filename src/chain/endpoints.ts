import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type HttpTransport, http } from 'viem'
import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters, RpcOutcome } from '#src/kernel/meters.ts'
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts'
import {
  CallFailure,
  describeFailure,
  EndpointError,
  EndpointTimeout,
  isEndpointFailure,
  isRefusal,
} from './failures.ts'
import { Quantity } from './quantity.ts'
import { checkResultShape } from './result-shapes.ts'

/**
 * One endpoint, for the requests of one read. Each request has its own timeout; a refused request is
 * retried a few times. Every result is validated by the schema of its method.
 */
export type RpcClient = Client<HttpTransport>

/** The JSON-RPC endpoints of one chain. The first endpoint that responds is used. */
export interface Endpoints {
  readonly count: number
  /**
   * Runs `read` on one endpoint after another until it succeeds; all requests of a run go to one endpoint.
   *
   * An endpoint that failed rests for a while: until then the other endpoints are tried first.
   *
   * @param limitMs timeout of each request, if shorter than the usual one
   * @throws AppError upstream `dependency_unavailable` when all of them failed
   * @throws the signal's reason when the caller aborts
   */
  ask<T>(
    read: (client: RpcClient) => Promise<T>,
    signal: AbortSignal | undefined,
    limitMs?: number,
  ): Promise<T>
  /**
   * Runs `read` on endpoints until a result is sufficient; if no result is, returns one that is not.
   *
   * For queries whose empty result proves nothing, because another endpoint may have seen more.
   *
   * @throws as `ask` does, when no endpoint gave any answer
   */
  askUntil<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<T>
  /**
   * Like `askUntil`, with a flag whether the result is final: false when it is not sufficient and another
   * endpoint, which might have known more, did not respond.
   *
   * @throws as `ask` does, when no endpoint gave any answer
   */
  askForMost<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: T; readonly isSure: boolean }>
  /**
   * Returns the results of all endpoints, which are asked concurrently; empty when none responds. For facts
   * that must not depend on a single endpoint. Resting endpoints are asked only while no other is left.
   *
   * @throws the signal's reason when the caller aborts
   */
  askEach<T>(
    read: (client: RpcClient) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<readonly T[]>
}

/** Settings of the endpoints. */
export interface EndpointOptions {
  /** The first is the primary one. */
  readonly rpcUrls: readonly string[]
  /** Headers of each endpoint, by position. Never logged. */
  readonly rpcHeaders?: readonly Readonly<Record<string, string>>[] | undefined
  /** Timeout of one request to each endpoint, by position, where it is not `timeoutMs`. */
  readonly rpcTimeoutsMs?: readonly (number | undefined)[] | undefined
  /** The chain id that endpoints must have; endpoints of another chain are never used. */
  readonly chainId: number
  readonly log: Logger
  readonly clock: Clock
  /** Timeout of one request. */
  readonly timeoutMs: number
  /** Counts requests, for the operator. */
  readonly meters?: Meters | undefined
}

interface Endpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Timeout of one request. */
  readonly timeoutMs: number
  /** Name in the log: index and origin, which contain no credentials. */
  readonly name: { readonly endpoint: number; readonly origin: string }
  chain: 'unknown' | 'right' | 'wrong'
  /** Time at which the endpoint's chain id was checked, in epoch milliseconds. */
  checkedAtMs: number
  /** Time until which the endpoint rests, in epoch milliseconds; 0 when its last request succeeded. */
  restsUntilMs: number
  readonly concurrency: ConcurrencyLimit
}

/** Time for which an endpoint rests after a failure: the others are asked before it. */
const FAILED_REST_MS = 30_000
/** Time for which an endpoint's chain id is trusted. */
const CHECK_MS = HOUR_MS
const RETRY_AFTER_SECONDS = 10

/**
 * Creates the endpoints; connects with the first request. Long because `ask`, `askUntil`, `askForMost` and `askEach`
 * share the state of the endpoints.
 */
export function createEndpoints({
  rpcUrls,
  rpcHeaders = [],
  rpcTimeoutsMs = [],
  chainId,
  log,
  clock,
  timeoutMs,
  meters,
}: EndpointOptions): Endpoints {
  const endpoints = rpcUrls.map(
    (url, endpoint): Endpoint => ({
      url,
      headers: rpcHeaders[endpoint] ?? {},
      timeoutMs: rpcTimeoutsMs[endpoint] ?? timeoutMs,
      name: { endpoint, origin: new URL(url).origin },
      chain: 'unknown',
      checkedAtMs: 0,
      restsUntilMs: 0,
      concurrency: createConcurrencyLimit(),
    }),
  )

  async function attempt<T>(
    endpoint: Endpoint,
    read: (client: RpcClient) => Promise<T>,
    signal: AbortSignal | undefined,
    wantedMs = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const limitMs = Math.min(wantedMs, endpoint.timeoutMs)
    // Aborts the remaining requests of a read that failed.
    const over = new AbortController()
    const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal
    const isWell = endpoint.restsUntilMs === 0
    try {
      const client = connect(endpoint.url, {
        headers: endpoint.headers,
        signal: either,
        limitMs,
        isWell,
        concurrency: endpoint.concurrency,
        meters,
      })
      if (mustCheck(endpoint)) await checkChain(endpoint, client)
      return await read(client)
    } finally {
      over.abort()
    }
  }

  function mustCheck({ chain, checkedAtMs }: Endpoint): boolean {
    return chain === 'unknown' || clock.now().getTime() - checkedAtMs >= CHECK_MS
  }

  async function checkChain(endpoint: Endpoint, client: RpcClient): Promise<void> {
    if (endpoint.chain === 'wrong') endpoint.checkedAtMs = clock.now().getTime()
    const servedChainId = z.decode(Quantity, await client.request({ method: 'eth_chainId' }))
    // Several reads may check concurrently; only the first one logs the result.
    const isFirst = endpoint.chain !== 'wrong'
    endpoint.checkedAtMs = clock.now().getTime()
    endpoint.chain = servedChainId === BigInt(chainId) ? 'right' : 'wrong'
    if (endpoint.chain === 'right') return
    if (isFirst) {
      const fields = {
        ...endpoint.name,
        chainId: servedChainId.toString(),
        expectedChainId: chainId,
      }
      log.error(fields, 'rpc endpoint serves another chain')
    }
    throw new EndpointError('another chain')
  }

  function recordAnswer(endpoint: Endpoint): void {
    if (endpoint.restsUntilMs !== 0) log.info(endpoint.name, 'rpc endpoint answers again')
    endpoint.restsUntilMs = 0
  }

  function recordFailure(endpoint: Endpoint, reason: string): void {
    const nowMs = clock.now().getTime()
    if (endpoint.restsUntilMs <= nowMs) {
      log.warn(
        { ...endpoint.name, reason, restSeconds: FAILED_REST_MS / 1000 },
        'rpc endpoint failed',
      )
    }
    endpoint.restsUntilMs = nowMs + FAILED_REST_MS
  }

  async function askForMost<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
    limitMs?: number,
  ): Promise<{ readonly answer: T; readonly isSure: boolean }> {
    const failures: string[] = []
    let isSure = true
    let poor: { readonly answer: T } | undefined
    const usable = endpoints.filter((endpoint) => endpoint.chain !== 'wrong' || mustCheck(endpoint))
    for (const endpoint of inOrder(usable, clock.now().getTime())) {
      signal?.throwIfAborted()
      try {
        const answer = await attempt(endpoint, read, signal, limitMs)
        recordAnswer(endpoint)
        if (isEnough(answer)) return { answer, isSure: true }
        poor = { answer }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isEndpointFailure(error)) throw error
        const reason = describeFailure(error, endpoint.url, endpoint.headers)
        failures.push(`endpoint ${endpoint.name.endpoint}: ${reason}`)
        if (endpoint.chain === 'wrong') continue
        if (!(error instanceof CallFailure)) recordFailure(endpoint, reason)
        isSure = false
      }
    }
    if (poor !== undefined) return { ...poor, isSure }
    const cause = new EndpointError(failures.join('; ') || 'no endpoint of this chain')
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
    throw new AppError('upstream', 'dependency_unavailable', details, { cause })
  }

  return {
    count: endpoints.length,
    ask: async (read, signal, limitMs) => {
      const { answer } = await askForMost(read, () => true, signal, limitMs)
      return answer
    },
    askUntil: async (read, isEnough, signal) => {
      const { answer } = await askForMost(read, isEnough, signal)
      return answer
    },
    askForMost,
    askEach: async (read, signal) => {
      const usable = endpoints.filter(
        (endpoint) => endpoint.chain !== 'wrong' || mustCheck(endpoint),
      )
      const nowMs = clock.now().getTime()
      const well = usable.filter(({ restsUntilMs }) => restsUntilMs <= nowMs)
      const answers = await Promise.all(
        (well.length > 0 ? well : usable).map(async (endpoint) => {
          try {
            const answer = await attempt(endpoint, read, signal)
            recordAnswer(endpoint)
            return [answer]
          } catch (error) {
            signal?.throwIfAborted()
            if (!isEndpointFailure(error)) throw error
            if (endpoint.chain !== 'wrong')
              recordFailure(endpoint, describeFailure(error, endpoint.url, endpoint.headers))
            return []
          }
        }),
      )
      return answers.flat()
    },
  }
}

/** Sorts endpoints: healthy ones in the given order, then the resting ones, the longest resting first. */
function inOrder(endpoints: readonly Endpoint[], nowMs: number): readonly Endpoint[] {
  const restMs = ({ restsUntilMs }: Endpoint) => Math.max(restsUntilMs - nowMs, 0)
  return endpoints.toSorted((endpoint, other) => restMs(endpoint) - restMs(other))
}

interface Connection {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Timeout of one request. */
  readonly limitMs: number
  /** Whether the endpoint's last request succeeded: then a broken connection is retried. */
  readonly isWell: boolean
  readonly concurrency: ConcurrencyLimit
  readonly meters: Meters | undefined
}

/** Pauses before a refused request is repeated. */
const PAUSES_MS = [50, 150, 400]

function connect(url: string, connection: Connection): RpcClient {
  const transport: HttpTransport = (options) => ({
    ...http(url)(options),
    request: (args) => send(url, connection, args),
  })
  return createClient({
    transport,
    // A contract must not be able to make the service call a URL of its choice (EIP-3668).
    ccipRead: false,
  })
}

/** Host of an endpoint, its name for the operator. Path and query are left out, because they may be a key. */
export function hostOf(url: string): string {
  return new URL(url).host
}

type Send = ReturnType<HttpTransport>['request']

/** Sends one request, and repeats it a few times while the endpoint refuses it. */
async function send<T>(url: string, connection: Connection, args: Parameters<Send>[0]): Promise<T> {
  const { headers, signal, limitMs, isWell, concurrency, meters } = connection
  const host = hostOf(url)
  for (let tries = 0; ; tries += 1) {
    await concurrency.begin(signal)
    const askedAt = performance.now()
    const end = (outcome: RpcOutcome) => {
      concurrency.end(outcome)
      meters?.countRpcRequest(host, outcome, (performance.now() - askedAt) / 1000)
    }
    const limit = AbortSignal.timeout(limitMs)
    const fetchOptions = { headers, signal: AbortSignal.any([signal, limit]) }
    try {
      const once = http(url, { retryCount: 0, timeout: 0, fetchOptions })({})
      const answer: T = await once.request(args)
      checkResultShape(args.method, answer)
      end('answered')
      return answer
    } catch (error) {
      end(isRefusal(error, false) ? 'refused' : 'failed')
      signal.throwIfAborted()
      if (limit.aborted) throw new EndpointTimeout()
      const pauseMs = PAUSES_MS[tries]
      if (pauseMs === undefined || !isRefusal(error, isWell)) throw error
      // Random pauses spread requests that were refused together.
      await sleep(randomInt(pauseMs / 2, pauseMs * 1.5), undefined, { signal })
    }
  }
}
