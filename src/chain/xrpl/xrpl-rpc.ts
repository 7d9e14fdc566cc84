import { z } from 'zod'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'

/** One call of a method, with the schema of its result. */
export interface XrplCall<T> {
  readonly method: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly schema: z.ZodType<T>
}

/**
 * JSON-RPC client of one server of the XRP Ledger. Rejects with AppError upstream `dependency_unavailable`
 * when the server returns no usable response in time, and with the signal's reason when the caller aborts.
 */
export interface XrplRpc {
  /** Calls a method. Any error is the server's failure. */
  ask<T>(call: XrplCall<T>, signal: AbortSignal | undefined): Promise<T>
  /**
   * Like `ask`, for objects that may not exist.
   *
   * @param absent error code of a missing object, such as `txnNotFound`, for which undefined is returned
   */
  find<T>(
    call: XrplCall<T>,
    absent: string,
    signal: AbortSignal | undefined,
  ): Promise<T | undefined>
  /** Logs that the server fails, and returns the error to throw, for a response that parses but cannot be used. */
  reportUnusable(reason: string): AppError
}

/** Settings of the client. */
export interface XrplRpcOptions {
  /** URL with http or https. Its credentials are never logged. */
  readonly url: string
  readonly log: Logger
  /** Timeout of one call. */
  readonly timeoutMs: number
}

/** A result, or an error code. */
type Answer = { readonly result: unknown } | { readonly error: string }

const Envelope = z.object({ result: z.looseObject({ error: z.string().optional() }) })

/** The API version whose responses contain ledger hashes and delivered amounts. */
const API_VERSION = 2
const RETRY_AFTER_SECONDS = 10
/** Maximum length of a logged error code; the rest is cut off. */
const ERROR_CODE_LENGTH_MAX = 60

/** Creates a client of one server. It connects with the first call. */
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
    const either = signal ? AbortSignal.any([signal, limit]) : limit
    try {
      const init = { method: 'POST', headers, body, redirect: 'error', signal: either } as const
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
    if (parsed?.success === false) throw failed(`${method}: malformed response`)
    if (isFailing) log.info({ origin }, 'xrp ledger server answers again')
    isFailing = false
    return parsed?.data
  }

  return {
    async ask(call, signal) {
      const answer = await find(call, undefined, signal)
      if (answer === undefined) throw failed(`${call.method}: no answer`)
      return answer
    },
    find,
    reportUnusable: failed,
  }
}

/** Splits name and password off a URL, because `fetch` accepts them only in a header. */
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
  if (data === undefined) return { error: 'malformed response' }
  const { error } = data.result
  return error === undefined
    ? { result: data.result }
    : { error: error.slice(0, ERROR_CODE_LENGTH_MAX) }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The body is not JSON, for example an error page of a proxy.
    return undefined
  }
}
