import { orderedSeconds } from '#src/kernel/ordered-wait.ts'
import { DeliveryError } from '../define.ts'
import type { FailureReason } from '../failure-reasons.ts'
import type { SafeAnswer } from './http-exchange.ts'

/**
 * Error for an HTTP response; undefined for every 2xx. Redirects are errors too, because they are not
 * followed.
 *
 * @param gone statuses of endpoints that are gone permanently
 */
export function refusalOf(
  { statusCode, retryAfter }: Pick<SafeAnswer, 'statusCode' | 'retryAfter'>,
  { gone, now }: { readonly gone: readonly number[]; readonly now: Date },
): DeliveryError | undefined {
  if (statusCode >= 200 && statusCode < 300) return undefined
  const permanent = gone.includes(statusCode)
  const wait = retryAfterSeconds(retryAfter, now)
  return new DeliveryError(permanent ? 'gone' : reasonOf(statusCode), {
    permanent,
    statusCode,
    ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
  })
}

/**
 * Error for a rate limit, the other service's or our limiter in front of it: the wait is mandatory, and the
 * destination is not at fault.
 */
export function rateLimitError(seconds: number, statusCode?: number): DeliveryError {
  return new DeliveryError('flood', {
    retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
    retryAfterIsMandatory: true,
    isOurFault: true,
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}

/**
 * The wait, in seconds, that an answer 429 orders: what the service states in its own way, otherwise `Retry-After`,
 * otherwise what is usual for the channel.
 */
export function floodSeconds(
  { retryAfter }: Pick<SafeAnswer, 'retryAfter'>,
  {
    now,
    stated,
    usual,
  }: { readonly now: Date; readonly stated?: number | undefined; readonly usual: number },
): number {
  return orderedSeconds(stated ?? retryAfterSeconds(retryAfter, now) ?? usual)
}

/** What a larger number of seconds counts as (RFC 9111, section 1.2.2). */
const DELTA_SECONDS_MAX = 2 ** 31

/**
 * Parses a `Retry-After` value into seconds from `now`, at least 0; undefined if it is invalid.
 *
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(Number(text), DELTA_SECONDS_MAX)
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}

function reasonOf(statusCode: number): FailureReason {
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : `status_${statusCode}`
}
