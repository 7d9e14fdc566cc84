import { DeliveryError } from './define.ts'
import type { SafeAnswer } from './safe-fetch.ts'

/**
 * The refusal an HTTP answer stands for; undefined for every 2xx. Redirects are refusals too, since
 * they are never followed.
 *
 * @param gone statuses that mean the endpoint is gone for good
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

/** Somebody else's limit: to be kept to the second, and nothing the destination did wrong. */
export function floodError(seconds: number, statusCode?: number): DeliveryError {
  return new DeliveryError('flood', {
    retryAfterSeconds: Math.max(1, Math.ceil(seconds)),
    retryAfterIsMandatory: true,
    isOurFault: true,
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}

/**
 * What a `Retry-After` value asks for, in seconds from `now`, never negative. undefined when it says
 * nothing usable.
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
