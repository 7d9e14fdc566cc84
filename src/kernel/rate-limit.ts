import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from './errors.ts'

/** A count of requests, after a request was counted. */
export interface RequestCount {
  readonly points: number
  /** Time until the count ends. */
  readonly leftMs: number
}

/**
 * Consumes one point of a key and returns the count, even if the limit is exceeded, in which case the
 * limiter itself rejects.
 */
export async function countOne(limiter: RateLimiterAbstract, key: string): Promise<RequestCount> {
  const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  return { points: consumedPoints, leftMs: msBeforeNext }
}

/** The refusal of a request beyond the limit, with the seconds until the next allowed one. */
export function tooManyRequests({ leftMs }: RequestCount): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1000))
  return new AppError('rate_limited', 'rate_limited', {
    retryAfterSeconds,
    values: { seconds: retryAfterSeconds },
  })
}
