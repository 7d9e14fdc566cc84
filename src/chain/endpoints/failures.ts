import { BaseError, HttpRequestError, RpcRequestError } from 'viem'
import { ZodError } from 'zod'
import { connectionCause } from './connection-cause.ts'

/** An endpoint returned no usable result. The message is safe to log: it has no URL and no credentials. */
export class EndpointError extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'EndpointError'
  }
}

/** An endpoint did not answer in time. */
export class EndpointTimeout extends EndpointError {
  constructor() {
    super('timeout')
  }
}

/** No endpoint returned a usable result. */
export class EndpointsFailed extends EndpointError {
  /** Whether the log of the endpoints says so already, once for all callers. */
  readonly isLogged: boolean

  constructor(reason: string, isLogged: boolean) {
    super(reason)
    this.isLogged = isLogged
  }
}

/**
 * A call of a contract that a user named failed. The contract may be at fault: another endpoint is asked,
 * and the endpoint that failed does not rest.
 */
export class CallFailure extends EndpointError {}

/** Words in nodes' errors for a failed execution, as opposed to a failure of the node. */
const EXECUTION_FAILED =
  /revert|out of ?gas|gas required exceeds|invalid ?opcode|opcode .+ not defined|invalid ?fe ?opcode|invalid ?jump|stack ?(under|over)flow|stack limit|write protection|returndata|return data out of bounds|max (init)?code size|initcode size|contract address collision|^EVM error/i

/** The code of a revert with data. @see geth, `internal/ethapi/errors.go` */
const REVERT_CODE = 3

/** Whether the call itself failed on chain: another endpoint would return the same error. */
export function isExecutionFailure(error: unknown): boolean {
  const answer = rpcErrorOf(error)
  if (answer === undefined) return false
  return answer.code === REVERT_CODE || EXECUTION_FAILED.test(answer.details)
}

/** Whether `error` is the endpoint's fault; anything else is a bug of this service. */
export function isEndpointFailure(error: unknown): boolean {
  return error instanceof BaseError || error instanceof ZodError || error instanceof EndpointError
}

/** An endpoint refused requests for longer than a request may wait. It is not broken. */
export class EndpointBusy extends EndpointError {}

/** A node does not have a block yet that other nodes have. It will have it a moment later, and is not broken. */
export class NotYetError extends EndpointError {}

/**
 * An HTTP answer whose status says more than its body, such as 429 with an error of JSON-RPC in it.
 */
export class RefusedRequest extends EndpointError {
  /** HTTP status of the answer. */
  readonly status: number

  constructor(status: number) {
    super(`http ${status}`)
    this.status = status
  }
}

/** HTTP status with which a server limits requests. */
const TOO_MANY_REQUESTS = 429
/**
 * HTTP statuses of a server, or of the network in front of it, that refuses one request and may answer the
 * next.
 * @see Cloudflare, "5xx errors", for 520 to 530
 */
const REFUSING: readonly number[] = [
  ...[408, 425, TOO_MANY_REQUESTS, 500, 502, 503, 504],
  ...[520, 521, 522, 523, 524, 525, 526, 527, 529, 530],
]
/**
 * Error codes with which nodes and gateways limit requests. -32005 is also the code of a result that is too
 * large, so its words decide.
 * @see EIP-1474; QuickNode, "error codes", for -32007 and -32012
 */
const LIMITED: readonly number[] = [-32007, -32011, -32012, -32016, -32029, -32090, -32097, 429]
const LIMITED_OR_TOO_LARGE = -32005
/** Error code of a failure inside a node. */
const INTERNAL = -32603
/** Words in errors that concern the number of requests, not one request. */
const TOO_MANY =
  /too many .{0,20}(request|call|connection)s?\b|rate.?limit|rate exceeded|concurren|requests? ?(per|\/|limit|count|rate)|(per|\/) ?(second|sec|minute|min|hour|day)\b|(daily|monthly) .{0,20}limit|credits?|compute units?|\bCUs?\b|throughput|capacity|quota|throttl|\bRPS\b/i
/** A time in which requests are counted. */
const PER_TIME =
  /(per|\/|each|every|a|\d) ?(seconds?|secs?|minutes?|mins?|hours?|days?)\b|daily|monthly|\bRPS\b/i
/** Words in errors of a node that cannot answer now. */
const TOO_BUSY =
  /overload|\bbusy\b|try again|temporar|unavailable, retry|internal (server )?error|bad gateway|upstream/i
/** Words in an error that a repeated request would cause again, because its result is too large. */
const TOO_LARGE =
  /too (many|much) (results?|logs|blocks)|too (large|wide)|range|blocks?\b|results?|\blogs\b|maximum|response size/i

