import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRequestBudget, type RequestBudget } from '#src/chain/request-budget.ts'

/** The rate of requests that the budget learns from endpoints that limit them in different ways. */

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const LATENCY_MS = 80
const MINUTE_MS = 60_000

/** Whether an endpoint answers a request that arrives now. */
type Endpoint = () => boolean

/** Counts what is sent, as often as wanted, through a budget. */
class Traffic {
  readonly answered: number[] = []
  readonly refused: number[] = []
  readonly budget: RequestBudget
  readonly #endpoint: Endpoint

  constructor(endpoint: Endpoint, perMinute?: number) {
    this.budget = createRequestBudget(perMinute)
    this.#endpoint = endpoint
  }

  /** Wants `perSecond` requests for `ms`, and repeats each one until it is answered. */
  async want(perSecond: number, ms: number): Promise<void> {
    const end = performance.now() + ms
    while (performance.now() < end) {
      void this.#send()
      await vi.advanceTimersByTimeAsync(1000 / perSecond)
    }
  }

  async #send(): Promise<void> {
    const { signal } = new AbortController()
    const mayBegin = await this.budget.begin(signal, 0).then(
      () => true,
      () => false,
    )
    if (!mayBegin) return
    const isAnswered = this.#endpoint()
    setTimeout(() => {
      this.budget.end(isAnswered ? 'answered' : 'limited')
      const list = isAnswered ? this.answered : this.refused
      list.push(performance.now())
      if (!isAnswered) void this.#send()
    }, LATENCY_MS)
  }

  /** Requests per second in the last `ms`. */
  recent(ms: number): { readonly answered: number; readonly refused: number } {
    const since = performance.now() - ms
    const count = (times: readonly number[]) =>
      times.filter((time) => time > since).length / (ms / 1000)
    return { answered: count(this.answered), refused: count(this.refused) }
  }
}

/** Allows `perSecond` requests, and as many at once. */
function bucketOf(perSecond: number): Endpoint {
  let tokens = perSecond
  let at = performance.now()
  return () => {
    const now = performance.now()
    tokens = Math.min(perSecond, tokens + ((now - at) / 1000) * perSecond)
    at = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

/** Allows `most` requests in each period of `ms`. */
function windowOf(most: number, ms: number): Endpoint {
  let count = 0
  let number = -1
  return () => {
    const current = Math.floor(performance.now() / ms)
    if (current !== number) [number, count] = [current, 0]
    count += 1
    return count <= most
  }
}

/** Refuses each request with the same chance. */
function chanceOf(share: number): Endpoint {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647 >= share
  }
}

test('an endpoint that allows 30 requests a second is asked about as often, and refuses few', async () => {
  const traffic = new Traffic(bucketOf(30))
  await traffic.want(40, 3 * MINUTE_MS)
  const { answered, refused } = traffic.recent(MINUTE_MS)
  expect(answered).toBeGreaterThan(20)
  expect(refused / answered).toBeLessThan(0.02)
})

test('an endpoint that allows 300 requests a minute is asked about as often, and hardly refuses', async () => {
  const traffic = new Traffic(windowOf(300, MINUTE_MS))
  await traffic.want(4, 6 * MINUTE_MS)
  const { answered, refused } = traffic.recent(2 * MINUTE_MS)
  expect(answered).toBeGreaterThan(3.6)
  expect(refused).toBe(0)
})

test('more is wanted than an endpoint allows in a minute: most of what it allows is used', async () => {
  const traffic = new Traffic(windowOf(300, MINUTE_MS))
  await traffic.want(20, 8 * MINUTE_MS)
  const { answered, refused } = traffic.recent(4 * MINUTE_MS)
  expect(answered).toBeGreaterThan(4)
  expect(refused / answered).toBeLessThan(0.1)
})

test('an endpoint that refuses one request in five by chance is asked as often as is wanted', async () => {
  const traffic = new Traffic(chanceOf(0.2))
  await traffic.want(8, 20 * MINUTE_MS)
  expect(traffic.recent(MINUTE_MS).answered).toBeCloseTo(8, 0)
})

test('an endpoint that refused everything for five minutes is soon asked as often as before', async () => {
  let isRefusing = false
  const traffic = new Traffic(() => !isRefusing)
  await traffic.want(4, MINUTE_MS)
  isRefusing = true
  await traffic.want(0.2, 5 * MINUTE_MS)
  expect(traffic.recent(MINUTE_MS).refused).toBeLessThan(1)
  isRefusing = false
  await traffic.want(4, MINUTE_MS)
  expect(traffic.recent(10_000).answered).toBeGreaterThan(3.5)
})

test('a configured number is never exceeded', async () => {
  const traffic = new Traffic(() => true, 120)
  await traffic.want(10, 2 * MINUTE_MS)
  expect(traffic.recent(MINUTE_MS).answered).toBeLessThanOrEqual(2)
})

test('while requests wait, those of the newest blocks go first', async () => {
  const { budget } = new Traffic(() => true, 60)
  const { signal } = new AbortController()
  const order: number[] = []
  for (const urgency of [0, 2, 1, 0, 2, 0] as const) {
    void budget.begin(signal, urgency).then(() => order.push(urgency))
  }
  await vi.advanceTimersByTimeAsync(10_000)
  expect(order).toEqual([0, 0, 0, 1, 2, 2])
})
