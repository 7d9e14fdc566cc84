import { describe, expect, test } from 'vitest'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'

const CHAT = { capacity: 30, initialLimit: 1, limitMax: 1 }
const HOOK = { capacity: 256, initialLimit: 8, limitMax: 64 }
const SUSPECTS = 64
const UNPROVED = 192
const OF_GROUP = 8

describe('a partition', () => {
  test('starts with one place for a chat and eight for an unknown host', () => {
    expect(granted(createConcurrencyLimiter(CHAT), 'chat', 20)).toBe(1)
    expect(granted(createConcurrencyLimiter(HOOK), 'a.example', 20)).toBe(8)
  })

  test('gets more places while its recipients answer quickly, up to 64', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'a.example', 100, 20)
    expect(atOnce(limiter, 'a.example', 80)).toBe(64)
  })

  test('of a quick host queues twice as many sends as it has places, and starts them in order', async () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'a.example', 2, 20)
    const called: number[] = []
    const places = Array.from({ length: 22 }, () => limiter.acquire(to('a.example')))
    for (const [index, { ready }] of places.entries()) ready.then(() => called.push(index))
    await settle()
    expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(granted(limiter, 'a.example', 30)).toBe(8)
    places[0]?.release(3000)
    await settle()
    expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(limiter.free()).toBe(256 - 10)
  })

  test('keeps its number of places while answers are slow', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'a.example', 4, 20)
    answer(limiter, 'a.example', 10, 3000)
    expect(atOnce(limiter, 'a.example', 80)).toBe(12)
  })

  test('keeps its places for other recipients of the host when one is slow', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'shared.example', 20, 20, 1)
    answer(limiter, 'shared.example', 20, 'none', 2)
    answer(limiter, 'shared.example', 20, 14_000, 3)
    expect(granted(limiter, 'shared.example', 20, 2)).toBe(1)
    expect(granted(limiter, 'shared.example', 20, 3)).toBe(1)
    expect(granted(limiter, 'shared.example', 20, 1)).toBe(20)
  })

  test('is full when it has as many messages as it may have', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'quick.example', 4, 20)
    atOnce(limiter, 'quick.example', 80)
    atOnce(limiter, 'slow.example', 20)
    expect(limiter.full().partitions).toEqual(['quick.example', 'slow.example'])
  })

  test('is deleted when it is back at its initial state', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'a.example', 1, 3000)
    expect(limiter.full()).toEqual({ partitions: [], recipients: [] })
    expect(limiter.free()).toBe(256)
  })
})

describe('recipients that did not answer last time', () => {
  test('have one place each until they answer', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'a.example', 1, 'none')
    expect(granted(limiter, 'a.example', 20)).toBe(1)
    expect(limiter.isSuspect(recipientOf('a.example'))).toBe(true)
    answer(limiter, 'a.example', 4, 20)
    expect(granted(limiter, 'a.example', 20)).toBeGreaterThan(4)
    expect(limiter.isSuspect(recipientOf('a.example'))).toBe(false)
  })

  test('have a quarter of all places together, whatever their number', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    for (const host of hosts(300)) answer(limiter, host, 1, 'none')
    expect(hosts(300).filter((host) => take(limiter, host)).length).toBe(SUSPECTS)
    expect(granted(limiter, 'healthy.example', 1)).toBe(1)
  })

  test('include those that answer only after many seconds', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    for (const host of hosts(300)) answer(limiter, host, 1, 14_900)
    expect(hosts(300).filter((host) => take(limiter, host)).length).toBe(SUSPECTS)
  })

  test('of one registrable domain or address have an eighth of that quarter', () => {
    const limiter = createConcurrencyLimiter(HOOK, () => ['evil.example'])
    for (const host of hosts(100)) answer(limiter, host, 1, 'none')
    expect(hosts(100).filter((host) => take(limiter, host)).length).toBe(OF_GROUP)
    answer(limiter, 'healthy.example', 1, 20)
    expect(granted(limiter, 'healthy.example', 5)).toBe(5)
  })

  test('include those with a stored failure only', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    const taken = hosts(300).filter((host) => {
      const destination = { ...to(host), wasTried: true }
      if (!limiter.startReservation().reserve(destination)) return false
      limiter.acquire(destination)
      return true
    })
    expect(taken.length).toBe(SUSPECTS)
  })

  test('get less time after three attempts without any answer, but now and then the whole', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    const id = recipientOf('a.example')
    const short: boolean[] = []
    for (let count = 0; count < 9; count += 1) {
      short.push(limiter.usesShortTimeout(id))
      answer(limiter, 'a.example', 1, 'none')
    }
    expect(short).toEqual([false, false, false, true, false, true, true, true, false])
    answer(limiter, 'a.example', 1, 20)
    expect(limiter.usesShortTimeout(id)).toBe(false)
  })
})

