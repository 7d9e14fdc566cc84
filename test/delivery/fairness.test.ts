import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DeliveryError } from '#src/channels/define.ts'
import { transact } from '#src/db/connection.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { deliverDue, reviseMessages } from '#src/delivery/service.ts'
import { runs, someOfEachKind } from '../support/runs.ts'
import { type Outbox, openOutbox, outboxDeps, serve } from './outbox.ts'
import { type ChatTarget, openChats, REFUSED } from './sick-chats.ts'

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})

beforeEach(() => outbox.reset())

afterAll(() => outbox.close())

/** Most requests of the channel at once. */
const PLACES = 256
/** Most of them to recipients that have not answered yet, or not in time. */
const UNPROVED = (PLACES * 3) / 4
/** Most of them to recipients whose last response was missing. */
const SUSPECTS = PLACES / 4
/** Deliveries in a queue that is long. */
const LONG = 12_000
const BAD = -1001
const GOOD = 4711

/** Alerts that differ in their signal where `keys` is more than one. */
function backlogOf(to: ChatTarget, count: number, severity: 'info' | 'critical', keys: number) {
  return Array.from({ length: count }, (_, index) => ({
    to,
    alert: index + 1,
    severity,
    signal: `signal ${index % keys}`,
  }))
}

/** Each longer than what a claim looks at: severity, and number of signals. */
const BACKLOGS = [
  ['info', 1],
  ['critical', 1],
  ['critical', 1500],
] as const

describe('a chat that refuses everything', () => {
  test.each(
    someOfEachKind(BACKLOGS, ([, keys]) => String(keys)),
  )('holds up no other chat, with a backlog of %s alerts of %i signals', async (severity, keys) => {
    const chats = openChats(outbox, (chatId) => (chatId === BAD ? REFUSED : undefined))
    const bad = await chats.link(BAD)
    const good = await chats.link(GOOD)
    for (let hour = 0; hour < 3; hour += 1) {
      await chats.notify(backlogOf(bad, 500, severity, keys))
      await chats.deliver()
      outbox.clock.advance(3600)
    }
    for (const [index, severityOfGood] of (['info', 'critical'] as const).entries()) {
      await chats.notify([{ to: good, alert: 9000 + index, severity: severityOfGood }])
      await chats.deliver()
      expect(chats.alertsIn(GOOD)).toEqual([9000, 9001].slice(0, index + 1))
    }
  })

  test('gets every message in order once it accepts messages again', async () => {
    const part = runs(400, 900)
    let isOff = true
    const chats = openChats(outbox, () => (isOff ? REFUSED : undefined))
    const bad = await chats.link(BAD)
    for (let place = 0; place < 3; place += 1) {
      await chats.notify(
        backlogOf(bad, part, 'info', 1).map((delivery) => ({
          ...delivery,
          alert: delivery.alert + place * part,
        })),
      )
      await chats.deliver()
      outbox.clock.advance(600)
    }
    isOff = false
    for (let hour = 0; hour < 12; hour += 1) {
      outbox.clock.advance(7200)
      await chats.deliver()
    }
    const expected = Array.from({ length: 3 * part }, (_, index) => index + 1)
    expect(chats.alertsIn(BAD)).toEqual(expected)
  })
})

test("as many failing chats as the channel's concurrency limit do not delay a healthy chat", async () => {
  const chats = openChats(outbox, (chatId) => (chatId < 0 ? REFUSED : undefined))
  const bad = []
  for (let chat = 1; chat <= 30; chat += 1) bad.push(await chats.link(-chat))
  const good = await chats.link(GOOD)
  const count = runs(24, 64)
  for (let part = 0; part < 2; part += 1) {
    await chats.notify(bad.flatMap((to) => backlogOf(to, count, 'critical', count)))
    await chats.deliver()
    outbox.clock.advance(7200)
  }
  await chats.notify([{ to: good, alert: 1, severity: 'info' }])
  await chats.deliver()
  expect(chats.alertsIn(GOOD)).toEqual([1])
})

test('a chat that must wait for an hour delays no other chat', async () => {
  const flood = new DeliveryError('flood', {
    ...{ statusCode: 429, retryAfterSeconds: 3600 },
    ...{ retryAfterIsMandatory: true, isOurFault: true },
  })
  const chats = openChats(outbox, (chatId) => (chatId === BAD ? flood : undefined))
  const bad = await chats.link(BAD)
  const good = await chats.link(GOOD)
  for (let minute = 0; minute < 4; minute += 1) {
    await chats.notify(backlogOf(bad, 400, 'critical', 400))
    await chats.deliver()
    outbox.clock.advance(60)
  }
  await chats.notify([{ to: good, alert: 1 }])
  await chats.deliver()
  expect(chats.alertsIn(GOOD)).toEqual([1])
})

test('chats whose messages a dead worker was editing do not delay other chats', async () => {
  const chats = openChats(outbox, () => undefined)
  const waiting = []
  for (let chat = 1; chat <= 30; chat += 1) waiting.push(await chats.link(-chat))
  const good = await chats.link(GOOD)
  await chats.notify(waiting.map((to) => ({ to, alert: 1, severity: 'critical' as const })))
  await chats.deliver()
  const leasedUntil = new Date(outbox.clock.now().getTime() + 60_000)
  await outbox.db.execute(sql`update sent_messages set leased_until = ${leasedUntil}`)
  await chats.notify(
    waiting.map((to) => ({ to, alert: 2, severity: 'critical' as const, signal: 'b' })),
  )
  await chats.notify([{ to: good, alert: 3 }])
  await chats.deliver()
  expect(chats.alertsIn(GOOD)).toEqual([3])
  outbox.clock.advance(61)
  await chats.deliver()
  const statuses = (await outbox.rows()).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set(['delivered']))
})

