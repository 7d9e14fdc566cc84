import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_SECONDS, HOUR_MS, HOUR_SECONDS, MINUTE_SECONDS } from '#src/kernel/durations.ts'
import { countRequest, type RequestCount, tooManyRequests } from '#src/kernel/rate-limit.ts'
import type { Address } from '#src/kernel/units.ts'
import { deleteCounts } from './limits-store.ts'
import { createRateCounts } from './rate-counts.ts'

/** Requests per number of seconds that a class allows. */
export const RATE_CLASSES = {
  challenge: { requests: 10, seconds: MINUTE_SECONDS },
  token: { requests: 10, seconds: MINUTE_SECONDS },
  read: { requests: 600, seconds: MINUTE_SECONDS },
  write: { requests: 120, seconds: MINUTE_SECONDS },
  test: { requests: 10, seconds: HOUR_SECONDS },
  preview: { requests: 60, seconds: MINUTE_SECONDS },
  backtest: { requests: 20, seconds: MINUTE_SECONDS },
  export: { requests: 6, seconds: HOUR_SECONDS },
  public: { requests: 120, seconds: MINUTE_SECONDS },
  payment: { requests: 10, seconds: MINUTE_SECONDS },
  quote: { requests: 10, seconds: MINUTE_SECONDS },
  status: { requests: 120, seconds: MINUTE_SECONDS },
  act: { requests: 60, seconds: MINUTE_SECONDS },
  page: { requests: 600, seconds: MINUTE_SECONDS },
  receive: { requests: 60, seconds: MINUTE_SECONDS },
  follow: { requests: 10, seconds: DAY_SECONDS },
} as const satisfies Readonly<
  Record<string, { readonly requests: number; readonly seconds: number }>
>

export type RateClass = keyof typeof RATE_CLASSES

/**
 * A wallet with all its tokens may send this many times the requests of one token. There a request counts by its weight,
 * so that no wallet takes a whole core.
 */
const WALLET_TIMES = 3
/** Number of rows that take about as much time as the rest of a request. */
const ROWS_PER_WEIGHT = 25

/** Weight of a request that may answer with this many rows: 1 below 25, 3 with 50, 5 with 100. */
export function weightOfRows(rows = 0): number {
  return 1 + Math.floor(rows / ROWS_PER_WEIGHT)
}

/** State of a counter after a request. */
export interface RateCount {
  readonly rate: RateClass
  readonly remaining: number
  /** Time until the counter resets. */
  readonly resetMs: number
}

/**
 * Classes that are counted over all processes: those of sign-in, payments, quotes, tests of destinations and following. All
 * other classes are counted in each process. The limits of confirmation mails are in `src/recipients`.
 */
const SHARED: ReadonlySet<RateClass> = new Set([
  'challenge',
  'token',
  'payment',
  'quote',
  'test',
  'follow',
])

/** Counts requests and refuses excess. */
export interface RequestLimits {
  /**
   * Counts one request of a class under a key. The count is reported before the request is refused.
   *
   * @throws AppError rate_limited `rate_limited`; database errors, for classes that all processes share
   */
  admit(rate: RateClass, key: string, report?: (count: RateCount) => void): Promise<void>
  /**
   * Counts a request of a class for a wallet, over all its tokens and in this process only. The count is reported only
   * if the request is refused, because the caller's own count is the published one.
   *
   * @throws AppError rate_limited `rate_limited`
   */
  admitWallet(
    rate: RateClass,
    wallet: Address,
    weight: number,
    report?: (count: RateCount) => void,
  ): Promise<void>
  /** Subtracts a successful request from the count of its class, for classes that count only failures. */
  takeBack(rate: RateClass, key: string, report?: (count: RateCount) => void): Promise<void>
}

/**
 * Creates one counter per class and key.
 *
 * A shared class counts in this process first: a request beyond this count is refused without asking the
 * database. While the database does not answer, shared classes refuse requests: sign-in and payments need
 * the database anyway, and attackers could otherwise lift the limit by slowing down the database.
 *
 * @param scale multiplies the published limits: above 1 in benchmarks only
 */
export function createLimits(
  deps: { readonly db: Db; readonly clock: Clock },
  scale = 1,
): RequestLimits {
  const inMemory = new Map<string, RateLimiterMemory>(
    Object.entries(RATE_CLASSES).map(([name, { requests, seconds }]) => {
      const options = { keyPrefix: name, points: requests * scale, duration: seconds }
      return [name, new RateLimiterMemory(options)]
    }),
  )
  const shared = createRateCounts(deps)
  const memoryOf = (name: RateClass) => {
    const limiter = inMemory.get(name)
    if (limiter === undefined) throw new Error(`no limit is called ${name}`)
    return limiter
  }
  const sharedKey = (rate: RateClass, key: string) => {
    const { seconds } = RATE_CLASSES[rate]
    return SHARED.has(rate) ? { key: `${rate}:${key}`, seconds } : undefined
  }
  return {
    async admit(rate, key, report) {
      const most = RATE_CLASSES[rate].requests * scale
      const shareKey = sharedKey(rate, key)
      const localCount = await countRequest(memoryOf(rate), key)
      const count =
        shareKey === undefined || localCount.requests > most
          ? localCount
          : await shared.add(shareKey)
      report?.(reported(rate, count, most))
      if (count.requests > most) throw tooManyRequests(count)
    },
    async admitWallet(rate, wallet, weight, report) {
      const most = RATE_CLASSES[rate].requests * scale * WALLET_TIMES
      const count = await countRequest(memoryOf(rate), `wallet ${wallet}`, weight)
      if (count.requests <= most) return
      report?.(reported(rate, count, most))
      throw tooManyRequests(count)
    },
    async takeBack(rate, key, report) {
      // A request in progress counts as a failure until it succeeds, so concurrent guesses are limited,
      // too.
      if (!countsFailuresOnly(rate)) return
      const shareKey = sharedKey(rate, key)
      const localCount = await takeBack(memoryOf(rate), key)
      // The request has succeeded. If the database does not take the count back, the count expires later.
      const count =
        shareKey === undefined ? localCount : await shared.takeBack(shareKey).catch(() => undefined)
      if (count !== undefined) report?.(reported(rate, count, RATE_CLASSES[rate].requests * scale))
    },
  }
}

/** Takes back one request of a count in memory; undefined if there is none. */
async function takeBack(
  limiter: RateLimiterMemory,
  key: string,
): Promise<RequestCount | undefined> {
  const count = await limiter.get(key)
  if (count === null || count.consumedPoints <= 0) return undefined
  const { consumedPoints, msBeforeNext } = await limiter.reward(key)
  return { requests: consumedPoints, leftMs: msBeforeNext }
}

/** Deletes shared counts that ended an hour ago. */
export async function pruneCounts({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const before = new Date(clock.now().getTime() - HOUR_MS)
  await deleteInBatches((limit) => deleteCounts(db, before, limit))
}

/** Whether a class counts failures only, such as sign-ins, where guessing is limited. */
function countsFailuresOnly(rate: RateClass): boolean {
  return rate === 'token'
}

function reported(rate: RateClass, { requests, leftMs }: RequestCount, most: number): RateCount {
  return { rate, remaining: Math.max(0, most - requests), resetMs: leftMs }
}