test('a recipient pauses after three attempts without an answer, until it answers', () => {
  const limiter = createConcurrencyLimiter(HOOK)
  const id = recipientOf('a.example')
  answer(limiter, 'a.example', 2, 'none')
  expect(limiter.pauseMsOf(id)).toBe(0)
  answer(limiter, 'a.example', 1, 'none')
  expect(limiter.pauseMsOf(id)).toBeGreaterThan(0)
  answer(limiter, 'a.example', 1, 20)
  expect(limiter.pauseMsOf(id)).toBe(0)
})

describe('recipients of whom nothing is known', () => {
  test('leave a quarter of all places to recipients that answered', () => {
    const limiter = createConcurrencyLimiter(HOOK)
    answer(limiter, 'proved.example', 100, 20)
    expect(hosts(300).filter((host) => take(limiter, host)).length).toBe(UNPROVED)
    expect(granted(limiter, 'proved.example', 64)).toBe(64)
  })
})

test('waiting sends take no place, and sends never exceed the places', async () => {
  const limiter = createConcurrencyLimiter(HOOK)
  const all = hosts(28)
  for (const host of all) answer(limiter, host, 1, 20)
  let called = 0
  const places = all.map((host) =>
    Array.from({ length: 18 }, () => {
      const place = limiter.acquire(to(host))
      place.ready.then(() => {
        called += 1
      })
      return place
    }),
  )
  await settle()
  expect(called).toBe(252)
  expect(limiter.free()).toBe(4)
  for (const [first] of places) first?.release(20)
  await settle()
  expect(called - all.length).toBe(256)
  expect(limiter.free()).toBe(0)
})

test('an attempt that failed for our own reason does not change a recipient’s state', () => {
  const limiter = createConcurrencyLimiter(HOOK)
  answer(limiter, 'a.example', 5, undefined)
  expect(limiter.isSuspect(recipientOf('a.example'))).toBe(false)
  expect(granted(limiter, 'a.example', 20)).toBe(8)
})

function hosts(count: number): readonly string[] {
  return Array.from({ length: count }, (_, host) => `host${host}.example`)
}

/** One recipient a host, unless given. */
function recipientOf(partitionKey: string): number {
  return (
    100 +
    [...partitionKey].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7)
  )
}

function to(partitionKey: string, recipientId = recipientOf(partitionKey)) {
  return { recipientId, partitionKey, wasTried: false }
}

/** Number of places granted to `count` deliveries, including waiting places. */
function granted(
  limiter: ConcurrencyLimiter,
  partitionKey: string,
  count: number,
  recipientId?: number,
): number {
  const choice = limiter.startReservation()
  return Array.from({ length: count }, () => choice.reserve(to(partitionKey, recipientId))).filter(
    Boolean,
  ).length
}

/** Number of `count` acquired places that are ready at once. */
function atOnce(limiter: ConcurrencyLimiter, partitionKey: string, count: number): number {
  const before = limiter.free()
  for (let index = 0; index < count; index += 1) limiter.acquire(to(partitionKey))
  return before - limiter.free()
}

/** Takes a place and keeps it; false without a free place. */
function take(limiter: ConcurrencyLimiter, partitionKey: string): boolean {
  const isFree = limiter.startReservation().reserve(to(partitionKey))
  if (isFree) limiter.acquire(to(partitionKey))
  return isFree
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function answer(
  limiter: ConcurrencyLimiter,
  partitionKey: string,
  times: number,
  result: number | 'none' | undefined,
  recipientId?: number,
): void {
  for (let time = 0; time < times; time += 1)
    limiter.acquire(to(partitionKey, recipientId)).release(result)
}
