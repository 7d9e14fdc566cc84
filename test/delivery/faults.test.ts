import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import { repairTimes } from '#src/db/repair-times.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { deliverDue, listRetained, reviseMessages } from '#src/delivery/service.ts'
import { STORED_TIMES } from '#src/delivery/stored-times.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import { drain } from '../support/drain.ts'
import { CALLER, type Outbox, openOutbox, outboxDeps, serve } from './outbox.ts'
import { type Answer, openChats } from './sick-chats.ts'

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(() => outbox.reset())

afterAll(() => outbox.close())

const dialect = new PgDialect()
const AWAY = new DeliveryError('unreachable', { isOurFault: true })

describe('a destination that cannot be decrypted', () => {
  test('fails at once without effect on others, is counted for the operator, and is not switched off', async () => {
    const quarantine = createQuarantine({ log: outbox.deps.log })
    const bad = await outbox.addRecipient()
    const good = await outbox.addRecipient()
    await outbox.db.execute(sql`update recipients set destination = 'AAAA' where id = ${bad.id}`)
    await outbox.enqueue({ to: bad }, ...Array.from({ length: 20 }, () => ({ to: good })))
    await drain({ ...outbox.deps, quarantine })
    expect(outbox.receiver.deliveries).toHaveLength(20)
    expect((await outbox.rows()).filter(({ recipientId }) => recipientId === bad.id)).toMatchObject(
      [{ status: 'failed', lastError: 'unreadable', attempts: 1, nextAttemptAt: null }],
    )
    expect(quarantine.read()).toEqual([{ kind: 'destination', rows: 1 }])
    const [row] = await outbox.db.execute(sql`select status from recipients where id = ${bad.id}`)
    expect(row).toMatchObject({ status: 'active' })
  })

  test('fails without effect on others also if the stored value does not fit its channel', async () => {
    const bad = await outbox.addRecipient()
    const good = await outbox.addRecipient()
    const sealed = outbox.box.seal('destination', JSON.stringify({ nonsense: true }))
    await outbox.db.execute(sql`update recipients set destination = ${sealed} where id = ${bad.id}`)
    await outbox.enqueue({ to: bad }, { to: good })
    await outbox.deliver()
    const statuses = (await outbox.rows()).map(({ recipientId, status }) => [recipientId, status])
    expect(new Map(statuses as [number, string][])).toEqual(
      new Map([
        [bad.id, 'failed'],
        [good.id, 'delivered'],
      ]),
    )
  })
})

describe('results of deliveries', () => {
  test('are kept during an outage of the database, and nothing is sent twice', async () => {
    const target = await outbox.addRecipient()
    await outbox.enqueue(...Array.from({ length: 40 }, () => ({ to: target })))
    let refused = 0
    const db = withTransactions(outbox.db, () => {
      refused += 1
      if (refused > 4) return
      throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
    })
    await drain({ ...outbox.deps, db })
    expect(refused).toBeGreaterThan(4)
    outbox.clock.advance(61)
    await outbox.deliver()
    expect(outbox.receiver.deliveries).toHaveLength(40)
    expect(new Set((await outbox.rows()).map(({ status }) => status))).toEqual(
      new Set(['delivered']),
    )
  })

  test('are all recorded although a notice about one of them fails', async () => {
    const gone = await outbox.addRecipient(outbox.receiver.url('gone'))
    const good = await outbox.addRecipient()
    outbox.receiver.answerNext(410)
    await outbox.enqueue({ to: gone })
    await outbox.enqueue(...Array.from({ length: 5 }, () => ({ to: good })))
    const notices = {
      ...outbox.deps.notices,
      switchedOff: () => Promise.reject(new Error('cannot be rendered')),
    }
    await drain({ ...outbox.deps, notices })
    outbox.clock.advance(61)
    await drain({ ...outbox.deps, notices })
    expect(outbox.receiver.deliveries).toHaveLength(6)
    const statuses = (await outbox.rows()).map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => 'delivered'), 'failed'])
  })

  test('are recorded although the state of one alert cannot be read', async () => {
    const chats = openChats(outbox, () => undefined)
    const [bad, good] = [await chats.link(1), await chats.link(2)]
    await chats.notify([
      { to: bad, alert: 1 },
      { to: good, alert: 2 },
    ])
    const quarantine = createQuarantine({ log: outbox.deps.log })
    const stateOf = async (_db: Db, ids: readonly number[]) => {
      if (ids.includes(1)) throw new Error('no such alert')
      return new Map()
    }
    await drain({ ...chats.deps, stateOf, quarantine })
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
    expect(quarantine.read()).toEqual([{ kind: 'alert', rows: 1 }])
  })
})

