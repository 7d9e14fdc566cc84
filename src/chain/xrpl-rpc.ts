import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'

/** One call of a method, and the shape of its answer. */
export interface XrplCall<T> {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly schema: z.ZodType<T>
}

/**
 * JSON-RPC of one server of the XRP Ledger. Rejects with AppError upstream `dependency_unavailable` when
 * it gives no usable answer in time, and with the signal's reason when the caller gives up.
 */
export interface XrplRpc {
  /** What a method answers. Any error is the server's failure. */
  ask<T>(call: XrplCall<T>, signal: AbortSignal | undefined): Promise<T>
  /**
   * The same for what may not exist.
   *
   * @param absent the error that says so, such as `txnNotFound`: then undefined
   */
  find<T>(
    call: XrplCall<T>,
    absent: string,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined>
  /** What to throw for an answer that cannot be used, though its shape is right. */
  unusable(reason: string): AppError
}

/** How the server is reached. */
export interface XrplRpcOptions {
  /** http or https. Credentials in it never reach the log. */
  readonly url: string
  readonly log: Logger
  /** How long one call may take. */
  readonly timeoutMs: number
}

/** A result, or the token of an error. */
type Answer = { readonly result: unknown } | { readonly error: string }

const Envelope = z.object({ result: z.looseObject({ error: z.string().optional() }) })

/** The version whose answers name ledgers by hash and say what was delivered. */
const API_VERSION = 2
const RETRY_AFTER_SECONDS = 10
/** Errors are short words; anything longer is not repeated. */
const TOKEN_LENGTH_MAX = 60

/** Calls one server. Connects to nothing before the first call. */
export function createXrplRpc({ url, log, timeoutMs }: XrplRpcOptions): XrplRpc {
  const { origin, address, authorization } = readUrl(url)
  const headers = { 'content-type': 'application/json', ...authorization }
  let isFailing = false

  function failed(reason: string): AppError {
    if (!isFailing) log.warn({ origin, reason }, 'xrp ledger server failed')
    isFailing = true
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
    const cause = new Error(`xrp ledger: ${reason}`)
    return new AppError('upstream', 'dependency_unavailable', details, { cause })
  }

  async function post(body: string, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted()
    const limit = AbortSignal.timeout(timeoutMs)
    const both = signal ? AbortSignal.any([signal, limit]) : limit
    try {
      const init = { method: 'POST', headers, body, redirect: 'error', signal: both } as const
      const response = await fetch(address, init)
      const text = await response.text()
      return response.status === 200 ? readAnswer(text) : { error: `http ${response.status}` }
    } catch {
      signal?.throwIfAborted()
      return { error: limit.aborted ? 'timeout' : 'connection failed' }
    }
  }

  async function find<T>(
    { method, parameters, schema }: XrplCall<T>,
    absent: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined> {
    const params = [{ ...parameters, api_version: API_VERSION }]
    const answer = await post(JSON.stringify({ method, params }), signal)
    if ('error' in answer && answer.error !== absent) throw failed(`${method}: ${answer.error}`)
    const parsed = 'result' in answer ? schema.safeParse(answer.result) : undefined
    if (parsed?.success === false) throw failed(`${method}: answer of another shape`)
    if (isFailing) log.info({ origin }, 'xrp ledger server answers again')
    isFailing = false
    return parsed?.data
  }

  return {
    async ask(call, signal) {
      const found = await find(call, undefined, signal)
      if (found === undefined) throw failed(`${call.method}: no answer`)
      return found
    },
    find,
    unusable: failed,
  }
}

/** An address without its name and password, which `fetch` wants in a header. */
function readUrl(url: string) {
  const address = new URL(url)
  const { origin, username, password } = address
  const secret = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  address.username = ''
  address.password = ''
  const authorization = username && { authorization: `Basic ${secret.toString('base64')}` }
  return { origin, address, authorization: authorization || {} }
}

function readAnswer(text: string): Answer {
  const { data } = Envelope.safeParse(jsonOf(text))
  if (data === undefined) return { error: 'answer of another shape' }
  const { error } = data.result
  return error === undefined ? { result: data.result } : { error: error.slice(0, TOKEN_LENGTH_MAX) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A page of a proxy, perhaps: no answer of a method.
    return undefined
  }
}
