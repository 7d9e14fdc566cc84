import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRateLimiter } from './rate-limiter.ts'

const { signal } = new AbortController()

describe('a pace', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  test('says how early it is instead of waiting longer than the patience', async () => {
    const rateLimiter = limiterOfTest()
    expect(await rateLimiter.turn('a', { patienceMs: 10, signal })).toBeUndefined()
    expect(await rateLimiter.turn('a', { patienceMs: 10, signal })).toBe(1000)
    vi.advanceTimersByTime(34)
    expect(await rateLimiter.turn('b', { patienceMs: 10, signal })).toBeUndefined()
  })

  test('takes no turn from others when it is too early', async () => {
    const rateLimiter = limiterOfTest()
    rateLimiter.hold('a', 35_000)
    for (let times = 0; times < 100; times += 1)
      await rateLimiter.turn('a', { patienceMs: 10, signal })
    expect(await rateLimiter.turn('b', { patienceMs: 0, signal })).toBeUndefined()
    vi.advanceTimersByTime(34_999)
    expect(await rateLimiter.turn('a', { patienceMs: 0, signal })).toBe(1)
    vi.advanceTimersByTime(1)
    expect(await rateLimiter.turn('a', { patienceMs: 0, signal })).toBeUndefined()
  })

  test('grants no turn while all are taken, and counts the wait of later callers too', async () => {
    const rateLimiter = limiterOfTest()
    rateLimiter.holdAll(3000)
    expect(await rateLimiter.turn('a', { patienceMs: 10, signal })).toBe(3000)
    const patient = rateLimiter.turn('b', { patienceMs: 5000, signal })
    await vi.advanceTimersByTimeAsync(3000)
    expect(await patient).toBeUndefined()
  })

  test('spaces out everybody together', async () => {
    const rateLimiter = limiterOfTest()
    expect(await rateLimiter.turn('a', { patienceMs: 0, signal })).toBeUndefined()
    expect(await rateLimiter.turn('b', { patienceMs: 0, signal })).toBe(34)
    vi.advanceTimersByTime(34)
    expect(await rateLimiter.turn('b', { patienceMs: 0, signal })).toBeUndefined()
  })

  test('lets the most urgent go first, and equals in the order they came', async () => {
    const rateLimiter = limiterOfTest()
    const order: string[] = []
    const go = (key: string, urgency: number) =>
      rateLimiter.turn(key, { patienceMs: 5000, urgency, signal }).then((early) => {
        order.push(early === undefined ? key : `${key} is early`)
      })
    const all = [go('first', 0), go('info', 0), go('warning', 1), go('critical', 2), go('other', 0)]
    await vi.advanceTimersByTimeAsync(1000)
    await Promise.all(all)
    expect(order).toEqual(['first', 'critical', 'warning', 'info', 'other'])
  })

  test('refuses a waiting caller when urgent ones went before it for longer than its wait limit', async () => {
    const rateLimiter = limiterOfTest()
    const turn = (urgency: number) => rateLimiter.turn('a', { patienceMs: 1500, urgency, signal })
    await turn(0)
    const patient = turn(0)
    const urgent = turn(2)
    await vi.advanceTimersByTimeAsync(1499)
    expect(await urgent).toBeUndefined()
    await vi.advanceTimersByTimeAsync(10)
    expect(await patient).toBeGreaterThan(400)
  })

  test('gives a key no more than its window holds, and others theirs', async () => {
    const rateLimiter = createRateLimiter({
      allMs: 0,
      keyMs: 1000,
      windowOf: (key) => (key.startsWith('-') ? { count: 20, ms: 60_000 } : undefined),
      now: () => performance.now(),
    })
    let sent = 0
    for (let second = 0; second < 60; second += 1) {
      if ((await rateLimiter.turn('-100', { patienceMs: 0, signal })) === undefined) sent += 1
      expect(await rateLimiter.turn('100', { patienceMs: 0, signal })).toBeUndefined()
      vi.advanceTimersByTime(1000)
    }
    expect(sent).toBe(20)
    expect(await rateLimiter.turn('-100', { patienceMs: 0, signal })).toBeUndefined()
  })

  test('keeps 30 a second while many wait', async () => {
    const rateLimiter = limiterOfTest()
    let sent = 0
    for (let key = 0; key < 300; key += 1) {
      rateLimiter.turn(`${key}`, { patienceMs: 60_000, signal }).then(() => {
        sent += 1
      })
    }
    await vi.advanceTimersByTimeAsync(5000)
    expect(sent).toBeGreaterThanOrEqual(145)
    expect(sent).toBeLessThanOrEqual(150)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sent).toBe(300)
  })

  test('stops waiting when it is aborted, and takes no turn', async () => {
    const rateLimiter = limiterOfTest()
    await rateLimiter.turn('a', { patienceMs: 10, signal })
    const stop = new AbortController()
    const waiting = rateLimiter.turn('a', { patienceMs: 5000, signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    await expect(rateLimiter.turn('a', { patienceMs: 5000, signal: stop.signal })).rejects.toThrow()
    vi.advanceTimersByTime(1000)
    expect(await rateLimiter.turn('a', { patienceMs: 0, signal })).toBeUndefined()
  })
})

/** A pace of one message a second for each, 34 ms apart in all. */
function limiterOfTest() {
  return createRateLimiter({ allMs: 34, keyMs: 1000, now: () => performance.now() })
}
