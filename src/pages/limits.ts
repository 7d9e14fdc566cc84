import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { networkOf } from '#src/kernel/network.ts'
import { countOne, tooManyRequests } from '#src/kernel/rate-limit.ts'

/** Limits of readers' actions on pages, per minute. */
const LIMITS = { challenge: 10, claim: 10, payment: 10, quote: 10, status: 120, act: 60 } as const

export type PageAct = keyof typeof LIMITS

/** Rate limiter by client network. The counts are this process's own. */
export interface PageLimits {
  /**
   * Counts one action.
   * @throws AppError rate_limited `rate_limited` beyond the limit
   */
  admit(act: PageAct, request: FastifyRequest): Promise<void>
  /**
   * Runs an action that may often succeed but not often fail: it is counted until it has succeeded.
   *
   * @throws AppError rate_limited `rate_limited` when too many failed or are running; errors of `run`
   */
  guard<T>(act: PageAct, request: FastifyRequest, run: () => Promise<T>): Promise<T>
}

const WINDOW_SECONDS = 60

/** Creates limits without counts. */
export function createPageLimits(): PageLimits {
  const limiters = new Map(
    Object.entries(LIMITS).map(([act, points]) => [
      act,
      new RateLimiterMemory({ keyPrefix: `page ${act}`, points, duration: WINDOW_SECONDS }),
    ]),
  )
  const limiterOf = (act: PageAct) => {
    const limiter = limiters.get(act)
    if (limiter === undefined) throw new Error(`no limit is called ${act}`)
    return limiter
  }
  async function admit(act: PageAct, request: FastifyRequest): Promise<void> {
    const count = await countOne(limiterOf(act), networkOf(request.ip))
    if (count.consumedPoints > LIMITS[act]) throw tooManyRequests(count)
  }
  return {
    admit,
    async guard(act, request, run) {
      await admit(act, request)
      const done = await run()
      const count = await limiterOf(act).get(networkOf(request.ip))
      if (count !== null && count.consumedPoints > 0) {
        await limiterOf(act).reward(networkOf(request.ip))
      }
      return done
    },
  }
}
