import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { AppError } from './errors.ts'

/** A count of the requests of a key, including the request that was just counted. */
export interface RequestCount {
  /** Number of requests. */
  readonly requests: number
  /** Time until the count starts again at 0. */
  readonly leftMs: number
}

/**
 * Counts a request of a key, `weight` times, and returns the count even if it exceeds the limit, where `limiter.consume` would
 * reject.
 */
export async function countRequest(
  limiter: RateLimiterAbstract,
  key: string,
  weight = 1,
): Promise<RequestCount> {
  const counted = limiter.consume(key, weight).catch((reason: unknown) => {
    if (reason instanceof RateLimiterRes) return reason
    throw reason
  })
  const { consumedPoints, msBeforeNext } = await counted
  return { requests: consumedPoints, leftMs: msBeforeNext }
}

/** The refusal of a request beyond the limit, with the seconds until the next allowed one. */
export function tooManyRequests({ leftMs }: RequestCount): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1000))
  return new AppError('rate_limited', 'rate_limited', {
    retryAfterSeconds,
    values: { seconds: retryAfterSeconds },
  })
}