describe('an outage on our side', () => {
  test('ends with the first success: all waiting deliveries are sent', async () => {
    let isUnavailable = true
    const chats = openChats(outbox, (): Answer => (isUnavailable ? AWAY : undefined))
    const targets = []
    for (let chat = 1; chat <= 12; chat += 1) targets.push(await chats.link(chat))
    await chats.notify(
      targets.map((to) => ({ to, alert: to.chatId, severity: 'critical' as const })),
    )
    // By the schedule alone, the fourth attempt comes more than twenty minutes after the third.
    for (let minute = 0; minute < 12; minute += 1) {
      await chats.deliver()
      outbox.clock.advance(60)
    }
    isUnavailable = false
    await chats.notify(targets.slice(0, 1).map((to) => ({ to, alert: 100, signal: 'other' })))
    await chats.deliver()
    // Ten more seconds, because a delivery that is due within ten seconds is not moved forward.
    outbox.clock.advance(10)
    await chats.deliver()
    expect(
      targets
        .flatMap(({ chatId }) => chats.alertsIn(chatId))
        .toSorted((a, b) => (a ?? 0) - (b ?? 0)),
    ).toEqual([...targets.map(({ chatId }) => chatId), 100])
  })

  test('is detected as over within a minute, also when nothing else is sent', async () => {
    let isUnavailable = true
    const chats = openChats(outbox, (): Answer => (isUnavailable ? AWAY : undefined))
    const only = await chats.link(1)
    await chats.notify([{ to: only, alert: 1, severity: 'critical' }])
    // Seven minutes. By the schedule alone, the third attempt is made within them, and the fourth more than twenty minutes later.
    for (let step = 0; step < 42; step += 1) {
      await chats.deliver()
      outbox.clock.advance(10)
    }
    expect(chats.tries.length).toBeLessThan(18)
    isUnavailable = false
    for (let step = 0; step < 6 && chats.alertsIn(1).length === 0; step += 1) {
      outbox.clock.advance(10)
      await chats.deliver()
    }
    expect(chats.alertsIn(1)).toEqual([1])
  })

  test('is assumed for webhooks if none of the hosts that responded before responds', async () => {
    let isUnavailable = false
    const open = () =>
      serve(async (request, response) => {
        if (isUnavailable) request.socket.destroy()
        else response.end()
      })
    const servers = await Promise.all([open(), open(), open()])
    const deps = outboxDeps(outbox.db)
    Object.assign(deps, { clock: outbox.clock })
    const sending = createSendingState(deps.channels)
    const deliver = () => drain({ ...deps, sending })
    const targets = []
    for (const server of servers) targets.push(await outbox.addRecipient(server.url()))
    await outbox.enqueue(...targets.map((to) => ({ to })))
    await deliver()
    isUnavailable = true
    await outbox.enqueue(...targets.map((to) => ({ to })))
    await deliver()
    outbox.clock.advance(7)
    await deliver()
    isUnavailable = false
    await outbox.enqueue(...targets.slice(0, 1).map((to) => ({ to })))
    await deliver()
    outbox.clock.advance(1)
    await deliver()
    expect(new Set((await outbox.rows()).map(({ status }) => status))).toEqual(
      new Set(['delivered']),
    )
    await Promise.all(servers.map((server) => server.close()))
  })
})

