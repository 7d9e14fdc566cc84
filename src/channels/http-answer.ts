import { DeliveryError } from './define.ts'
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
 * Parses a `Retry-After` value into seconds from `now`, at least 0; undefined if it is invalid.
 *
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterSeconds(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const at = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}

function reasonOf(statusCode: number): string {
  return statusCode >= 300 && statusCode < 400 ? 'redirect' : `status_${statusCode}`
}
