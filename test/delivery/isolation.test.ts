import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Outbox, openOutbox, serve } from './outbox.ts'

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(() => outbox.reset())

afterAll(() => outbox.close())

describe('an endpoint that hangs', () => {
  test('delays nobody else, with all its backlog before them', async () => {
    const hanging = await openHanging()
    const dead = await outbox.recipient(hanging.url())
    await outbox.enqueue(...Array.from({ length: 2000 }, () => ({ to: dead })))
    const stop = new AbortController()
    const run = outbox.deliver(stop.signal)
    while (hanging.count() === 0) await wait(5)

    const alive = await outbox.recipient()
    const startedAt = performance.now()
    await outbox.enqueue(...Array.from({ length: 100 }, () => ({ to: alive })))
    await outbox.receiver.waitFor(() => outbox.receiver.deliveries.length === 100)
    const tookMs = performance.now() - startedAt

    expect(tookMs).toBeLessThan(1500)
    expect(hanging.count()).toBeLessThanOrEqual(12)
    stop.abort()
    await run
    await hanging.close()
  })

  test('leaves room when many of them hang at once', async () => {
    const servers = await Promise.all(Array.from({ length: 20 }, openHanging))
    const dead = []
    for (const server of servers) dead.push(await outbox.recipient(server.url()))
    await outbox.enqueue(...dead.flatMap((to) => Array.from({ length: 50 }, () => ({ to }))))
    const stop = new AbortController()
    const run = outbox.deliver(stop.signal)
    while (servers.some((server) => server.count() === 0)) await wait(5)

    const alive = await outbox.recipient()
    const startedAt = performance.now()
    await outbox.enqueue({ to: alive })
    await outbox.receiver.waitFor(() => outbox.receiver.deliveries.length === 1)
    expect(performance.now() - startedAt).toBeLessThan(1000)

    stop.abort()
    await run
    await Promise.all(servers.map((server) => server.close()))
  })
})

test('one host gets more at once while it answers quickly', async () => {
  let present = 0
  let most = 0
  const server = await serve(async (_request, response) => {
    present += 1
    most = Math.max(most, present)
    await wait(15)
    present -= 1
    response.end()
  })
  const quick = await outbox.recipient(server.url())
  await outbox.enqueue(...Array.from({ length: 400 }, () => ({ to: quick })))
  await outbox.deliver()
  expect(most).toBeGreaterThan(8)
  expect(most).toBeLessThanOrEqual(64)
  await server.close()
})

async function openHanging() {
  let count = 0
  const server = await serve(async () => {
    count += 1
  })
  return { ...server, count: () => count }
}
