import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runs } from '../../../test/support/runs.ts'
import { EndpointBusy } from './failures.ts'
import { createRequestBudget, type RequestBudget, type Urgency } from './request-budget.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const NEVER = new AbortController().signal

/** An endpoint that allows so many requests, as a bucket that is refilled. */
function endpointOf({ perMinute, burst }: { readonly perMinute: number; readonly burst: number }) {
  let left = burst
  let filledAt = performance.now()
  return () => {
    const now = performance.now()
    left = Math.min(left + ((now - filledAt) / 60_000) * perMinute, burst)
    filledAt = now
    if (left < 1) return false
    left -= 1
    return true
  }
}

/** Sends `count` requests through the budget, as fast as it allows, and repeats what is refused. */
async function drive(
  budget: RequestBudget,
  accepts: () => boolean,
  { count, everyMs = 0 }: { readonly count: number; readonly everyMs?: number },
) {
  const seen = { refused: 0, refusedTwice: 0, done: 0 }
  const one = async () => {
    for (let refusals = 0; ; refusals += 1) {
      if (
        !(await budget.begin(NEVER, 0).then(
          () => true,
          () => false,
        ))
      )
        continue
      const isAccepted = accepts()
      budget.end(isAccepted ? 'answered' : 'limited')
      if (isAccepted) break
      seen.refused += 1
      if (refusals > 0) seen.refusedTwice += 1
    }
    seen.done += 1
  }
  const all: Promise<void>[] = []
  for (let sent = 0; sent < count; sent += 1) {
    all.push(one())
    if (everyMs > 0) await vi.advanceTimersByTimeAsync(everyMs)
  }
  await vi.advanceTimersByTimeAsync(120_000)
  await Promise.all(all)
  return seen
}

describe('a budget that is learned', () => {
  test('lets through at once what a person needs', async () => {
    const budget = createRequestBudget()
    for (let sent = 0; sent < 20; sent += 1) await budget.begin(NEVER, 0)
    expect(budget.pausedMs()).toBe(0)
  })

  test('finds the rate of an endpoint from a few refusals, and keeps it', async () => {
    const budget = createRequestBudget()
    const accepts = endpointOf({ perMinute: 300, burst: 300 })
    // Four requests a second for 15 minutes, after a start that reads 400 blocks.
    const start = await drive(budget, accepts, { count: 300 })
    const later = await drive(budget, accepts, { count: 3600, everyMs: 250 })
    expect(start.refusedTwice + later.refusedTwice).toBe(0)
    expect(later.done).toBe(3600)
    expect(start.refused + later.refused).toBeLessThan(20)
  })

  test('grows far beyond its first rate where nothing is refused', async () => {
    const budget = createRequestBudget()
    for (let second = 0; second < 20; second += 1) {
      await drive(budget, () => true, { count: 400 })
    }
    expect(budget.perMinute()).toBeGreaterThan(5000)
  })
})

test('a budget that is set is used from the start, and not exceeded', async () => {
  const budget = createRequestBudget(600)
  const accepts = endpointOf({ perMinute: 600, burst: 11 })
  const seen = await drive(budget, accepts, { count: 150 })
  expect(seen).toEqual({ refused: 0, refusedTwice: 0, done: 150 })
  expect(budget.perMinute()).toBe(600)
})

test('an endpoint that refuses everything for a while has its rate again afterwards', async () => {
  const budget = createRequestBudget()
  let isOut = true
  const seen = drive(budget, () => !isOut, { count: 20 })
  await vi.advanceTimersByTimeAsync(600_000)
  isOut = false
  await vi.advanceTimersByTimeAsync(20_000)
  expect((await seen).done).toBe(20)
  expect(budget.perMinute()).toBeGreaterThan(800)
})

test('the time that an endpoint states is waited', async () => {
  const budget = createRequestBudget()
  await budget.begin(NEVER, 0)
  budget.end('limited', 7000)
  let isLet = false
  const waiting = budget.begin(NEVER, 0).then(() => {
    isLet = true
  })
  await vi.advanceTimersByTimeAsync(6900)
  expect(isLet).toBe(false)
  await vi.advanceTimersByTimeAsync(1200)
  await waiting
})

test('a stated time of nothing does not shorten the pauses, and one answer states at most 15 seconds', async () => {
  const eager = createRequestBudget()
  for (let refusals = 0; refusals < 4; refusals += 1) {
    const begun = eager.begin(NEVER, 0)
    await vi.advanceTimersByTimeAsync(15_000)
    await begun
    eager.end('limited', 0)
  }
  expect(eager.pausedMs()).toBeGreaterThan(1000)
  const patient = createRequestBudget()
  await patient.begin(NEVER, 0)
  patient.end('limited', 86_400_000)
  expect(patient.pausedMs()).toBeLessThanOrEqual(15_000)
})

