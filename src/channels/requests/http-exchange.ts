/** One HTTP request and the start of its response, without the streams that undici's `request` creates. */
import type { Dispatcher } from 'undici'

/** Maximum number of bytes of a response body that are read before the connection is closed. */
const RESPONSE_BYTES_MAX = 16 * 1024
/** Timeout of the body. The status is already known; reading the body only keeps the connection usable. */
const BODY_TIMEOUT_MS = 1000

/**
 * Ends of a response that are not failures. Created once, because the stack trace of an error costs more
 * than the request.
 */
const COMPLETE = new Error('the response is complete')
const TOO_LONG = new Error('the response is too long')

/** Status, wait, and start of the body of a response. */
export interface SafeAnswer {
  readonly statusCode: number
  readonly retryAfter: string | undefined
  /** At most 16 KiB that arrived within a second; of a broken body, the part that arrived. */
  readonly text: string
}

/**
 * Sends one request. If the call ends before the status line, the request is not sent afterwards, even if
 * the connection opens later. Long because its timers and the parts of the response share what has arrived.
 *
 * @param until `timeoutMs`: timeout of the status line
 * @throws the error of undici, `TimeoutError`, or the reason of the signal
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<SafeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SafeAnswer>()
  const chunks: Buffer[] = []
  let bytes = 0
  let head: Omit<SafeAnswer, 'text'> | undefined
  /** Set when the exchange ends, which happens once. */
  let ending: Error | undefined
  let connection: Dispatcher.DispatchController | undefined

  /** Ends the exchange with what has arrived, or with the error if the status line is missing. */
  function end(error: Error): void {
    if (ending !== undefined) return
    ending = error
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    if (head === undefined) reject(error)
    else {
      const start = Buffer.concat(chunks).subarray(0, RESPONSE_BYTES_MAX)
      resolve({ ...head, text: start.toString('utf8') })
    }
  }

  /** Ends the exchange and closes the connection. */
  function breakOff(error: Error): void {
    end(error)
    connection?.abort(error)
  }

  const abort = () => breakOff(signal.reason)
  const tooSlow = () => breakOff(new DOMException('the response took too long', 'TimeoutError'))
  let timer = setTimeout(tooSlow, timeoutMs)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  else {
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        connection = controller
        if (ending !== undefined) controller.abort(ending)
      },
      onResponseStart: (_controller, statusCode, headers) => {
        if (statusCode < 200) return
        const retryAfter = headers['retry-after']
        head = { statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter }
        clearTimeout(timer)
        timer = setTimeout(tooSlow, BODY_TIMEOUT_MS)
      },
      onResponseData: (_controller, chunk) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes >= RESPONSE_BYTES_MAX) breakOff(TOO_LONG)
      },
      onResponseEnd: () => end(COMPLETE),
      onResponseError: (_controller, error) => end(error),
    })
  }
  return promise
}
