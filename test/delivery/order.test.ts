import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parkBlocked } from '#src/delivery/claims/claim-store.ts'
import * as store from '#src/delivery/store.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'
import { type Draft, type Outbox, openOutbox, serve } from './outbox.ts'

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(async () => {
  await outbox.reset()
})

afterAll(() => outbox.close())

describe('deliveries of one key', () => {
  test('arrive one after another in the order of firing, with many workers', async () => {
    const { target, seen, close } = await openCounter()
    const keys = Array.from({ length: 25 }, (_, key) => `key ${key}`)
    const drafts = keys.flatMap((key) => range(6).map((seconds) => draft(target, key, seconds)))
    await outbox.enqueue(...shuffled(drafts))
    await Promise.all(range(4).map(() => outbox.deliver()))
    await outbox.deliver()
    for (const key of keys) expect(seen.orderOf(key)).toEqual(range(6))
    expect(seen.overlaps).toEqual([])
    expect(statuses(await outbox.rows())).toEqual({ delivered: 150 })
    await close()
  })

  test('that fired at one instant arrive in the order of their positions', async () => {
    const target = await outbox.addRecipient()
    const drafts = range(20).map((position) => ({
      to: target,
      key: 'key',
      position,
      title: `key ${position}`,
    }))
    await outbox.enqueue(...shuffled(drafts))
    await outbox.deliver()
    expect(titles()).toEqual(range(20).map((position) => `key ${position}`))
  })

  test('wait for a failed delivery until it is delivered or has failed for good', async () => {
    const target = await outbox.addRecipient()
    outbox.receiver.answerNext(500)
    await outbox.enqueue(...range(3).map((seconds) => draft(target, 'key', seconds)))
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(1)
    const [head, ...followers] = await outbox.rows()
    expect(head?.status).toBe('retrying')
    expect(followers.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([null, null])
    outbox.clock.advance(3)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(1)
    outbox.clock.advance(4)
    await outbox.deliver()
    expect(titles()).toEqual(['key 0', 'key 0', 'key 1', 'key 2'])
  })

  test('are sent after a delivery that failed for good', async () => {
    const target = await outbox.addRecipient()
    await outbox.enqueue(draft(target, 'key', 0), draft(target, 'key', 1))
    outbox.receiver.answerNext(...range(8).map(() => 500))
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      await outbox.deliver()
      outbox.clock.advance(12 * 3600)
    }
    await outbox.deliver()
    expect(titles().at(-1)).toBe('key 1')
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(['failed', 'delivered'])
  })

  test('of another key do not wait', async () => {
    const target = await outbox.addRecipient()
    outbox.receiver.answerNext(500)
    await outbox.enqueue(draft(target, 'a', 0))
    await outbox.deliver()
    await outbox.enqueue(draft(target, 'a', 1), draft(target, 'b', 0))
    await outbox.deliver()
    expect(titles()).toEqual(['a 0', 'b 0'])
  })

  test('are never left waiting if the delivery before them ends while they are parked', async () => {
    const target = await outbox.addRecipient()
    const [head, follower] = await outbox.enqueue(draft(target, 'key', 0), draft(target, 'key', 1))
    if (head === undefined || follower === undefined) throw new Error('nothing was put in')
    const ended = {
      id: head,
      attempt: 0,
      attempts: 1,
      orderKey: 'key',
      status: 'delivered',
      nextAttemptAt: null,
      statusCode: 200,
      error: null,
      deliveredAt: outbox.clock.now(),
      recipientId: target.id,
      plannedAt: null,
      retainedUntil: null,
      messageId: null,
      carriedBy: null,
      isSilent: false,
    } as const
    await outbox.db.transaction(async (tx) => {
      await store.finishDeliveries(tx, [ended], outbox.clock.now())
      await runOutsideTransaction(() => parkBlocked(outbox.db, [follower]))
    })
    await outbox.deliver()
    expect(titles()).toEqual(['key 1'])
  })

  test('are never left waiting while new deliveries arrive', async () => {
    const { target, seen, close } = await openCounter(2)
    const keys = range(10).map((key) => `key ${key}`)
    const stop = new AbortController()
    const workers = range(3).map(async () => {
      while (!stop.signal.aborted) {
        await outbox.deliver()
        await wait(1)
      }
    })
    for (const seconds of range(30)) {
      await outbox.enqueue(...keys.map((key) => draft(target, key, seconds)))
      await wait(seconds % 3)
    }
    const deadline = performance.now() + 10_000
    while (seen.count() < 300 && performance.now() < deadline) await wait(20)
    stop.abort()
    await Promise.all(workers)
    expect(statuses(await outbox.rows())).toEqual({ delivered: 300 })
    for (const key of keys) expect(seen.orderOf(key)).toEqual(range(30))
    expect(seen.overlaps).toEqual([])
    await close()
  })
})

/** A slow receiver that detects two concurrent requests of one key. */
async function openCounter(delayMs = 8) {
  const arrived: { key: string; at: number }[] = []
  const overlaps: string[] = []
  const present = new Set<string>()
  const server = await serve(async (_request, response, body) => {
    const { title } = JSON.parse(body).rendered
    const key = title.slice(0, title.lastIndexOf(' '))
    if (present.has(key)) overlaps.push(title)
    present.add(key)
    arrived.push({ key, at: Number(title.slice(key.length + 1)) })
    await wait(delayMs)
    present.delete(key)
    response.end()
  })
  const seen = {
    overlaps,
    count: () => arrived.length,
    orderOf: (key: string) => arrived.filter((item) => item.key === key).map(({ at }) => at),
  }
  return { target: await outbox.addRecipient(server.url()), seen, close: server.close }
}

function draft(to: Draft['to'], key: string, firedAfterSeconds: number): Draft {
  return { to, key, firedAfterSeconds, title: `${key} ${firedAfterSeconds}` }
}

function titles(): string[] {
  return outbox.receiver.deliveries.map(({ json }) => {
    const { rendered } = json as { rendered: { title: string } }
    return rendered.title
  })
}

function statuses(rows: readonly { readonly status: string }[]): Record<string, number> {
  const groups = Map.groupBy(rows, ({ status }) => status)
  return Object.fromEntries([...groups].map(([status, all]) => [status, all.length]))
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** The items in another order, the same in every run. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item, index) => ({ item, place: (index * 7919) % 104_729 }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
