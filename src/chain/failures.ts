import { BaseError, HttpRequestError, RpcRequestError } from 'viem'
import { ZodError } from 'zod'

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

/** HTTP statuses of a server that refuses one request and may answer the next. */
const REFUSING: readonly number[] = [408, 425, 429, 500, 502, 503, 504]
/** Error codes with which nodes limit requests. */
const LIMITED: readonly number[] = [-32005, -32029, -32097]
const TOO_BUSY = /too many requests|rate.?limit|capacity|overload|throttl|\bbusy\b|try again/i
/** Words in an error that a repeated request would cause again, because its result is too large. */
const TOO_LARGE = /result|range|blocks|logs|maximum/i

/**
 * Whether an endpoint refused only this request, and may accept it a moment later.
 *
 * @param withBroken whether a broken connection counts as a refusal
 */
export function isRefusal(error: unknown, withBroken: boolean): boolean {
  const answer = rpcErrorOf(error)
  if (answer !== undefined) {
    if (TOO_LARGE.test(answer.details)) return false
    return LIMITED.includes(answer.code) || TOO_BUSY.test(answer.details)
  }
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null
  if (!(http instanceof HttpRequestError)) return false
  return http.status === undefined ? withBroken : REFUSING.includes(http.status)
}

/**
 * Words in errors of nodes whose state of an old block is pruned: geth, coreth, Erigon, Nethermind, Besu,
 * anvil.
 */
const PRUNED =
  /missing trie node|state .*(not available|unavailable|pruned|not found)|pruned|historical state|archive (node|state|data)|old data not available|world state|BlockOutOfRange/i

/** Whether an error says that the state of the requested block is pruned. */
export function isPruned(error: unknown): boolean {
  const answer = rpcErrorOf(error)
  return answer !== undefined && !LIMITED.includes(answer.code) && PRUNED.test(answer.details)
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
    return `rpc ${answer.code}: ${withoutSecrets(answer.details, url, headers)}`.slice(0, 160)
  }
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null
  if (http instanceof HttpRequestError && http.status !== undefined) return `http ${http.status}`
  return http instanceof HttpRequestError ? 'connection failed' : 'answer not readable'
}

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
