import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { transact } from '#src/db/connection.ts'
import { newDeliveryId } from '#src/delivery/delivery-id.ts'
import { insertMessage, type SentMessage } from '#src/delivery/messages/message-store.ts'
import { recordResults } from '#src/delivery/results/record-results.ts'
import type { SendTask, SendTaskResult } from '#src/delivery/sending/send-task.ts'
import { createSendingState } from '#src/delivery/sending/sending-state.ts'
import { deliverDue, reviseMessages, sendRetained } from '#src/delivery/service.ts'
import { finishDeliveries } from '#src/delivery/store.ts'
import { retainUnsent } from '#src/delivery/unsent/retained-store.ts'
import { createLastSuccesses } from '#src/recipients/last-successes.ts'
import { waitUntil } from '../bench/wait-until.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { type Chat, openChat } from './chat.ts'
import { CALLER, type Outbox, openOutbox } from './outbox.ts'

/** A delivery is in the queue or in the log, never in both and never in none. */

let outbox: Outbox

beforeAll(async () => {
  outbox = await openOutbox()
})
beforeEach(() => outbox.reset())
afterAll(() => outbox.close())

/** How many deliveries there are, and how many of them a reader sees twice. */
async function counted(): Promise<{ all: number; doubled: number }> {
  const [row] = await outbox.db.execute<{ all: number; doubled: number }>(sql`
    select count(*)::int as all, (count(*) - count(distinct id))::int as doubled from deliveries`)
  if (row === undefined) throw new Error('an aggregate query returned no row')
  return row
}

