import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, type HttpTransport, http } from 'viem'
import type { Meters, RpcOutcome } from '#src/kernel/meters.ts'
import {
  EndpointBusy,
  EndpointTimeout,
  isNotYet,
  isRateLimit,
  isRefusal,
  isTooLarge,
  NotYetError,
  RefusedRequest,
  rpcErrorOf,
} from './failures.ts'
import type { RequestBudget, Urgency } from './request-budget.ts'
import type { createResultCheck } from './result-shapes.ts'

/**
 * One endpoint, for the requests of one read. Each request has its own timeout; a refused request is
 * retried a few times. Every result is validated by the schema of its method.
 */
export type RpcClient = Client<HttpTransport>

/** How the requests of one read are sent. */
export interface Connection {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Timeout of one request, from when it is sent. */
  readonly limitMs: number
  /** Whether the endpoint's last request succeeded: then a broken connection is retried. */
  readonly isWell: boolean
  /** Whether no other endpoint can be asked: then this one gets more time. */
  readonly isAlone: boolean
  readonly budget: RequestBudget
  /** The newest block that any endpoint is known to have; 0 if unknown. */
  readonly newest: () => number
  /** Called when the endpoint refused a request because there were too many. */
  readonly onLimit: () => void
  readonly meters: Meters | undefined
  /** Throws EndpointError for a malformed result. */
  readonly checkResult: ReturnType<typeof createResultCheck>
}

/** Pauses before a request is repeated that a server refused. */
const REFUSED_MS = [50, 150, 400]
/** Pauses before a node is asked again for a block that it did not have yet; a block takes about a second. */
const NOT_YET_MS = [120, 250, 500, 500, 500]
/** The same, while another endpoint may have the block. */
const NOT_YET_SHORT_MS = [120]
/** How often a request is repeated that was refused because there were too many. The budget makes it wait. */
const LIMITED_REPEATS = 8
/** Longest pause of an endpoint for which a request waits while another endpoint can be asked. */
const PAUSED_MS_MAX = 2000

/** Creates a client of one endpoint. */
export function connect(url: string, connection: Connection): RpcClient {
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
type Request = Parameters<Send>[0]

/** Sends one request, and repeats it while the endpoint refuses it or does not have its block yet. */
async function send<T>(url: string, connection: Connection, args: Request): Promise<T> {
  const { signal, budget, newest, isAlone } = connection
  const repeats = { refused: 0, limited: 0, notYet: 0 }
  const notYetMs = isAlone ? NOT_YET_MS : NOT_YET_SHORT_MS
  for (;;) {
    await waitForTurn(connection, urgencyOf(args, newest()))
    try {
      return await sendOnce<T>(url, connection, args)
    } catch (error) {
      signal.throwIfAborted()
      if (isNotYet(error)) {
        const pauseMs = notYetMs[repeats.notYet++]
        if (pauseMs === undefined) throw asNotYet(error)
        await pauseAbout(pauseMs, signal)
      } else if (isRateLimit(error)) {
        connection.onLimit()
        if (repeats.limited++ >= LIMITED_REPEATS) {
          // With the code of some refusals it may be the size of the result that is refused.
          throw isTooLarge(error) ? error : new EndpointBusy('too many requests')
        }
        if (!isAlone && budget.pausedMs() > PAUSED_MS_MAX)
          throw new EndpointBusy('too many requests')
      } else {
        const pauseMs = REFUSED_MS[repeats.refused++]
        if (pauseMs === undefined || !isRefusal(error, connection.isWell)) throw error
        await pauseAbout(pauseMs, signal)
      }
    }
  }
}

function waitForTurn({ budget, signal, isAlone }: Connection, urgency: Urgency): Promise<void> {
  if (!isAlone && budget.pausedMs() > PAUSED_MS_MAX) throw new EndpointBusy('too many requests')
  return budget.begin(signal, urgency)
}

/** Pauses are random, so that requests that were refused together do not come back together. */
function pauseAbout(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(randomInt(Math.ceil(ms / 2), Math.ceil(ms * 1.5)), undefined, { signal })
}

function asNotYet(error: unknown): NotYetError {
  if (error instanceof NotYetError) return error
  return new NotYetError(rpcErrorOf(error)?.details.slice(0, 160) ?? 'block is not there yet')
}

async function sendOnce<T>(url: string, connection: Connection, args: Request): Promise<T> {
  const { headers, signal, limitMs, budget, meters } = connection
  const limit = AbortSignal.timeout(limitMs)
  const askedAt = performance.now()
  const heard: Heard = { status: 200, retryAfterMs: undefined }
  const end = (outcome: RpcOutcome) => {
    // Whoever states when to come back refuses for now, whatever the status.
    const isLimited =
      outcome === 'limited' || (outcome === 'refused' && heard.retryAfterMs !== undefined)
    if (isLimited) budget.end('limited', heard.retryAfterMs)
    else budget.end(outcome === 'failed' ? outcome : 'answered')
    meters?.countRpcRequest(hostOf(url), outcome, (performance.now() - askedAt) / 1000)
  }
  try {
    const once = http(url, {
      retryCount: 0,
      timeout: 0,
      fetchOptions: { headers, signal: AbortSignal.any([signal, limit]) },
      fetchFn: (input, init) => fetchAndHear(input, init, heard),
    })({})
    const answer = await once.request(args).catch((error: unknown) => {
      throw isStatusDecisive(heard.status, error) ? new RefusedRequest(heard.status) : error
    })
    connection.checkResult(args, answer)
    checkThere(args, answer, connection.newest())
    end('answered')
    return answer as T
  } catch (error) {
    end(outcomeOf(error))
    signal.throwIfAborted()
    throw limit.aborted ? new EndpointTimeout() : error
  }
}

function outcomeOf(error: unknown): RpcOutcome {
  if (isNotYet(error)) return 'not_yet'
  if (isRateLimit(error)) return 'limited'
  return isRefusal(error, false) ? 'refused' : 'failed'
}

/** What the headers of an answer say. */
interface Heard {
  status: number
  retryAfterMs: number | undefined
}

/** Whether the status of an answer says more than its body: there are too many requests, or the body says nothing. */
function isStatusDecisive(status: number, error: unknown): boolean {
  return status === 429 || (status >= 400 && rpcErrorOf(error) === undefined)
}

async function fetchAndHear(
  input: string | URL | globalThis.Request,
  init: RequestInit | undefined,
  heard: Heard,
): Promise<Response> {
  const response = await fetch(input, init)
  heard.status = response.status
  heard.retryAfterMs = retryAfterMsOf(response.headers)
  const { headers, status, ok } = response
  // A gateway may send an error without the envelope of JSON-RPC. Such an answer is small.
  // The length of a compressed answer says nothing about its text.
  const isCompressed = headers.has('content-encoding')
  const bytes = Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  if (ok && (isCompressed || bytes > BARE_BYTES_MAX)) return response
  const text = await readAtMost(response, BARE_BYTES_MAX)
  return new Response(withEnvelope(text), { status, headers: withoutLength(headers) })
}

/** Largest answer that may be an error without an envelope. Of the body of an error so much is read. */
const BARE_BYTES_MAX = 16 * 1024

async function readAtMost({ body }: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) break
  }
  return Buffer.concat(chunks).toString()
}

