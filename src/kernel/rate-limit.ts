import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from './errors.ts'

/**
 * Consumes one point of a key and returns the count also when the limit is exceeded, where the limiter
 * itself rejects.
 */
export async function countOne(limiter: RateLimiterAbstract, key: string): Promise<RateLimiterRes> {
  return limiter.consume(key).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
}

/** The refusal of a request beyond the limit, with the seconds until the next allowed one. */
export function tooManyRequests({ msBeforeNext }: RateLimiterRes): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new AppError('rate_limited', 'rate_limited', {
    retryAfterSeconds,
    values: { seconds: retryAfterSeconds },
  })
}
