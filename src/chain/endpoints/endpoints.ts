import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Meters } from '#src/kernel/meters.ts'
import { unlessAborted } from '#src/kernel/unless-aborted.ts'
import { type ChainIdCheck, createChainIdCheck } from './chain-id-check.ts'
import { createEndpointHealth, type EndpointHealth, type EndpointName } from './endpoint-health.ts'
import {
  CallFailure,
  describeFailure,
  EndpointBusy,
  EndpointError,
  EndpointsFailed,
  isEndpointFailure,
  isNotYet,
  isPruned,
} from './failures.ts'
import { createRequestBudget, type RequestBudget } from './request-budget.ts'
import { createResultCheck } from './result-shapes.ts'
import { connect, hostOf, type RpcClient } from './rpc-request.ts'
import { Quantity } from './schemas.ts'

export type { RpcClient } from './rpc-request.ts'

/** The JSON-RPC endpoints of one chain. The first endpoint that responds is used. */
export interface Endpoints {
  readonly count: number
  /** Why each endpoint that fails does so, for the operator: its host, which contains no key, and the reason. */
  failures(): readonly string[]
  /** Records the newest block, which decides which requests are urgent. */
  recordNewest(number: number): void
  /**
   * Runs `read` on one endpoint after another until it succeeds; all requests of a run go to one endpoint.
   *
   * An endpoint that failed rests for a while: until then the other endpoints are tried first. One that does not
   * have a block yet is asked again a moment later, and does not rest.
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
  /** Budgets of requests by position, which other readers may share; by default a very high one for each. */
  readonly budgets?: readonly RequestBudget[] | undefined
  /** The chain id that endpoints must have; one that says another is not read. */
  readonly chainId: number
  /** Checks of the chain id by position, which other readers may share; by default one of its own for each. */
  readonly chainIdChecks?: readonly ChainIdCheck[] | undefined
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
  readonly name: EndpointName
  readonly chainId: ChainIdCheck
  readonly health: EndpointHealth
  readonly budget: RequestBudget
}

const RETRY_AFTER_SECONDS = 10
/** Budget of an endpoint whose budget is not given, as in tests. */
const UNPACED_PER_MINUTE = 600_000

/**
 * Creates the endpoints; connects with the first request. Long because `ask`, `askUntil`, `askForMost` and `askEach`
 * share the state of the endpoints.
 */