/** Whether an endpoint limits the number of requests, so that later ones are answered. */
export function isRateLimit(error: unknown): boolean {
  if (error instanceof RefusedRequest) return error.status === TOO_MANY_REQUESTS
  const answer = rpcErrorOf(error)
  if (answer === undefined) return httpStatusOf(error) === TOO_MANY_REQUESTS
  // A contract writes the text of a revert, so that text says nothing about the endpoint.
  if (isExecutionFailure(error)) return false
  if (LIMITED.includes(answer.code)) return true
  const text = textOf(answer)
  if (isAboutRange(text)) return false
  if (TOO_MANY.test(text)) return true
  if (answer.code === INTERNAL && /^limit exceeded/i.test(text)) return true
  return answer.code === LIMITED_OR_TOO_LARGE && !TOO_LARGE.test(text)
}

/** Whether a text states a maximum number of blocks, and no time in which requests are counted. */
function isAboutRange(text: string): boolean {
  return (
    /\d\s*(k\s*)?-?blocks?\b|blocks?\s*range|range\b.{0,40}\d/i.test(text) && !PER_TIME.test(text)
  )
}

/**
 * Whether an endpoint refused only this request, and may accept it a moment later.
 *
 * @param withBroken whether a broken connection counts as a refusal
 */
export function isRefusal(error: unknown, withBroken: boolean): boolean {
  if (isRateLimit(error)) return true
  if (error instanceof RefusedRequest) return REFUSING.includes(error.status)
  const answer = rpcErrorOf(error)
  if (answer !== undefined) {
    const text = textOf(answer)
    if (TOO_LARGE.test(text) || isExecutionFailure(error)) return false
    return answer.code === INTERNAL || TOO_BUSY.test(text)
  }
  if (isConnectionFailure(error)) return withBroken
  const status = httpStatusOf(error)
  return status !== undefined && REFUSING.includes(status)
}

/**
 * Words in errors about a block that the node does not have yet: coreth, geth, Erigon, Nethermind, Besu,
 * anvil.
 * @see coreth, `eth/api_backend.go` and `eth/filters/filter.go`
 */
const NOT_YET =
  /unfinalized data|after last accepted block|header not found|\b(header|block)\b.{0,40}(not|cannot be|could not be) (be )?(found|available)|could not find block|unknown block|unknown header|future block|block.{0,20}in the future|beyond (current |the |chain )*(head|latest|tip)|not yet (available|accepted|finalized)|(greater|higher|later|newer) than (the )?(latest|head|current)|past (the )?head|(chain )?head is behind|latest block is \d+/i
const ABOVE_ANVIL = /block height is (\d+) but requested was (\d+)/i

/**
 * Whether a node does not have the requested block yet. Behind one address there are often several nodes,
 * of which some are a block or two behind the one that reported the block.
 */
export function isNotYet(error: unknown): boolean {
  if (error instanceof NotYetError) return true
  const answer = rpcErrorOf(error)
  if (answer === undefined || isRateLimit(error) || isExecutionFailure(error)) return false
  const text = textOf(answer)
  const [, height, requested] = ABOVE_ANVIL.exec(text) ?? []
  if (height !== undefined) return Number(requested) > Number(height)
  return NOT_YET.test(text) && !/\bstate\b/i.test(text)
}

/**
 * Words in errors of nodes whose state of an old block is pruned: geth, coreth, Erigon, Nethermind, Besu,
 * anvil.
 */
const PRUNED =
  /missing (trie node|state)|no state available|state .*(not available|unavailable|pruned|not found)|pruned|historical state|state histor|archive (node|state|data|request)|old data not available|world state|block is too old|revision not found|BlockOutOfRange/i

/** Whether an error says that the state of the requested block is pruned. */
export function isPruned(error: unknown): boolean {
  const answer = rpcErrorOf(error)
  if (answer === undefined || isRateLimit(error) || isNotYet(error)) return false
  return !isExecutionFailure(error) && PRUNED.test(textOf(answer))
}

/** Words in nodes' errors for a request of events that covers too much. */
const TOO_MUCH =
  /too (many|much|large|wide|big)|range|limit|max(imum)?\b|exceed|more than|smaller than|less than|up to|timed? ?out|response size|result set/i
const PAYLOAD_TOO_LARGE = 413

