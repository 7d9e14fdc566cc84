/** Decides whether a failed call is repeated, and after which time. */

/** Answers after which another attempt may succeed. */
const STATUSES: readonly number[] = [429, 500, 502, 503, 504]
/** The first request with this key is still running. */
const IN_PROGRESS = 'idempotency_in_progress'

const FIRST_WAIT_MS = 250
const WAIT_MS_MAX = 8000

/** Whether a refusal may end when the same call is repeated. */
export function isTemporary(status: number, code: string): boolean {
  return STATUSES.includes(status) || code === IN_PROGRESS
}

/**
 * Milliseconds until the next attempt: what the service asks for, otherwise a random part of a time that
 * doubles from attempt to attempt, so that many clients do not return together.
 *
 * @param attempt number of failed attempts, from 1
 * @param random from 0 to 1
 */
export function waitMs(
  attempt: number,
  retryAfterSeconds: number | undefined,
  random: number,
): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000
  return Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + random / 2)
}

/** What a larger number of seconds counts as (RFC 9111, section 1.2.2). */
const SECONDS_MAX = 2 ** 31

/** Seconds of a `Retry-After` header, which is a number or a date; undefined for anything else. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), SECONDS_MAX)
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}

/** Resolves after a time, or rejects with the reason of the signal. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return void reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
