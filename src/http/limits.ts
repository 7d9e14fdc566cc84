import type { FastifyReply, FastifyRequest } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Caller } from '#src/kernel/caller.ts'
import { HOUR_SECONDS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { networkOf } from '#src/kernel/network.ts'
import type { AnyOperation, RateClass } from '#src/operations/define.ts'

const MINUTE = 60

/** Requests a class allows in so many seconds. */
const LIMITS: Readonly<Record<RateClass, { readonly points: number; readonly seconds: number }>> = {
  challenge: { points: 10, seconds: MINUTE },
  token: { points: 10, seconds: MINUTE },
  read: { points: 600, seconds: MINUTE },
  write: { points: 120, seconds: MINUTE },
  test: { points: 10, seconds: HOUR_SECONDS },
  preview: { points: 60, seconds: MINUTE },
  export: { points: 6, seconds: HOUR_SECONDS },
  public: { points: 120, seconds: MINUTE },
}

/** Counts requests and refuses those that are too many. The counts are this process's own. */
export interface Limits {
  /**
   * Counts one request, and tells the client how it stands.
   *
   * @throws AppError rate_limited `rate_limited`
   */
  admit(request: LimitedRequest): Promise<void>
  /**
   * Counts one request on a target of an operation with `targetRate`. All tokens of a wallet count together.
   *
   * @throws AppError rate_limited `rate_limited`
   */
  admitTarget(request: LimitedRequest, target: string): Promise<void>
  /** Takes back the count of a request that succeeded, where only failures count. */
  forgive(request: LimitedRequest): Promise<void>
}

interface LimitedRequest {
  readonly operation: AnyOperation
  readonly caller: Caller | undefined
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/**
 * One counter per class and token, or client address without one; per class, wallet and target where an
 * operation limits targets.
 *
 * @param scale how many times the published limits are allowed: above 1 in benchmarks only
 */
export function createLimits(scale = 1): Limits {
  const allowed = (rate: RateClass) => LIMITS[rate].points * scale
  const limiters = new Map(
    Object.entries(LIMITS).map(([name, { points, seconds }]) => [
      name,
      new RateLimiterMemory({ keyPrefix: name, points: points * scale, duration: seconds }),
    ]),
  )
  const limiterOf = (name: RateClass): RateLimiterMemory => {
    const limiter = limiters.get(name)
    if (limiter === undefined) throw new Error(`no limit is called ${name}`)
    return limiter
  }
  const consume = async (reply: FastifyReply, rate: RateClass, key: string) => {
    const count = await limiterOf(rate).consume(key).catch(refusalOf)
    writeRateHeaders(reply, rate, count)
    if (count.consumedPoints > allowed(rate)) throw tooMany(count)
  }
  return {
    async admit(limited) {
      // What is in hand counts as a failure until it has succeeded: waiting costs as much as failing.
      await consume(limited.reply, limited.operation.rate, keyOf(limited))
    },
    async admitTarget({ operation, caller, reply }, target) {
      const rate = operation.targetRate?.rate
      if (rate !== undefined) await consume(reply, rate, `${caller?.wallet} ${target}`)
    },
    async forgive(limited) {
      const { rate } = limited.operation
      if (!countsFailuresOnly(rate)) return
      const count = await limiterOf(rate).get(keyOf(limited))
      if (count === null || count.consumedPoints <= 0) return
      writeRateHeaders(limited.reply, rate, await limiterOf(rate).reward(keyOf(limited)))
    },
  }
}

/** Signing in may be done often; guessing may not. */
function countsFailuresOnly(rate: RateClass): boolean {
  return rate === 'token'
}

/** The limiter rejects with its count when it is exceeded; anything else is a fault. */
function refusalOf(reason: unknown): RateLimiterRes {
  if (reason instanceof RateLimiterRes) return reason
  throw reason
}

function tooMany({ msBeforeNext }: RateLimiterRes): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  return new AppError('rate_limited', 'rate_limited', { retryAfterSeconds })
}

function keyOf({ caller, request }: LimitedRequest): string {
  return caller?.tokenId === undefined ? networkOf(request.ip) : `token ${caller.tokenId}`
}

/** @see draft-ietf-httpapi-ratelimit-headers */
function writeRateHeaders(
  reply: FastifyReply,
  rate: RateClass,
  count: RateLimiterRes | null,
): void {
  const { points, seconds } = LIMITS[rate]
  const remaining = Math.max(0, count?.remainingPoints ?? points)
  const reset = Math.ceil((count?.msBeforeNext ?? 0) / 1000)
  reply.header('ratelimit-policy', `"${rate}";q=${points};w=${seconds}`)
  reply.header('ratelimit', `"${rate}";r=${remaining};t=${reset}`)
}