function withEnvelope(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    const isBare =
      typeof body === 'object' &&
      body !== null &&
      !('error' in body) &&
      !('result' in body) &&
      'code' in body &&
      'message' in body
    return isBare ? JSON.stringify({ jsonrpc: '2.0', id: null, error: body }) : text
  } catch {
    return text
  }
}

function withoutLength(headers: Headers): Headers {
  const rest = new Headers(headers)
  for (const name of ['content-length', 'content-encoding']) rest.delete(name)
  return rest
}

/** Headers that say when the next request is welcome, in seconds or as a date. */
const RESET_HEADERS = ['retry-after', 'ratelimit-reset', 'x-ratelimit-reset']
/** A number above these is a time in epoch seconds, or in epoch milliseconds. */
const EPOCH_SECONDS_MIN = 1_000_000_000
const EPOCH_MS_MIN = 1_000_000_000_000

function retryAfterMsOf(headers: Headers): number | undefined {
  for (const name of RESET_HEADERS) {
    const value = headers.get(name)
    if (value === null) continue
    const seconds = Number(value)
    // The date of the same answer is the endpoint's own clock.
    const nowMs = Date.parse(headers.get('date') ?? '')
    const untilMs = Number.isNaN(seconds)
      ? Date.parse(value) - nowMs
      : seconds > EPOCH_SECONDS_MIN
        ? (seconds > EPOCH_MS_MIN ? seconds : seconds * 1000) - nowMs
        : seconds * 1000
    if (untilMs >= 0) return untilMs
  }
  return undefined
}

/** Methods whose result is null while a node does not have the block. */
const OF_A_BLOCK: readonly string[] = ['eth_getBlockByNumber', 'eth_getBlockReceipts']

/** Methods that name a transaction, which may be of any block. */
const OF_A_TRANSACTION: readonly string[] = [
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
]

/** @throws NotYetError when the node has nothing of a block that another node has */
function checkThere(args: Request, answer: unknown, newest: number): void {
  if (answer !== null || !OF_A_BLOCK.includes(args.method)) return
  const number = blockOf(args)
  if (number === undefined || number > newest || number < newest - NOT_YET_BLOCKS) return
  throw new NotYetError(`block ${number} is not there yet`)
}

/** Number of blocks by which nodes of one endpoint usually differ, with some reserve. */
const NOT_YET_BLOCKS = 4
/** Depths at which the open rounds, and then the past, begin. A round has about 75 blocks. */
const ROUNDS_DEPTH = 16
const PAST_DEPTH = 600

/** The newest blocks are read before open rounds, and those before the past. */
function urgencyOf(args: Request, newest: number): Urgency {
  const number = blockOf(args)
  if (number === undefined && OF_A_TRANSACTION.includes(args.method)) return 1
  if (number === undefined || newest === 0) return 0
  const depth = newest - number
  if (depth <= ROUNDS_DEPTH) return 0
  return depth <= PAST_DEPTH ? 1 : 2
}

/** Number of the block that a request is about; undefined if it names none. */
function blockOf({ params }: Request): number | undefined {
  if (!Array.isArray(params)) return undefined
  const [first, second] = params
  const range =
    typeof first === 'object' && first !== null && 'toBlock' in first ? first.toBlock : undefined
  const named = [range, second, first].find((value) => isQuantity(value))
  return named === undefined ? undefined : Number(named)
}

function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value)
}
