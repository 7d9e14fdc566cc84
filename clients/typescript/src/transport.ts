import { WatchdogError } from './errors.ts'
import type { Problem } from './generated/models.ts'
import { isTemporary, pause, readRetryAfter, waitMs } from './retries.ts'

/** Settings of a client. */
export interface WatchdogOptions {
  /** Address of the API, such as `https://watchdog.example.org/api/x402`. */
  readonly baseUrl: string
  /** API token. Without one only public operations work. */
  readonly token?: string | undefined
  /** Language of error texts and of texts in answers; the service supports en, de, fr, bn, zh, hi and ar. */
  readonly locale?: string | undefined
  /** Further attempts of a call that can be repeated safely; 2 by default. */
  readonly retries?: number | undefined
  /** Longest wait before another attempt, in milliseconds; 60,000 by default. If the service asks for more, the call fails. */
  readonly waitMsMax?: number | undefined
  /** Upper limit of one attempt, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Settings of one call. */
export interface CallOptions {
  /** Ends the call and its waits. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Called with status and headers of a successful answer, such as `etag` and `ratelimit`. */
  readonly onAnswer?: ((answer: AnswerHead) => void) | undefined
}

/** Settings of a call that takes effect once for each key. */
export interface KeyedCallOptions extends CallOptions {
  /** The same key gives the same answer for 24 hours. A random one by default, the same for all attempts of the call. */
  readonly idempotencyKey?: string | undefined
}

/** Settings of a call that changes something only if it has not changed since it was read. */
export interface VersionedCallOptions extends CallOptions {
  /** The `etag` of the answer that the change is based on. */
  readonly ifMatch?: string | undefined
}

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Headers
}

/** A call, before its options. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>> | undefined
  readonly body?: unknown
  readonly isKeyed?: boolean
  /** Media type of an answer that is streamed; JSON by default. */
  readonly accepts?: string
}

type AllOptions = KeyedCallOptions & VersionedCallOptions

const RETRIES = 2
const WAIT_MS_MAX = 60_000
const TIMEOUT_MS = 30_000
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Sends calls: token, time-outs, retries, errors. */
export abstract class Transport {
  readonly #base: string
  readonly #token: string | undefined
  readonly #options: WatchdogOptions

  /** @throws TypeError for an address without TLS, which would send the token readable, except on this machine */
  constructor(options: WatchdogOptions) {
    const url = new URL(options.baseUrl)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname))) {
      throw new TypeError('baseUrl must begin with https://')
    }
    this.#base = url.href.replace(/\/+$/, '')
    this.#token = options.token
    const { token: _token, ...others } = options
    this.#options = others
  }

  /** Sends a call and returns the parsed answer. */
  protected async request<Output>(call: Call, options?: AllOptions): Promise<Output> {
    return await this.#attempts(call, options, async (response) => {
      const text = await response.text()
      // Safe: the service answers in the form of its document, from which the types are generated.
      if (text === '') return undefined as Output
      try {
        return JSON.parse(text) as Output
      } catch (cause) {
        throw unexpected(response.status, cause)
      }
    })
  }

  /** Sends a call and returns the body of the answer as a stream. */
  protected async stream(call: Call, options?: AllOptions): Promise<ReadableStream<Uint8Array>> {
    return await this.#attempts(call, options, async ({ body, status }) => {
      if (body === null) throw unexpected(status)
      return body
    })
  }

  async #attempts<Output>(
    call: Call,
    options: AllOptions = {},
    read: (response: Response) => Promise<Output>,
  ): Promise<Output> {
    const { retries = RETRIES, waitMsMax = WAIT_MS_MAX } = this.#options
    const key = call.isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
    const isRepeatable = call.method === 'GET' || key !== undefined
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(call, options, key, read)
      } catch (error) {
        if (!(error instanceof WatchdogError) || !isRepeatable || attempt > retries) throw error
        if (error.status !== undefined && !isTemporary(error.status, error.code)) throw error
        const ms = waitMs(attempt, error.retryAfterSeconds, Math.random())
        if (ms > waitMsMax) throw error
        await pause(ms, options.signal)
      }
    }
  }

  async #attempt<Output>(
    call: Call,
    { signal, onAnswer, ifMatch }: AllOptions,
    key: string | undefined,
    read: (response: Response) => Promise<Output>,
  ): Promise<Output> {
    signal?.throwIfAborted()
    const { fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS } = this.#options
    const control = new AbortController()
    const late = new WatchdogError({ code: 'timeout', message: `No answer in ${timeoutMs} ms.` })
    const timer = setTimeout(() => control.abort(late), timeoutMs)
    const stop = () => control.abort(signal?.reason)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      const response = await fetch(this.#base + call.path + queryText(call.query), {
        method: call.method,
        headers: this.#headers(call, key, ifMatch),
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        // The API redirects nowhere, and no other host may get the token. Not `error`, which Cloudflare Workers lack.
        redirect: 'manual',
        signal: control.signal,
      })
      const { status, headers, type } = response
      if (type === 'opaqueredirect' || (status >= 300 && status < 400)) throw unexpected(status)
      if (!response.ok) throw await refusal(response)
      onAnswer?.({ status, headers })
      return await read(response)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (control.signal.aborted) throw late
      if (error instanceof WatchdogError) throw error
      throw new WatchdogError({ code: 'connection_failed', message: 'No answer.', cause: error })
    } finally {
      clearTimeout(timer)
      // A stream is read after the call; the signal ends it, too.
      if (call.accepts === undefined) signal?.removeEventListener('abort', stop)
    }
  }

  #headers(call: Call, key: string | undefined, ifMatch: string | undefined): Headers {
    const { locale } = this.#options
    return new Headers({
      accept: call.accepts ?? 'application/json',
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(locale !== undefined && { 'accept-language': locale }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    })
  }
}

function queryText(query: Call['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

function unexpected(status: number, cause?: unknown): WatchdogError {
  const message = `The answer with status ${status} is not one of Watchdog.`
  return new WatchdogError({ code: 'unexpected_answer', message, status, cause })
}

/**
 * The error of a refusal: its problem document, or `unexpected_answer` if it has none, such as an error page of a
 * proxy.
 */
async function refusal(response: Response): Promise<WatchdogError> {
  const { status, headers } = response
  const retryAfterSeconds = readRetryAfter(headers.get('retry-after'), Date.now())
  const problem = readProblem(await response.text())
  if (problem === undefined) {
    const { code, message } = unexpected(status)
    return new WatchdogError({ code, message, status, retryAfterSeconds })
  }
  const { code, title, detail } = problem
  const message = `${title}: ${detail}`
  return new WatchdogError({ code, message, status, problem, retryAfterSeconds })
}

function readProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isProblem =
      typeof value === 'object' &&
      value !== null &&
      'code' in value &&
      typeof value.code === 'string' &&
      'title' in value &&
      'detail' in value
    // Safe: an answer with these members is a problem of the service, whose OpenAPI document names the others.
    return isProblem ? (value as Problem) : undefined
  } catch {
    return undefined
  }
}