export function createEndpoints({
  rpcUrls,
  rpcHeaders = [],
  rpcTimeoutsMs = [],
  budgets = [],
  chainId,
  chainIdChecks = [],
  log,
  clock,
  timeoutMs,
  meters,
}: EndpointOptions): Endpoints {
  let newest = 0
  const endpoints = rpcUrls.map((url, endpoint): Endpoint => {
    const name = { endpoint, origin: new URL(url).origin }
    return {
      ...{ url, name, headers: rpcHeaders[endpoint] ?? {} },
      timeoutMs: rpcTimeoutsMs[endpoint] ?? timeoutMs,
      chainId: chainIdChecks[endpoint] ?? createChainIdCheck(name, { chainId, clock, log }),
      health: createEndpointHealth(name, { clock, log }),
      budget: budgets[endpoint] ?? createRequestBudget(UNPACED_PER_MINUTE),
    }
  })

  const checkResult = createResultCheck({ clock, log })

  function clientOf(endpoint: Endpoint, signal: AbortSignal, limitMs: number): RpcClient {
    const { url, headers, health, budget } = endpoint
    return connect(url, {
      ...{ headers, signal, limitMs, budget, meters, checkResult },
      isWell: health.isWell(),
      isAlone: !endpoints.some(
        (other) => other !== endpoint && isUsable(other) && other.health.restMs() === 0,
      ),
      newest: () => newest,
      onLimit: () => health.recordLimit(budget.perMinute()),
    })
  }

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
    try {
      await checkChainId(endpoint, limitMs, signal)
      const answer = await read(clientOf(endpoint, either, limitMs))
      // Another caller may have asked for the chain meanwhile.
      requireRight(endpoint)
      return answer
    } finally {
      over.abort()
    }
  }

  function isUsable({ chainId: check }: Endpoint): boolean {
    return check.isRight() || check.isDue()
  }

  /** @throws as `requireRight` */
  async function checkChainId(
    endpoint: Endpoint,
    limitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { chainId: check } = endpoint
    if (check.isDue()) {
      // Callers share the question, so that none of them can abort it.
      const client = clientOf(endpoint, new AbortController().signal, limitMs)
      const answer = check.ask(async () =>
        z.decode(Quantity, await client.request({ method: 'eth_chainId' })),
      )
      await unlessAborted(answer, signal)
    }
    requireRight(endpoint)
  }

  /** @throws EndpointError when the endpoint says that it serves another chain */
  function requireRight({ chainId: check }: Endpoint): void {
    if (!check.isRight()) throw new EndpointError('another chain')
  }

  /**
   * Records why a read failed, unless the endpoint is not to blame. Returns the reason, which is safe to log, and whether
   * the log says it.
   */
  function recordFailure(
    endpoint: Endpoint,
    error: unknown,
  ): { readonly reason: string; readonly isLogged: boolean } {
    const { url, headers, health, chainId: check } = endpoint
    const reason = describeFailure(error, url, headers)
    const isBlameless =
      // Its own line says so.
      check.problem() !== undefined ||
      isNotYet(error) ||
      // An ordinary node keeps the states of some tens of blocks.
      isPruned(error) ||
      error instanceof CallFailure ||
      error instanceof EndpointBusy
    if (!isBlameless) health.recordFailure(reason)
    return { reason, isLogged: !isBlameless }
  }

  async function askForMost<T>(
    read: (client: RpcClient) => Promise<T>,
    isEnough: (answer: T) => boolean,
    signal: AbortSignal | undefined,
    limitMs?: number,
  ): Promise<{ readonly answer: T; readonly isSure: boolean }> {
    const failures: { readonly reason: string; readonly isLogged: boolean }[] = []
    // An endpoint that is not read for a few answers may know more.
    let isSure = endpoints.every((endpoint) => isUsable(endpoint) || endpoint.chainId.isPutAway())
    let poor: { readonly answer: T } | undefined
    for (const endpoint of inOrder(endpoints.filter(isUsable))) {
      signal?.throwIfAborted()
      try {
        const answer = await attempt(endpoint, read, signal, limitMs)
        endpoint.health.recordAnswer()
        if (isEnough(answer)) return { answer, isSure: true }
        poor = { answer }
      } catch (error) {
        signal?.throwIfAborted()
        if (!isEndpointFailure(error)) throw error
        const { reason, isLogged } = recordFailure(endpoint, error)
        failures.push({ reason: `endpoint ${endpoint.name.endpoint}: ${reason}`, isLogged })
        if (!endpoint.chainId.isPutAway()) isSure = false
      }
    }
    if (poor !== undefined) return { ...poor, isSure }
    const cause = new EndpointsFailed(
      failures.map(({ reason }) => reason).join('; ') || 'no endpoint of this chain',
      failures.length > 0 && failures.every(({ isLogged }) => isLogged),
    )
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
    throw new AppError('upstream', 'dependency_unavailable', details, { cause })
  }

  return {
    count: endpoints.length,
    failures: () =>
      endpoints.flatMap(({ url, health }) => {
        const reason = health.failure()
        return reason === undefined ? [] : [`${hostOf(url)}: ${reason}`]
      }),
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
      const usable = endpoints.filter(isUsable)
      const well = usable.filter(({ health }) => health.restMs() === 0)
      const answers = await Promise.all(
        (well.length > 0 ? well : usable).map(async (endpoint) => {
          try {
            const answer = await attempt(endpoint, read, signal)
            endpoint.health.recordAnswer()
            return [answer]
          } catch (error) {
            signal?.throwIfAborted()
            if (!isEndpointFailure(error)) throw error
            recordFailure(endpoint, error)
            return []
          }
        }),
      )
      return answers.flat()
    },
    recordNewest: (number) => {
      newest = number
    },
  }
}

/** Sorts endpoints: healthy ones in the given order, then the resting ones, the longest resting first. */
function inOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const restMs = ({ health, budget }: Endpoint) => Math.max(health.restMs(), budget.pausedMs())
  return endpoints.toSorted((endpoint, other) => restMs(endpoint) - restMs(other))
}