test('readers see every delivery once while workers send, fail, give up and send again', async () => {
  const COUNT = 600
  const targets = await Promise.all(['a', 'b', 'c'].map(() => outbox.addRecipient()))
  outbox.receiver.answerNext(
    ...Array.from({ length: COUNT }, (_, n) => [200, 500, 200, 400][n % 4] ?? 200),
  )
  const sending = [1, 2].map(() => createSendingState(outbox.deps.channels))
  const stop = new AbortController()
  const ids = await outbox.enqueue(
    ...Array.from({ length: COUNT }, (_, n) => {
      const to = targets[n % targets.length]
      if (to === undefined) throw new Error('no target')
      return { to, key: `${n % 60}`, firedAfterSeconds: n }
    }),
  )
  const workers = sending.map((state) =>
    deliverDue({ ...outbox.deps, sending: state }, stop.signal),
  )
  const unfinished = async () => (await outbox.db.execute(sql`select from delivery_queue`)).length
  for (let round = 0; (await unfinished()) > 0 && round < 2000; round += 1) {
    expect(await counted()).toEqual({ all: COUNT, doubled: 0 })
    for (const { id: recipientId } of targets) {
      if (round % 5 !== recipientId % 5) continue
      // What a person does who switches a destination off and on, while workers are at it.
      await transact(outbox.db, (tx) => retainUnsent(tx, [recipientId], outbox.clock.now()))
      await sendRetained(outbox.deps, CALLER, recipientId).catch(() => 0)
    }
    outbox.clock.advance(60)
    for (const state of sending) state.wake('webhook')
  }
  stop.abort()
  await Promise.all(workers)
  expect(await counted()).toEqual({ all: COUNT, doubled: 0 })
  expect((await outbox.rows()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
})

describe('the messages of a chat', () => {
  let chats: readonly Chat[]

  beforeEach(async () => {
    chats = [await openChat(outbox)]
  })

  test('are changed although their delivery was moved while the change waited', async () => {
    const [chat] = chats
    if (chat === undefined) throw new Error('no chat')
    const [id = ''] = await chat.notify({ alert: 1 })
    const moved = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const now = outbox.clock.now()
    const recording = transact(outbox.db, async (tx) => {
      const result = { ...{ id, attempt: 0, attempts: 0, status: 'delivered' }, ...NO_RESULT }
      await finishDeliveries(
        tx,
        [{ ...result, orderKey: '', recipientId: chat.id, carriedBy: id }] as never,
        now,
      )
      await insertMessage(tx, messageOf(chat, id))
      moved.resolve()
      await letGo.promise
    })
    await moved.promise
    const revising = transact(outbox.db, (tx) => reviseMessages(tx, [1]))
    await waitUntil('the change waits', async () => {
      const waiting = await outbox.db.execute(sql`select from pg_locks where not granted`)
      return waiting.length > 0
    })
    letGo.resolve()
    await Promise.all([recording, revising])
    const rows = await outbox.db.execute(
      sql`select id from sent_messages where revise_at is not null`,
    )
    expect([...rows]).toEqual([{ id }])
  })

  test('are changed and replaced in one transaction, and revised in another, without a deadlock', async () => {
    const MESSAGES = 12
    const [chat] = chats
    if (chat === undefined) throw new Error('no chat')
    const ids = await chat.notify(
      ...Array.from({ length: MESSAGES }, (_, n) => ({ alert: 1, signal: `s${n}` })),
    )
    const now = outbox.clock.now()
    await endDeliveries(
      outbox.db,
      sql`true`,
      sql`status = 'delivered', carried_by = id, message_id = '7'`,
    )
    for (const id of ids) await insertMessage(outbox.db, messageOf(chat, id))
    const before = await deadlocks()
    // The highest id first; the message that is replaced last.
    let [replaced = '', ...changed] = ids.toSorted()
    for (let round = 0; round < 40; round += 1) {
      const [next = ''] = await chat.notify({ alert: 2, signal: `t${round}` })
      const changes = changed
        .toReversed()
        .map((id) => resultOf(chat, now, { change: changeOf(id) }))
      const replacement = replacementOf(chat, { now, next, replaced })
      await Promise.all([
        recordResults(resultDeps(chat), [...changes, replacement]),
        transact(outbox.db, (tx) => reviseMessages(tx, [1])),
        transact(outbox.db, (tx) => reviseMessages(tx, [1, 2])),
      ])
      replaced = next
    }
    expect(await deadlocks()).toBe(before)
  })

  test('goes on if the message that replaces it cannot be stored', async () => {
    const [chat] = chats
    if (chat === undefined) throw new Error('no chat')
    const [old = '', next = ''] = await chat.notify({ alert: 1 }, { alert: 2 })
    await endDeliveries(
      outbox.db,
      sql`id = ${old}::uuid`,
      sql`status = 'delivered', carried_by = id`,
    )
    const now = outbox.clock.now()
    const leasedUntil = new Date(now.getTime() + 60_000)
    await insertMessage(outbox.db, { ...messageOf(chat, old), leasedUntil, reviseAt: now })
    await outbox.db.execute(sql`alter table sent_messages add constraint new_is_refused
      check (id <> ${sql.raw(`'${next}'`)}) not valid`)
    const replacement = replacementOf(chat, { now, next, replaced: old, leasedUntil })
    await recordResults(resultDeps(chat), [replacement])
    await outbox.db.execute(sql`alter table sent_messages drop constraint new_is_refused`)
    expect((await outbox.rows()).map(({ status }) => status)).toEqual(['delivered', 'delivered'])
    const rows = await outbox.db.execute(sql`
      select id, leased_until as "leasedUntil", revise_at as "reviseAt" from sent_messages`)
    expect([...rows]).toEqual([{ id: old, leasedUntil: null, reviseAt: now }])
  })

  async function deadlocks(): Promise<number> {
    await outbox.db.execute(sql`select pg_stat_force_next_flush()`)
    const [row] = await outbox.db.execute<{ deadlocks: number }>(sql`
      select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`)
    return row?.deadlocks ?? 0
  }
})

const NO_RESULT = {
  ...{ nextAttemptAt: null, plannedAt: null, statusCode: null, error: null, deliveredAt: null },
  ...{ retainedUntil: null, messageId: null, isSilent: false },
}

function resultDeps(chat: Chat) {
  return { ...chat.deps, lastSuccesses: createLastSuccesses(chat.deps) }
}

function messageOf(chat: Chat, id: string): SentMessage {
  const at = outbox.clock.now()
  return {
    ...{
      id,
      wallet: CALLER.wallet,
      recipientId: chat.id,
      channel: 'telegram',
      partitionKey: '4711',
    },
    ...{
      watchId: 42,
      kind: 'alert',
      recovery: false,
      loud: true,
      parts: 1,
      openedAt: at,
      sentAt: at,
    },
    ...{
      messageId: '7',
      version: 0,
      reviseAt: null,
      revisions: 0,
      openPart: null,
      leasedUntil: null,
    },
  }
}

const STORED = {
  ...{ kind: 'group' as const, watchId: 42, recovery: false, loud: true, states: new Map() },
}

function changeOf(id: string): NonNullable<SendTask['change']> {
  return {
    ...{ id, messageId: '7', version: 0, leasedUntil: outbox.clock.now(), revisions: 0, state: {} },
    ...{ isLonger: false, rings: false, isReplaced: false, isAwaited: false },
  }
}

function resultOf(chat: Chat, at: Date, about: Partial<SendTask>): SendTaskResult {
  const { id: recipientId } = chat
  const task: SendTask = {
    ...{ channel: 'telegram', recipientId, wallet: CALLER.wallet, partitionKey: '4711', rows: [] },
    ...{ envelope: {}, stored: { ...STORED, openedAt: at }, ...about },
  }
  return {
    task,
    isTest: false,
    at,
    attemptResult: { kind: 'delivered', receipt: { messageId: '8' } },
  }
}

function replacementOf(
  chat: Chat,
  of: {
    readonly now: Date
    readonly next: string
    readonly replaced: string
    readonly leasedUntil?: Date
  },
): SendTaskResult {
  const { now, next, replaced, leasedUntil = null } = of
  const row = {
    ...{ id: next, wallet: CALLER.wallet, alertId: 2, recipientId: chat.id, partitionKey: '4711' },
    ...{
      orderKey: newDeliveryId(now),
      envelope: {},
      attempts: 0,
      plannedAt: null,
      lastError: null,
    },
    ...{ createdAt: now, kind: 'alert' as const, recovery: false },
  }
  return resultOf(chat, now, { rows: [row], replaces: { id: replaced, leasedUntil, revisions: 0 } })
}
