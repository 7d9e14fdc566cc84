import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import { countOne, tooManyRequests } from '#src/kernel/rate-limit.ts'

const MINUTE_SECONDS = 60

/** Requests per number of seconds that a class allows. */
export const RATE_CLASSES = {
  challenge: { points: 10, seconds: MINUTE_SECONDS },
  token: { points: 10, seconds: MINUTE_SECONDS },
  read: { points: 600, seconds: MINUTE_SECONDS },
  write: { points: 120, seconds: MINUTE_SECONDS },
  test: { points: 10, seconds: HOUR_SECONDS },
  preview: { points: 60, seconds: MINUTE_SECONDS },
  export: { points: 6, seconds: HOUR_SECONDS },
  public: { points: 120, seconds: MINUTE_SECONDS },
  payment: { points: 10, seconds: MINUTE_SECONDS },
  quote: { points: 10, seconds: MINUTE_SECONDS },
  status: { points: 120, seconds: MINUTE_SECONDS },
  act: { points: 60, seconds: MINUTE_SECONDS },
} as const satisfies Readonly<Record<string, { readonly points: number; readonly seconds: number }>>

export type RateClass = keyof typeof RATE_CLASSES

/** State of a counter after a request. */
export interface RateCount {
  readonly rate: RateClass
  readonly remaining: number
  /** Time until the counter resets. */
  readonly resetMs: number
}

/** Counts requests and refuses excess. Counts are per process. */
export interface Limits {
  /**
   * Counts one request of a class under a key. The count is reported before the request is refused.
   *
   * @throws AppError rate_limited `rate_limited`
   */
  admit(rate: RateClass, key: string, report?: (count: RateCount) => void): Promise<void>
  /** Takes back the count of a successful request, for classes that count failures only. */
  forgive(rate: RateClass, key: string, report?: (count: RateCount) => void): Promise<void>
}

/**
 * Creates one counter per class and key.
 *
 * @param scale multiplies the published limits: above 1 in benchmarks only
 */
export function createLimits(scale = 1): Limits {
  const limiters = new Map(
    Object.entries(RATE_CLASSES).map(([name, { points, seconds }]) => [
      name,
      new RateLimiterMemory({ keyPrefix: name, points: points * scale, duration: seconds }),
    ]),
  )
  const limiterOf = (name: RateClass): RateLimiterMemory => {
    const limiter = limiters.get(name)
    if (limiter === undefined) throw new Error(`no limit is called ${name}`)
    return limiter
  }
  return {
    async admit(rate, key, report) {
      const count = await countOne(limiterOf(rate), key)
      report?.(countOf(rate, count))
      if (count.consumedPoints > RATE_CLASSES[rate].points * scale) throw tooManyRequests(count)
    },
    async forgive(rate, key, report) {
      // A request in progress counts as a failure until it succeeds: waiting costs as much as failing.
      if (!countsFailuresOnly(rate)) return
      const count = await limiterOf(rate).get(key)
      if (count === null || count.consumedPoints <= 0) return
      report?.(countOf(rate, await limiterOf(rate).reward(key)))
    },
  }
}

/** Whether a class counts failures only, such as sign-ins, where guessing is limited. */
function countsFailuresOnly(rate: RateClass): boolean {
  return rate === 'token'
}

function countOf(rate: RateClass, { remainingPoints, msBeforeNext }: RateLimiterRes): RateCount {
  return { rate, remaining: Math.max(0, remainingPoints), resetMs: msBeforeNext }
}