describe('an outage on our side during which the process is restarted', () => {
  /** Lets webhooks on three hosts fail until they wait for half an hour. */
  async function fail() {
    const world = { isUnavailable: true }
    const open = () =>
      serve(async (request, response) => {
        if (world.isUnavailable) request.socket.destroy()
        else response.end()
      })
    const servers = await Promise.all([open(), open(), open()])
    const deps = { ...outboxDeps(outbox.db), clock: outbox.clock }
    const before = createSendingState(deps.channels)
    const targets = []
    for (const server of servers) targets.push(await outbox.addRecipient(server.url()))
    await outbox.enqueue(...targets.map((to) => ({ to })))
    for (const seconds of [0, 7, 370]) {
      outbox.clock.advance(seconds)
      await drain({ ...deps, sending: before })
    }
    const [row] = await outbox.rows()
    expect(row).toMatchObject({ status: 'retrying', attempts: 3 })
    const after = createSendingState(deps.channels)
    return {
      world,
      targets,
      /** A run of a restarted process. */
      deliver: () => drain({ ...deps, sending: after }),
      close: () => Promise.all(servers.map((server) => server.close())),
    }
  }
  const statuses = async () => new Set((await outbox.rows()).map(({ status }) => status))

  test('ends with the first success for every host', async () => {
    const { world, targets, deliver, close } = await fail()
    world.isUnavailable = false
    await outbox.enqueue(...targets.slice(0, 1).map((to) => ({ to })))
    await deliver()
    outbox.clock.advance(1)
    await deliver()
    expect(await statuses()).toEqual(new Set(['delivered']))
    await close()
  })

  test('is detected as over within a minute, also when nothing else is sent', async () => {
    const { world, deliver, close } = await fail()
    await deliver()
    world.isUnavailable = false
    for (let step = 0; step < 7; step += 1) {
      outbox.clock.advance(10)
      await deliver()
    }
    expect(await statuses()).toEqual(new Set(['delivered']))
    await close()
  })
})

describe('a clock that jumps', () => {
  test('forward by minutes repeats no delivery that a process is sending', async () => {
    let came = 0
    const gate = Promise.withResolvers<void>()
    const server = await serve(async (_request, response) => {
      came += 1
      await gate.promise
      response.end()
    })
    await outbox.enqueue({ to: await outbox.addRecipient(server.url()) })
    const deps = { ...outboxDeps(outbox.db, { timeoutMs: 60_000 }), clock: outbox.clock }
    const run = drain(deps)
    await expect.poll(() => came).toBe(1)
    outbox.clock.advance(600)
    const renewed = async () => (await outbox.rows())[0]?.leasedUntil?.getTime() ?? 0
    // Waits until the process has extended the lease past the clock's new time.
    await expect.poll(renewed).toBeGreaterThan(outbox.clock.now().getTime())
    gate.resolve()
    await run
    expect(came).toBe(1)
    expect(await outbox.rows()).toMatchObject([{ status: 'delivered', attempts: 1 }])
    await server.close()
  })

  test('a day ahead and back leaves no chat message outdated after the next start', async () => {
    const chats = openChats(outbox, () => undefined)
    outbox.clock.advance(DAY_MS / 1000)
    await chats.notify([{ to: await chats.link(1), alert: 1 }])
    await chats.deliver()
    await outbox.db.transaction((tx) => reviseMessages(tx, [1]))
    outbox.clock.advance(-DAY_MS / 1000)
    await repairTimes(outbox.deps, STORED_TIMES)
    await chats.deliver()
    expect(chats.edits).toHaveLength(1)
  })

  test('a day ahead and back delays no retry, no new delivery and no delivery of a dead process', async () => {
    outbox.receiver.answerNext(500)
    const target = await outbox.addRecipient()
    await outbox.enqueue({ to: target })
    outbox.clock.advance(DAY_MS / 1000)
    await drain(outbox.deps)
    expect(await outbox.rows()).toMatchObject([{ status: 'retrying', attempts: 1 }])
    const [leased] = await outbox.enqueue({ to: target }, { to: target })
    const leasedUntil = new Date(outbox.clock.now().getTime() + 60_000)
    await outbox.db.execute(
      sql`update delivery_queue set leased_until = ${leasedUntil} where id = ${leased}`,
    )
    outbox.clock.advance(-DAY_MS / 1000)
    await repairTimes(outbox.deps, STORED_TIMES)
    // The lease of the dead process is as long as it was.
    outbox.clock.advance(60)
    await drain(outbox.deps)
    expect((await outbox.rows()).map(({ status }) => status)).toEqual([
      'delivered',
      'delivered',
      'delivered',
    ])
  })
})

