import { BaseError, HttpRequestError, RpcRequestError } from 'viem'
import { ZodError } from 'zod'

/** An endpoint gave no usable answer. Its message is safe to log: no address, no credentials. */
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
 * A call of a contract that anybody may name was not carried out. That may be the contract's fault: another
 * endpoint is asked, and this one is not taken for unwell.
 */
export class CallFailure extends EndpointError {}

/** What nodes say when the contract itself failed, as opposed to the node. */
const EXECUTION_FAILED =
  /revert|out of ?gas|gas required exceeds|invalid ?opcode|opcode .+ not defined|invalid ?fe ?opcode|invalid ?jump|stack ?(under|over)flow|stack limit|write protection|returndata|return data out of bounds|max (init)?code size|initcode size|contract address collision|^EVM error/i

/** The code of a revert with data. @see geth, `internal/ethapi/errors.go` */
const REVERT_CODE = 3

/** Whether the call itself failed on chain: asking another endpoint would give the same. */
export function isExecutionFailure(error: unknown): boolean {
  const answer = rpcErrorOf(error)
  if (answer === undefined) return false
  return answer.code === REVERT_CODE || EXECUTION_FAILED.test(answer.details)
}

/** Whether `error` says something about the endpoint; anything else is a mistake of ours. */
export function isEndpointFailure(error: unknown): boolean {
  return error instanceof BaseError || error instanceof ZodError || error instanceof EndpointError
}

/** Statuses with which a server refuses one request and may answer the next. */
const REFUSING: readonly number[] = [408, 425, 429, 500, 502, 503, 504]
/** Codes with which nodes limit requests, and their words for it. */
const LIMITED: readonly number[] = [-32005, -32029, -32097]
const TOO_BUSY = /too many requests|rate.?limit|capacity|overload|throttl|\bbusy\b|try again/i
/** The question is too large: asked again it is so once more. */
const TOO_LARGE = /result|range|blocks|logs|maximum/i

/**
 * Whether an endpoint refused just this request, so that it may answer it a moment later.
 *
 * @param withBroken whether a connection that broke is such a refusal
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

/** What nodes say when they keep the state of an old block no more: geth, coreth, Erigon, Nethermind, Besu. */
const PRUNED =
  /missing trie node|state .*(not available|unavailable|pruned|not found)|pruned|historical state|archive (node|state|data)|old data not available|world state/i

/** Whether an endpoint answered that it keeps the state of the block asked for no more. */
export function isPruned(error: unknown): boolean {
  const answer = rpcErrorOf(error)
  return answer !== undefined && !LIMITED.includes(answer.code) && PRUNED.test(answer.details)
}

/**
 * Why an endpoint failed, short and safe to log.
 *
 * viem's own messages carry the endpoint's address, which may hold a key; a node may repeat it.
 *
 * @param url the endpoint's address, so that its parts can be kept out
 */
export function describeFailure(error: unknown, url: string): string {
  if (error instanceof EndpointError) return error.message
  if (error instanceof ZodError) return 'answer of another shape'
  const answer = rpcErrorOf(error)
  if (answer !== undefined) {
    return `rpc ${answer.code}: ${withoutSecrets(answer.details, url)}`.slice(0, 160)
  }
  const http = error instanceof BaseError ? error.walk((e) => e instanceof HttpRequestError) : null
  if (http instanceof HttpRequestError && http.status !== undefined) return `http ${http.status}`
  return http instanceof HttpRequestError ? 'connection failed' : 'answer not readable'
}

/** The JSON-RPC error that a node answered with, if that is what went wrong. */
export function rpcErrorOf(error: unknown): RpcRequestError | undefined {
  if (!(error instanceof BaseError)) return undefined
  const found = error.walk((e) => e instanceof RpcRequestError)
  return found instanceof RpcRequestError ? found : undefined
}

/** A path, a query or a password can be a key, or hold one. */
function withoutSecrets(text: string, url: string): string {
  const { pathname, search, username, password } = new URL(url)
  return [...pathname.split('/'), ...search.split(/[?&=]/), username, password]
    .filter((part) => part.length > 3)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text)
}