/** Whether a request of events covers more blocks, or returns more, than the endpoint allows. */
export function isTooLarge(error: unknown): boolean {
  if (isNotYet(error)) return false
  if (error instanceof RefusedRequest) return error.status === PAYLOAD_TOO_LARGE
  const answer = rpcErrorOf(error)
  // With this code it may be either, and pauses did not help.
  if (answer?.code === LIMITED_OR_TOO_LARGE) return !TOO_MANY.test(textOf(answer))
  if (isRateLimit(error)) return false
  if (answer === undefined) return httpStatusOf(error) === PAYLOAD_TOO_LARGE
  return TOO_MUCH.test(textOf(answer))
}

/** Words before a maximum number of blocks, and the number. */
const STATED_MAX = [
  /(?:max(?:imum)?|limit(?:ed)?|up to|at most|smaller than|less than|within|exceeds?|larger than|greater than|more than|allowed)\D{0,40}?(\d[\d,_]*)\s*(k\b)?(?!\s*(?:results?|logs|events|items|entries|ms\b|s\b|sec|[\d,_]))/gi,
  /(\d[\d,_]*)\s*(k)?[\s-]*blocks?\b/gi,
  /blocks?\D{0,12}?(\d[\d,_]*)\s*(k\b)?(?!\s*(?:results?|logs|[\d,_]))/gi,
]
/** A range that the endpoint offers, as two block numbers. */
const STATED_RANGE = /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i

/**
 * The maximum number of blocks that an endpoint states in the text or the data of an error.
 *
 * @param below number of blocks of the refused request; a larger number in the text means something else
 */
export function statedMaximum(error: unknown, below: number): number | undefined {
  const answer = rpcErrorOf(error)
  if (answer === undefined) return undefined
  const text = textOf(answer)
  const [, first, last] = STATED_RANGE.exec(text) ?? []
  const offered = first === undefined ? Number.NaN : Number(last) - Number(first) + 1
  const numbers = STATED_MAX.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(
      ([, digits = '', k]) => Number(digits.replaceAll(/[,_]/g, '')) * (k === undefined ? 1 : 1000),
    ),
  )
  const fitting = [offered, ...numbers].filter((blocks) => blocks >= 1 && blocks < below)
  return fitting.length === 0 ? undefined : Math.min(...fitting)
}

/**
 * Reason of an endpoint's failure, short and safe to log.
 *
 * viem's messages contain the endpoint's URL, which may contain a key; a node's message may repeat the URL.
 *
 * @param url the endpoint's URL, whose parts are removed
 */
export function describeFailure(
  error: unknown,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  if (error instanceof EndpointError) return error.message
  if (error instanceof ZodError) return 'malformed response'
  const answer = rpcErrorOf(error)
  if (answer !== undefined) {
    return `rpc ${answer.code}: ${withoutSecrets(textOf(answer), url, headers)}`.slice(0, 160)
  }
  const status = httpStatusOf(error)
  if (status !== undefined) return `http ${status}`
  return describeUnreadable(error)
}

/** Reason of a failure without status: no connection, or an answer that is not JSON. */
function describeUnreadable(error: unknown): string {
  const http = httpErrorOf(error)
  if (http === undefined) return 'answer not readable'
  if (http.cause instanceof SyntaxError) return 'not JSON'
  const cause = connectionCause(http)
  return cause === undefined ? 'connection failed' : `connection failed: ${cause}`
}

function isConnectionFailure(error: unknown): boolean {
  const http = httpErrorOf(error)
  return http !== undefined && http.status === undefined && !(http.cause instanceof SyntaxError)
}

function httpErrorOf(error: unknown): HttpRequestError | undefined {
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null
  return http instanceof HttpRequestError ? http : undefined
}

function httpStatusOf(error: unknown): number | undefined {
  return httpErrorOf(error)?.status
}

/** Message and data of an error. Some nodes give the reason only in the data. */
function textOf({ details, data }: RpcRequestError): string {
  if (data === undefined || data === null) return details
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
  return text.startsWith('0x') ? details : `${details} ${text}`.slice(0, TEXT_MAX)
}

/** Longest text of an error that is searched. */
const TEXT_MAX = 2000

/** Finds the JSON-RPC error of a node inside an error; undefined if there is none. */
export function rpcErrorOf(error: unknown): RpcRequestError | undefined {
  if (!(error instanceof BaseError)) return undefined
  const rpcError = error.walk((e) => e instanceof RpcRequestError)
  return rpcError instanceof RpcRequestError ? rpcError : undefined
}

/** Removes path, query, password and values of headers, each of which can be a key or contain one. */
function withoutSecrets(
  text: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): string {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(' ')])
  const { pathname, search, username, password } = new URL(url)
  return [...pathname.split('/'), ...search.split(/[?&=]/), username, password, ...values]
    .filter((part) => part.length > 3)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text)
}
