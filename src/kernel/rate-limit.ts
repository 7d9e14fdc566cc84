import { type RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from './errors.ts'

/** Counts one for a key, and gives the count also where it is too high: the limiter then rejects with it. */
export async function countOne(limiter: RateLimiterMemory, key: string): Promise<RateLimiterRes> {
  return limiter.consume(key).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
}

/** The refusal of a request that is one too many, with the seconds after which one is allowed again. */
export function tooManyRequests({ msBeforeNext }: RateLimiterRes): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new AppError('rate_limited', 'rate_limited', {
    retryAfterSeconds,
    values: { seconds: retryAfterSeconds },
  })
}
