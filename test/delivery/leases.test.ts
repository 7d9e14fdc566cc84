import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { builtProgram } from '../support/built-program.ts'
import { drain } from '../support/drain.ts'
import { type Outbox, openOutbox, outboxDeps, serve, type Target } from './outbox.ts'

let outbox: Outbox
let target: Target

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(async () => {
  await outbox.reset()
  target = await outbox.addRecipient()
})

afterAll(() => outbox.close())

describe('a worker that is killed between claim and send', () => {
  test('loses no delivery: another worker sends it once after the lease', async () => {
    const [id] = await outbox.enqueue({ to: target, key: 'key' })
    await outbox.enqueue({ to: target, key: 'key', firedAfterSeconds: 1 })
    await killOnceItClaimed()

    await outbox.deliver()
    outbox.clock.advance(59)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(0)

    outbox.clock.advance(2)
    await Promise.all([outbox.deliver(), outbox.deliver()])
    expect(outbox.receiver.deliveries).toHaveLength(2)
    expect(outbox.receiver.deliveries[0]?.headers['x-watchdog-delivery']).toBe(id)
    const rows = await outbox.rows()
    expect(rows.map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })
})

describe('workers', () => {
  test('never send a delivery twice, whatever the number of concurrent claims', async () => {
    await outbox.enqueue(...Array.from({ length: 300 }, () => ({ to: target })))
    await Promise.all(Array.from({ length: 6 }, () => outbox.deliver()))
    const ids = outbox.receiver.deliveries.map(({ headers }) => headers['x-watchdog-delivery'])
    expect(ids).toHaveLength(300)
    expect(new Set(ids).size).toBe(300)
  })

  test('whose lease ended do not overwrite the result of another worker', async () => {
    const gate = Promise.withResolvers<void>()
    let requests = 0
    const server = await serve(async (_request, response) => {
      requests += 1
      const isFirst = requests === 1
      if (isFirst) await gate.promise
      response.writeHead(isFirst ? 500 : 200).end()
    })
    await outbox.enqueue({ to: await outbox.addRecipient(server.url()) })
    const slow = outbox.deliver()
    while (requests === 0) await wait(5)
    outbox.clock.advance(61)
    const second = outboxDeps(outbox.db)
    second.clock.set(outbox.clock.now())
    await drain(second)
    gate.resolve()
    await slow
    expect(await outbox.rows()).toMatchObject([
      { status: 'delivered', attempts: 2, lastStatusCode: 200, leasedUntil: null },
    ])
    await server.close()
  })

  test('whose lease ended leave the delivery to its current holder', async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    let requests = 0
    const server = await serve(async (_request, response) => {
      const gate = gates[requests]
      requests += 1
      await gate?.promise
      response.writeHead(requests === 1 ? 200 : 500).end()
    })
    await outbox.enqueue({ to: await outbox.addRecipient(server.url()) })
    const first = outbox.deliver()
    while (requests === 0) await wait(5)
    outbox.clock.advance(61)
    const second = outbox.deliver()
    while (requests === 1) await wait(5)
    gates[0].resolve()
    await first
    expect(await outbox.rows()).toMatchObject([
      { status: 'pending', attempts: 2, leasedUntil: new Date('2026-11-20T12:02:01.000Z') },
    ])
    gates[1].resolve()
    await second
    expect(await outbox.rows()).toMatchObject([{ status: 'retrying', attempts: 2 }])
    await server.close()
  })

  test('keep a result that the database refuses, and do not send the delivery again in the meantime', async () => {
    const sending = createSendingState(outbox.deps.channels)
    const deliver = () => drain({ ...outbox.deps, sending })
    const [id, next] = await outbox.enqueue({ to: target }, { to: target, firedAfterSeconds: 1 })
    await outbox.db.execute(sql`alter table delivery_log add constraint nothing_is_recorded
      check (status <> 'delivered' or id <> ${sql.raw(`'${id}'`)}) not valid`)
    await deliver()
    expect(await outbox.rows()).toMatchObject([
      { id, status: 'pending', attempts: 1 },
      { id: next, status: 'delivered' },
    ])
    outbox.clock.advance(61)
    await deliver()
    expect(outbox.receiver.deliveries).toHaveLength(2)
    await outbox.db.execute(sql`alter table delivery_log drop constraint nothing_is_recorded`)
    await expect
      .poll(async () => {
        await deliver()
        return (await outbox.rows()).map(({ status }) => status)
      })
      .toEqual(['delivered', 'delivered'])
    expect(outbox.receiver.deliveries).toHaveLength(2)
  })

  test('that die with an unrecorded result leave the delivery until its lease ends', async () => {
    const [id] = await outbox.enqueue({ to: target })
    await outbox.db.execute(sql`alter table delivery_log
      add constraint nothing_is_recorded check (status <> 'delivered') not valid`)
    await outbox.deliver()
    await outbox.db.execute(sql`alter table delivery_log drop constraint nothing_is_recorded`)
    expect(await outbox.rows()).toMatchObject([{ id, status: 'pending', attempts: 1 }])

    outbox.clock.advance(61)
    await outbox.deliver()
    const ids = outbox.receiver.deliveries.map(({ headers }) => headers['x-watchdog-delivery'])
    expect(ids).toEqual([id, id])
    expect(await outbox.rows()).toMatchObject([{ status: 'delivered', attempts: 2 }])
  })

  test('deliver the others if one delivery cannot be read', async () => {
    const [broken, good] = await outbox.enqueue(
      { to: target },
      { to: target, firedAfterSeconds: 1 },
    )
    await outbox.db.execute(sql`update delivery_queue set envelope = '{}' where id = ${broken}`)
    await outbox.deliver()
    expect(await outbox.rows()).toMatchObject([
      { id: broken, status: 'failed', lastError: 'unreadable' },
      { id: good, status: 'delivered' },
    ])
  })

  test('that are stopped claim nothing more and finish running sends', async () => {
    const stop = new AbortController()
    const server = await serve(async (_request, response) => {
      stop.abort()
      await wait(100)
      response.end()
    })
    const slow = await outbox.addRecipient(server.url())
    await outbox.enqueue({ to: slow, key: 'key' }, { to: slow, key: 'key', firedAfterSeconds: 1 })
    await outbox.deliver(stop.signal)
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(['delivered', 'pending'])
    await server.close()
  })

  test('that are stopped release deliveries whose sends do not end, without counting the attempt', async () => {
    const stop = new AbortController()
    const server = await serve(async () => stop.abort())
    await outbox.enqueue({ to: await outbox.addRecipient(server.url()) })
    const deps = outboxDeps(outbox.db, { timeoutMs: 60_000 })
    await drain(deps, stop.signal)
    expect(await outbox.rows()).toMatchObject([
      { status: 'pending', attempts: 0, leasedUntil: null },
    ])
    await server.close()
  })
})

/** Starts a worker in a process of its own and kills it when it has claimed a delivery. */
async function killOnceItClaimed(): Promise<void> {
  const { path, env } = builtProgram('worker-that-hangs')
  const child = spawn(process.execPath, [path, outbox.database.url], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = await Promise.race([once(child.stdout, 'data'), exited])
  expect(String(line)).toBe('claimed\n')
  child.kill('SIGKILL')
  await exited
}
