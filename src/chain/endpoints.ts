import { type Client, createClient, type HttpTransport, http } from 'viem'
import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { describeFailure, EndpointError, isEndpointFailure } from './failures.ts'
import { Quantity } from './quantity.ts'

/** One endpoint, good for one question: it ends with the question's time limit. */
export type RpcClient = Client<HttpTransport>

/** The JSON-RPC endpoints of one chain, of which the first that answers is used. */
export interface Endpoints {
  readonly count: number
  /**
   * The answer of the first endpoint on which `read` does not fail; all its requests go to that one.
   *
   * An endpoint that failed is passed over for a while: the others are asked before it.
   *
   * @param limitMs how long each endpoint may take, if that is less than the usual limit
   * @throws AppError upstream `dependency_unavailable` when all of them failed
   * @throws the signal's reason when the caller gives up
   */
  ask<T>(
    read: (client: RpcClient) => Promise<T>,
    signal: AbortSignal | undefined,
    limitMs?: number,
  ): Promise<T>
  /**
   * The first answer that is enough, from as many endpoints as it takes; when none is, one of the others.
   *
   * For questions of absence: what one endpoint has not seen another may have.
   *
   * @throws as `ask` does, when no endpoint gave any answer
   */
  askUntil<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<T>
  /**
   * The same, and whether that is all there is to hear: false when the answer is not enough and one of the
   * other endpoints, which might have known more, did not answer.
   *
   * @throws as `ask` does, when no endpoint gave any answer
   */
  askForMost<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: T; readonly isSure: boolean }>
}

/** What endpoints need to know. */
export interface EndpointOptions {
  /** The first is the primary one. */
  readonly rpcUrls: readonly string[]
  /** An endpoint of any other chain is never used. */
  readonly chainId: number
  readonly log: Logger
  readonly clock: Clock
  readonly timeoutMs: number
}

interface Endpoint {
  readonly url: string
  /** How the log names it: its place in the list and its origin, which hold no credentials. */
  readonly name: { readonly endpoint: number; readonly origin: string }
  chain: 'unknown' | 'right' | 'wrong'
  /** When it was asked which chain it serves, as epoch milliseconds. */
  checkedAtMs: number
  /** Passed over until then, as epoch milliseconds; 0 when it answered last time. */
  restsUntilMs: number
}

const REST_MS = 30_000
/** How long what an endpoint said of its chain is believed. */
const CHECK_MS = 3_600_000
const RETRY_AFTER_SECONDS = 10

/** Watches over endpoints; connects to none before the first question. */
export function createEndpoints({
  rpcUrls,
  chainId,
  log,
  clock,
  timeoutMs,
}: EndpointOptions): Endpoints {
  const endpoints = rpcUrls.map(
    (url, endpoint): Endpoint => ({
      url,
      name: { endpoint, origin: new URL(url).origin },
      chain: 'unknown',
      checkedAtMs: 0,
      restsUntilMs: 0,
    }),
  )

  async function attempt<T>(
    endpoint: Endpoint,
    read: (client: RpcClient) => Promise<T>,
    signal: AbortSignal | undefined,
    limitMs: number,
  ): Promise<T> {
    const limit = AbortSignal.timeout(limitMs)
    try {
      const client = connect(endpoint.url, signal ? AbortSignal.any([signal, limit]) : limit)
      if (mustCheck(endpoint)) await checkChain(endpoint, client)
      return await read(client)
    } catch (error) {
      signal?.throwIfAborted()
      if (limit.aborted) throw new EndpointError('timeout')
      throw error
    }
  }

  function mustCheck({ chain, checkedAtMs }: Endpoint): boolean {
    return chain === 'unknown' || clock.now().getTime() - checkedAtMs >= CHECK_MS
  }

  async function checkChain(endpoint: Endpoint, client: RpcClient): Promise<void> {
    if (endpoint.chain === 'wrong') endpoint.checkedAtMs = clock.now().getTime()
    const found = z.decode(Quantity, await client.request({ method: 'eth_chainId' }))
    // Several questions may check at once; the first one to know says it.
    const isNews = endpoint.chain !== 'wrong'
    endpoint.checkedAtMs = clock.now().getTime()
    endpoint.chain = found === BigInt(chainId) ? 'right' : 'wrong'
    if (endpoint.chain === 'right') return
    if (isNews) {
      const fields = { ...endpoint.name, chainId: found.toString(), expectedChainId: chainId }
      log.error(fields, 'rpc endpoint serves another chain')
    }
    throw new EndpointError('another chain')
  }

  function noteAnswer(endpoint: Endpoint): void {
    if (endpoint.restsUntilMs !== 0) log.info(endpoint.name, 'rpc endpoint answers again')
    endpoint.restsUntilMs = 0
  }

  function noteFailure(endpoint: Endpoint, reason: string): void {
    const nowMs = clock.now().getTime()
    if (endpoint.restsUntilMs <= nowMs) {
      log.warn({ ...endpoint.name, reason, restSeconds: REST_MS / 1000 }, 'rpc endpoint failed')
    }
    endpoint.restsUntilMs = nowMs + REST_MS
  }

  async function askForMost<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
    limitMs = timeoutMs,
  ): Promise<{ readonly answer: T; readonly isSure: boolean }> {
    const failures: string[] = []
    let isSure = true
    let poor: { readonly answer: T } | undefined
    const usable = endpoints.filter((one) => one.chain !== 'wrong' || mustCheck(one))
    for (const endpoint of inOrder(usable, clock.now().getTime())) {
      signal?.throwIfAborted()
      try {
        const answer = await attempt(endpoint, read, signal, Math.min(limitMs, timeoutMs))
        noteAnswer(endpoint)
        if (isEnough(answer)) return { answer, isSure: true }
        poor = { answer }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isEndpointFailure(error)) throw error
        const reason = describeFailure(error, endpoint.url)
        failures.push(`endpoint ${endpoint.name.endpoint}: ${reason}`)
        if (endpoint.chain === 'wrong') continue
        noteFailure(endpoint, reason)
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
  }
}

/** Those that are well in the order given, then the resting ones, the longest rested first. */
function inOrder(endpoints: readonly Endpoint[], nowMs: number): readonly Endpoint[] {
  const restMs = ({ restsUntilMs }: Endpoint) => Math.max(restsUntilMs - nowMs, 0)
  return endpoints.toSorted((one, other) => restMs(one) - restMs(other))
}

function connect(url: string, signal: AbortSignal): RpcClient {
  return createClient({
    // Trying again is the caller's decision, and the signal is the time limit.
    transport: http(url, { retryCount: 0, timeout: 0, fetchOptions: { signal } }),
    // A contract must not be able to send us to a web address of its choice (EIP-3668).
    ccipRead: false,
  })
}