test('no refusal makes a set budget larger', async () => {
  const budget = createRequestBudget(30)
  for (const outcome of ['limited', 'limited', 'limited', 'answered'] as const) {
    const begun = budget.begin(NEVER, 0)
    await vi.advanceTimersByTimeAsync(15_000)
    await begun
    budget.end(outcome)
  }
  expect(budget.perMinute()).toBeLessThanOrEqual(30)
})

test('requests for the newest blocks go before open rounds, and those before the past', async () => {
  const budget = createRequestBudget(60)
  const order: Urgency[] = []
  await budget.begin(NEVER, 0)
  const all = ([2, 1, 0, 2, 0] as const).map(async (urgency) => {
    await budget.begin(NEVER, urgency)
    order.push(urgency)
    budget.end('answered')
  })
  await vi.advanceTimersByTimeAsync(10_000)
  await Promise.all(all)
  expect(order).toEqual([0, 0, 1, 2, 2])
})

test('a request that waits too long is given up, as is one whose caller aborts', async () => {
  const budget = createRequestBudget(1)
  await budget.begin(NEVER, 0)
  const late = expect(budget.begin(NEVER, 0)).rejects.toBeInstanceOf(EndpointBusy)
  await vi.advanceTimersByTimeAsync(20_000)
  await late
  const controller = new AbortController()
  const aborted = expect(budget.begin(controller.signal, 0)).rejects.toThrow('enough')
  controller.abort(new Error('enough'))
  await aborted
})

test('any order of ends leaves no request waiting for ever', async () => {
  const outcomes = fc.constantFrom('answered', 'limited', 'failed')
  await fc.assert(
    fc.asyncProperty(fc.array(outcomes, { minLength: 1, maxLength: 60 }), async (ends) => {
      const budget = createRequestBudget()
      let done = 0
      const all = ends.map(async (outcome) => {
        await budget.begin(NEVER, 1).catch(() => undefined)
        budget.end(outcome)
        done += 1
      })
      await vi.advanceTimersByTimeAsync(300_000)
      await Promise.all(all)
      expect(done).toBe(ends.length)
    }),
    { numRuns: runs(30) },
  )
})

const MINUTE_MS = 60_000

/** Whether an endpoint answers a request that arrives now. */
type Endpoint = () => boolean

/** Counts what is sent, as often as wanted, through a budget. */
class Traffic {
  readonly answered: number[] = []
  readonly refused: number[] = []
  readonly #budget: RequestBudget
  readonly #endpoint: Endpoint
  readonly #latencyMs: () => number

  /** @param latencyMs time of an answer, or a function that returns that of the next one */
  constructor(endpoint: Endpoint, latencyMs: number | (() => number) = 80) {
    this.#budget = createRequestBudget()
    this.#endpoint = endpoint
    this.#latencyMs = typeof latencyMs === 'number' ? () => latencyMs : latencyMs
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
    const mayBegin = await this.#budget.begin(NEVER, 0).then(
      () => true,
      () => false,
    )
    if (!mayBegin) return
    const isAnswered = this.#endpoint()
    setTimeout(() => {
      this.#budget.end(isAnswered ? 'answered' : 'limited')
      const list = isAnswered ? this.answered : this.refused
      list.push(performance.now())
      if (!isAnswered) void this.#send()
    }, this.#latencyMs())
  }

  /** Requests per second in the last `ms`. */
  recent(ms: number): { readonly answered: number; readonly refused: number } {
    const since = performance.now() - ms
    const count = (times: readonly number[]) =>
      times.filter((time) => time > since).length / (ms / 1000)
    return { answered: count(this.answered), refused: count(this.refused) }
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

/** Numbers between 0 and 1 that seem random. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Refuses each request with the same chance. */
function chanceOf(share: number): Endpoint {
  const random = randomOf(1)
  return () => random() >= share
}

test.each([
  80, 400,
])('an endpoint that allows 30 requests a second and answers after %i ms is asked about as often, and refuses few', async (latencyMs) => {
  const traffic = new Traffic(endpointOf({ perMinute: 1800, burst: 30 }), latencyMs)
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

test('a start that uses up what an endpoint allows in a minute is not taken for refusals by chance', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = randomOf(seed * 7919)
    const endpoint = endpointOf({ perMinute: 300, burst: 300 })
    const traffic = new Traffic(endpoint, () => 40 + random() * 400)
    await traffic.want(60, 20_000)
    await traffic.want(3, 4 * MINUTE_MS)
    const { answered, refused } = traffic.recent(MINUTE_MS)
    expect({ seed, refused: refused / answered }).toMatchObject({ refused: 0 })
  }
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
  expect(traffic.recent(5 * MINUTE_MS).answered).toBeGreaterThan(7)
})