test('a thousand outdated messages in one chat do not delay edits in other chats', async () => {
  const chats = openChats(outbox, () => undefined)
  const many = await chats.link(BAD)
  const few = await chats.link(GOOD)
  await chats.notify([
    { to: many, alert: 1 },
    { to: few, alert: 2 },
  ])
  await chats.deliver()
  await outbox.db.execute(sql`
    insert into sent_messages (id, wallet, recipient_id, channel, partition_key, kind, recovery, loud, parts,
      opened_at, sent_at, message_id, version, revise_at, revisions)
    select gen_random_uuid(), wallet, recipient_id, channel, partition_key, kind, recovery, loud, parts,
      opened_at, sent_at, 'old ' || n, 0, sent_at - interval '1 day', 0
    from sent_messages, generate_series(1, 1000) n
    where recipient_id = ${many.id}`)
  outbox.states.set(2, { recoveredAt: outbox.clock.now() })
  await transact(outbox.db, (tx) => reviseMessages(tx, [2]))
  const changed = () => chats.edits.filter((id) => id.startsWith(`${GOOD} `)).length
  const stop = new AbortController()
  const run = deliverDue(chats.deps, stop.signal)
  await expect.poll(changed).toBe(1)
  stop.abort()
  await run
})

test('very many alerts for a slow host do not delay other hosts', async () => {
  const slow = await openHanging()
  const target = await outbox.addRecipient(slow.urls(1)[0])
  const [id] = await outbox.enqueue({ to: target })
  await outbox.db.execute(sql`
    insert into delivery_queue (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position,
      envelope, kind, recovery, test, urgency, status, attempts, next_attempt_at, created_at)
    select gen_random_uuid(), wallet, recipient_id, channel, partition_key, 'key ' || n, fired_at, n, envelope,
      kind, recovery, test, 2, status, 0, next_attempt_at - interval '1 hour', created_at
    from delivery_queue, generate_series(1, ${runs(LONG, 25_000)}::int) n where id = ${id}`)
  await outbox.db.execute(sql`analyze delivery_queue`)
  const good = await outbox.addRecipient()
  const stop = new AbortController()
  const run = deliverDue(outboxDeps(outbox.db, { timeoutMs: 60_000 }), stop.signal)
  await outbox.enqueue({ to: good })
  await expect.poll(() => outbox.receiver.deliveries.length).toBe(1)
  expect(slow.left()).toBe(0)
  stop.abort()
  slow.close()
  await run
})

test('very many alerts for a quick host do not delay a new one for another host', async () => {
  let taken = 0
  const quick = await serve(async (_request, response) => {
    taken += 1
    response.end()
  })
  const [id] = await outbox.enqueue({ to: await outbox.addRecipient(quick.url()) })
  await outbox.db.execute(sql`
    insert into delivery_queue (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position,
      envelope, kind, recovery, test, urgency, status, attempts, next_attempt_at, created_at)
    select gen_random_uuid(), wallet, recipient_id, channel, partition_key, 'key ' || n, fired_at, n, envelope,
      kind, recovery, test, urgency, status, 0, next_attempt_at, created_at
    from delivery_queue, generate_series(1, ${LONG}) n where id = ${id}`)
  await outbox.db.execute(sql`analyze delivery_queue`)
  const stop = new AbortController()
  const sending = createSendingState(outbox.deps.channels)
  const run = deliverDue({ ...outbox.deps, sending }, stop.signal)
  await expect.poll(() => taken).toBeGreaterThan(0)
  outbox.clock.advance(1)
  await outbox.enqueue({ to: await outbox.addRecipient() })
  sending.wake('webhook')
  await expect.poll(() => outbox.receiver.deliveries.length).toBe(1)
  expect(taken).toBeLessThan(LONG / 2)
  stop.abort()
  await run
  await quick.close()
})

test('three hundred hanging hosts with different addresses do not delay a healthy one', async () => {
  const hanging = await openHanging()
  const dead = []
  for (const url of hanging.urls(300)) dead.push(await outbox.addRecipient(url))
  await outbox.enqueue(...dead.flatMap((to) => Array.from({ length: 5 }, () => ({ to }))))
  // Requests hang until the test ends them.
  const deps = outboxDeps(outbox.db, { timeoutMs: 600_000 })
  const stop = new AbortController()
  const run = deliverDue({ ...deps, sending: createSendingState(deps.channels) }, stop.signal)
  await expect.poll(() => hanging.open()).toBe(UNPROVED)
  hanging.endAll()
  // The hosts that were not tried yet, and as many of the others as may hang.
  await expect
    .poll(() => {
      // Hosts that found no place stand aside for a moment.
      deps.clock.advance(0.1)
      return hanging.open()
    })
    .toBe(300 - UNPROVED + SUSPECTS)
  const before = hanging.left()
  // It is due after all others.
  deps.clock.advance(1)
  outbox.clock.advance(1)
  await outbox.enqueue({ to: await outbox.addRecipient() })
  await expect.poll(() => outbox.receiver.deliveries.length).toBe(1)
  expect(hanging.left()).toBe(before)
  stop.abort()
  hanging.close()
  await run
})

/** A server that never answers, at every address of this machine. */
async function openHanging() {
  let left = 0
  const open = new Set<ServerResponse>()
  const server = createServer((_request, response) => {
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      left += 1
    })
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    /** Number of requests that have ended. */
    left: () => left,
    /** Number of requests that hang now. */
    open: () => open.size,
    endAll: () => {
      for (const response of open) response.destroy()
    },
    urls: (count: number) =>
      Array.from(
        { length: count },
        (_, host) => `http://127.${1 + Math.floor(host / 200)}.0.${1 + (host % 200)}:${port}/hook`,
      ),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
