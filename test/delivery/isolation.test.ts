import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deliverDue } from '#src/delivery/service.ts'
import { type Outbox, openOutbox, outboxDeps, serve } from './outbox.ts'

/** More than a claim reads of one recipient. */
const LONG = 1024

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(() => outbox.reset())

afterAll(() => outbox.close())

describe('an endpoint that hangs', () => {
  test('delays no other destination with its backlog', async () => {
    const hanging = await openHanging()
    const dead = await outbox.addRecipient(hanging.url())
    await outbox.enqueue(...Array.from({ length: 2000 }, () => ({ to: dead })))
    await whileDelivering([hanging], async () => {
      const alive = await outbox.addRecipient()
      await outbox.enqueue(...Array.from({ length: 100 }, () => ({ to: alive })))
      await expect.poll(() => outbox.receiver.deliveries.length).toBe(100)
      expect(hanging.left()).toBe(0)
      expect(hanging.came()).toBeLessThanOrEqual(12)
    })
  })

  test('delays no deliveries in the middle of its queue, however long it is', async () => {
    const hanging = await openHanging()
    const dead = await outbox.addRecipient(hanging.url())
    const alive = await outbox.addRecipient()
    const many = (to: typeof dead, count: number) => Array.from({ length: count }, () => ({ to }))
    outbox.clock.advance(-2)
    await outbox.enqueue(...many(dead, 2 * LONG))
    outbox.clock.advance(1)
    await outbox.enqueue(...many(alive, 500))
    outbox.clock.advance(1)
    await outbox.enqueue(...many(dead, LONG))
    await whileDelivering([hanging], async () => {
      await expect.poll(() => outbox.receiver.deliveries.length).toBe(500)
      expect(hanging.left()).toBe(0)
    })
  })

  test('leaves capacity for others when many endpoints hang at once', async () => {
    const hanging = await Promise.all(Array.from({ length: 20 }, openHanging))
    const dead = []
    for (const server of hanging) dead.push(await outbox.addRecipient(server.url()))
    await outbox.enqueue(...dead.flatMap((to) => Array.from({ length: 50 }, () => ({ to }))))
    await whileDelivering(hanging, async () => {
      await outbox.enqueue({ to: await outbox.addRecipient() })
      await expect.poll(() => outbox.receiver.deliveries.length).toBe(1)
      expect(hanging.map(({ left }) => left())).toEqual(hanging.map(() => 0))
    })
  })
})

test('a host gets more concurrent requests while it responds quickly', async () => {
  let present = 0
  let most = 0
  const server = await serve(async (_request, response) => {
    present += 1
    most = Math.max(most, present)
    await wait(15)
    present -= 1
    response.end()
  })
  const quick = await outbox.addRecipient(server.url())
  await outbox.enqueue(...Array.from({ length: 400 }, () => ({ to: quick })))
  await outbox.deliver()
  expect(most).toBeGreaterThan(8)
  expect(most).toBeLessThanOrEqual(64)
  await server.close()
})

type Hanging = Awaited<ReturnType<typeof openHanging>>

/** Delivers during `work`, which starts when a request hangs at each of the servers. */
async function whileDelivering(hanging: readonly Hanging[], work: () => Promise<void>) {
  const stop = new AbortController()
  const run = deliverDue(outboxDeps(outbox.db, { timeoutMs: 60_000 }), stop.signal)
  const working = async () => {
    try {
      await expect.poll(() => hanging.every(({ came }) => came() > 0)).toBe(true)
      await work()
    } finally {
      stop.abort()
      await Promise.all(hanging.map(({ close }) => close()))
    }
  }
  await Promise.all([run, working()])
}

/** A server that never answers, and counts requests and disconnections. */
async function openHanging() {
  let [came, left] = [0, 0]
  const server = await serve(async (_request, response) => {
    came += 1
    response.once('close', () => {
      left += 1
    })
  })
  return { ...server, came: () => came, left: () => left }
}