describe('a reminder that is pending in the outbox', () => {
  test.each([
    ['acknowledged', { acknowledged: { at: new Date(), by: 'Ann' } }],
    ['over', { recoveredAt: new Date() }],
    ['closed with its watch', { closedAt: new Date() }],
    ['muted', { muted: { until: 'recovered' as const } }],
  ])('is not sent when its alert is %s meanwhile', async (_what, state) => {
    const chats = openChats(outbox, () => undefined)
    const chat = await chats.link(1)
    await chats.notify([{ to: chat, alert: 1, severity: 'critical' }])
    await chats.deliver()
    outbox.states.set(1, state)
    await chats.notify([{ to: chat, alert: 1, severity: 'critical', kind: 'reminder' }])
    await chats.deliver()
    expect(chats.alertsIn(1)).toEqual([1])
    const statuses = async () => (await outbox.rows()).map(({ status }) => status).toSorted()
    expect(await statuses()).toEqual(['delivered', 'muted'])
    // Later deliveries of its key do not wait for it.
    outbox.clock.advance(60)
    await chats.notify([{ to: chat, alert: 2 }])
    await chats.deliver()
    expect(await statuses()).toEqual(['delivered', 'delivered', 'muted'])
  })

  test('is sent while its alert is open', async () => {
    const chats = openChats(outbox, () => undefined)
    const chat = await chats.link(1)
    outbox.states.set(1, {})
    await chats.notify([{ to: chat, alert: 1, severity: 'critical', kind: 'reminder' }])
    await chats.deliver()
    expect(chats.alertsIn(1)).toEqual([1])
  })
})

test('a delivery that failed after its last attempt is retained', async () => {
  outbox.receiver.answerAlways(503)
  const target = await outbox.addRecipient()
  const [id] = await outbox.enqueue({ to: target })
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    await outbox.deliver()
    outbox.clock.advance(43_200)
  }
  expect(await outbox.rows()).toMatchObject([{ status: 'failed' }])
  const kept = await listRetained(outbox.deps, CALLER, target.id)
  expect(kept.map(({ deliveryId }) => deliveryId)).toEqual([id])
})

test('deliveries of a channel are sent while it cannot be read which of its messages are outdated', async () => {
  const chats = openChats(outbox, () => undefined)
  const stop = new AbortController()
  let looks = 0
  const db = withStatements(outbox.db, (text) => {
    if (!text.includes('with recursive hop')) return
    looks += 1
    throw new Error('the plan is too slow')
  })
  await chats.notify([{ to: await chats.link(1), alert: 1 }])
  const run = deliverDue({ ...chats.deps, db }, stop.signal)
  await expect.poll(async () => (await outbox.rows())[0]?.status).toBe('delivered')
  expect(looks).toBeGreaterThan(0)
  expect(chats.alertsIn(1)).toEqual([1])
  stop.abort()
  await run
})

test('a channel whose claims fail delays no other channel', async () => {
  const chats = openChats(outbox, () => undefined)
  const chat = await chats.link(1)
  const hook = await outbox.addRecipient()
  await chats.notify([{ to: chat, alert: 1 }])
  await outbox.enqueue({ to: hook })
  const stateOf = () => Promise.reject(Object.assign(new Error('lost'), { code: '08006' }))
  const stop = new AbortController()
  await outbox.db.execute(
    sql`update delivery_queue set kind = 'reminder' where channel = 'telegram'`,
  )
  const run = deliverDue({ ...chats.deps, stateOf }, stop.signal)
  await expect.poll(() => outbox.receiver.deliveries.length).toBe(1)
  stop.abort()
  await run
})

/** The database with a hook that is called with each statement outside of transactions. */
function withStatements(db: Db, show: (text: string) => void): Db {
  return new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'execute') return value.bind(target)
      return async (query: SQL) => {
        show(dialect.sqlToQuery(query).sql)
        return await value.call(target, query)
      }
    },
  })
}

/** The database with a hook that is called before each transaction. */
function withTransactions(db: Db, ask: () => void): Db {
  return new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'transaction') return value.bind(target)
      return async (...input: unknown[]) => {
        ask()
        return await value.apply(target, input)
      }
    },
  })
}
