import type { HttpRefusal } from './rpc-faults.ts'
import { RATE_REFUSALS } from './rpc-words.ts'

/** Number of requests that an endpoint accepts. */
export interface RateRule {
  readonly perMinute?: number
  readonly perSecond?: number
  /** Who refuses, and how; a page with status 429 by default. */
  readonly refusal?: keyof typeof RATE_REFUSALS
}

/** Requests that may come at once, and how fast the number grows back. */
interface TokenBucket {
  readonly size: number
  readonly perMs: number
  tokens: number
  filledAt: number
}

/** Refuses requests above a rate. */
export interface RateLimit {
  /**
   * Takes a number of requests, or refuses all of them.
   *
   * @param nowMs time of a monotonic clock
   */
  take(requests: number, nowMs: number): HttpRefusal | undefined
}

/** A full token bucket for each period of a rule; a refused request takes nothing. */
export function createRateLimit(rule: RateRule): RateLimit {
  const buckets = [
    { size: rule.perSecond, periodMs: 1000 },
    { size: rule.perMinute, periodMs: 60_000 },
  ].flatMap(({ size, periodMs }): TokenBucket[] =>
    size === undefined ? [] : [{ size, perMs: size / periodMs, tokens: size, filledAt: 0 }],
  )
  return {
    take: (requests, nowMs) => {
      for (const bucket of buckets) fill(bucket, nowMs)
      const waitMs = Math.max(...buckets.map((one) => (requests - one.tokens) / one.perMs))
      if (waitMs > 0) return RATE_REFUSALS[rule.refusal ?? 'page'](Math.ceil(waitMs / 1000))
      for (const bucket of buckets) bucket.tokens -= requests
      return undefined
    },
  }
}

function fill(bucket: TokenBucket, nowMs: number): void {
  const grown = (nowMs - bucket.filledAt) * bucket.perMs
  bucket.tokens = Math.min(bucket.size, bucket.tokens + grown)
  bucket.filledAt = nowMs
}
