import { setImmediate as turn } from 'node:timers/promises'
import { GrammyError, HttpError } from 'grammy'
import type { Update } from 'grammy/types'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  drainInbox,
  putUpdates,
  type RunningInbox,
  startInbox,
  type UpdateHandler,
} from '#bot/core/inbox.ts'
import { INBOX } from '#bot/core/inbox-store.ts'
import { claimDueRows } from '#src/db/queue.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
let clock: TestClock
let nextId = 1000
const logged: { readonly level: string; readonly message: string }[] = []
const log: Logger = {
  error: (_fields, message) => logged.push({ level: 'error', message }),
  warn: (_fields, message) => logged.push({ level: 'warn', message }),
  info: () => undefined,
  debug: () => undefined,
}
const running: RunningInbox[] = []

beforeAll(async () => {
  database = await freshDatabase()
  clock = testClock()
})
afterEach(async () => {
  for (const inbox of running.splice(0)) await inbox.stop()
  await database.sql`delete from telegram_updates`
  logged.length = 0
})
afterAll(() => database.drop())

const deps = () => ({
  db: database.db,
  clock: { ...clock, sync: async () => undefined },
  log,
})
const take = (leaseMs: number) =>
  claimDueRows(database.db, INBOX, { now: clock.now(), leaseMs, limit: 1 })

/** A message of a chat, as Telegram sends it. */
function message(chatId: number, text = 'hello'): Update {
  const from = { id: chatId, is_bot: false, first_name: 'Ann' }
  const chat = { id: chatId, type: 'private' as const, first_name: 'Ann' }
  nextId += 1
  return { update_id: nextId, message: { message_id: 1, date: 1, chat, from, text } } as Update
}

/** A handler that records its updates; `fail` may throw instead. */
function recorder(fail: (update: Update) => void = () => undefined) {
  const handled: number[] = []
  const givenUp: number[] = []
  const handler: UpdateHandler = {
    handle: async (update) => {
      fail(update)
      handled.push(update.update_id)
    },
    giveUp: async (update) => {
      givenUp.push(update.update_id)
    },
  }
  return { handled, givenUp, handler }
}

async function open(): Promise<number> {
  const [row] = await database.sql`
    select count(*)::int as open from telegram_updates where handled_at is null`
  return row?.['open']
}

async function start(handler: UpdateHandler): Promise<RunningInbox> {
  const inbox = await startInbox(deps(), database.sql, handler)
  running.push(inbox)
  return inbox
}

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 10_000
  while (!(await done())) {
    if (performance.now() > giveUpAt) throw new Error('it did not happen')
    await turn()
  }
}

test('an update is handled once, however often Telegram sends it', async () => {
  const { handled, handler } = recorder()
  const update = message(1)
  await putUpdates(deps(), [update, update])
  await putUpdates(deps(), [update])
  await drainInbox(deps(), handler)
  await putUpdates(deps(), [update])
  await drainInbox(deps(), handler)
  expect(handled).toEqual([update.update_id])
})

test('the content of an update is deleted once it is handled', async () => {
  const update = message(1, 'something private')
  await putUpdates(deps(), [update])
  await drainInbox(deps(), recorder().handler)
  const [row] = await database.sql`
    select update, handled_at from telegram_updates where update_id = ${update.update_id}`
  expect(row).toMatchObject({ update: null, handled_at: clock.now() })
})

test('the worker is woken by an update and handles it without waiting', async () => {
  const { handled, handler } = recorder()
  await start(handler)
  const updates = [message(1), message(2), message(3)]
  await putUpdates(deps(), updates)
  await until(() => handled.length === 3)
})

test('updates of a chat are handled one after another, in the order of their ids', async () => {
  const inHand = new Map<number, number>()
  const order = new Map<number, number[]>()
  let most = 0
  const handler: UpdateHandler = {
    handle: async ({ update_id: id, message: sent }) => {
      const chatId = sent?.chat.id ?? 0
      const before = inHand.get(chatId) ?? 0
      if (before > 0) throw new Error('two of one chat at once')
      inHand.set(chatId, before + 1)
      most = Math.max(
        most,
        [...inHand.values()].reduce((a, b) => a + b, 0),
      )
      await turn()
      await turn()
      order.set(chatId, [...(order.get(chatId) ?? []), id])
      inHand.set(chatId, before)
    },
    giveUp: async () => undefined,
  }
  const updates = Array.from({ length: 60 }, (_, index) => message(index % 6))
  // Two workers, as two processes would be.
  await start(handler)
  await start(handler)
  await putUpdates(deps(), updates.toReversed())
  await until(async () => (await open()) === 0)
  const expected = Map.groupBy(updates, (update) => update.message?.chat.id ?? 0)
  for (const [chatId, ids] of order) {
    expect(ids).toEqual(expected.get(chatId)?.map(({ update_id: id }) => id))
  }
  expect(logged).toEqual([])
  expect(most).toBeGreaterThan(1)
})

test('an update that a killed process had claimed is handled by another after 30 seconds, once', async () => {
  const { handled, handler } = recorder()
  const [first, second] = [message(1), message(1)]
  await putUpdates(deps(), [first, second])
  // A process claims it and dies without writing anything more.
  const [taken] = await take(30_000)
  expect(taken?.updateId).toBe(first.update_id)
  await drainInbox(deps(), handler)
  expect(handled).toEqual([])
  clock.advance(30)
  await drainInbox(deps(), handler)
  expect(handled).toEqual([first.update_id, second.update_id])
})

test('an update that was stored before a stop is handled after the next start', async () => {
  const { handled, handler } = recorder()
  const inbox = await start(handler)
  await inbox.stop()
  running.length = 0
  const update = message(1)
  await putUpdates(deps(), [update])
  expect(handled).toEqual([])
  await start(handler)
  await until(() => handled.length === 1)
})

test('a stop waits for the update that is being handled', async () => {
  const release = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  let isDone = false
  const inbox = await start({
    handle: async () => {
      begun.resolve()
      await release.promise
      isDone = true
    },
    giveUp: async () => undefined,
  })
  await putUpdates(deps(), [message(1)])
  await begun.promise
  const stopped = inbox.stop()
  running.length = 0
  release.resolve()
  await stopped
  expect(isDone).toBe(true)
  expect(await open()).toBe(0)
})

test('an update that fails is retried, and later ones of its chat wait for it', async () => {
  let failures = 1
  const first = message(1)
  const { handled, handler } = recorder(({ update_id: id }) => {
    if (id === first.update_id && failures-- > 0) throw new Error('a bug')
  })
  const second = message(1)
  const other = message(2)
  await putUpdates(deps(), [first, second, other])
  await drainInbox(deps(), handler)
  expect(handled).toEqual([other.update_id])
  clock.advance(1)
  await drainInbox(deps(), handler)
  expect(handled).toEqual([other.update_id, first.update_id, second.update_id])
})

test('an update that always fails is given up after three tries, logged, and blocks no other', async () => {
  const bad = message(1)
  const { handled, givenUp, handler } = recorder(({ update_id: id }) => {
    if (id === bad.update_id) throw new Error('a bug')
  })
  const next = message(1)
  await putUpdates(deps(), [bad, next])
  for (let round = 0; round < 5; round += 1) {
    await drainInbox(deps(), handler)
    clock.advance(60)
  }
  expect(givenUp).toEqual([bad.update_id])
  expect(handled).toEqual([next.update_id])
  expect(logged.filter(({ level }) => level === 'error')).toEqual([
    { level: 'error', message: 'update was given up' },
  ])
})

test('an update is retried for minutes while Telegram cannot be reached', async () => {
  let tries = 0
  const { handled, handler } = recorder(() => {
    tries += 1
    if (tries < 9) throw new HttpError('network', new Error('ECONNREFUSED'))
  })
  await putUpdates(deps(), [message(1)])
  for (let round = 0; round < 9; round += 1) {
    await drainInbox(deps(), handler)
    clock.advance(60)
  }
  expect(handled).toHaveLength(1)
})

test('a retry_after of Telegram is waited for exactly and does not count as an attempt', async () => {
  let floods = 20
  const flood = () =>
    new GrammyError(
      'flood',
      {
        ok: false,
        error_code: 429,
        description: 'Too Many Requests',
        parameters: { retry_after: 7 },
      },
      'sendMessage',
      {},
    )
  const { handled, givenUp, handler } = recorder(() => {
    floods -= 1
    if (floods >= 0) throw flood()
  })
  await putUpdates(deps(), [message(1)])
  for (let round = 0; round < 21; round += 1) {
    await drainInbox(deps(), handler)
    clock.advance(6)
    const before = floods
    await drainInbox(deps(), handler)
    expect(floods).toBe(before)
    clock.advance(1)
  }
  expect(handled).toHaveLength(1)
  expect(givenUp).toEqual([])
})

test('an update during which every process dies is given up', async () => {
  const { handled, givenUp, handler } = recorder()
  await putUpdates(deps(), [message(1)])
  for (let crash = 0; crash < 10; crash += 1) {
    await take(1000)
    clock.advance(2)
  }
  await drainInbox(deps(), handler)
  expect(handled).toEqual([])
  expect(givenUp).toHaveLength(1)
})

test('a text that PostgreSQL cannot store blocks no other update', async () => {
  const texts: (string | undefined)[] = []
  const handler: UpdateHandler = {
    handle: async (update) => {
      texts.push(update.message?.text)
    },
    giveUp: async () => undefined,
  }
  await putUpdates(deps(), [message(1, 'nul \0 and half \ud83d'), message(1, 'after')])
  await drainInbox(deps(), handler)
  expect(texts).toEqual(['nul \ufffd and half \ufffd', 'after'])
})

test('handled updates are deleted after three days', async () => {
  const { handler } = recorder()
  await putUpdates(deps(), [message(1)])
  await drainInbox(deps(), handler)
  clock.advance(71 * 3600)
  const rows = async () => (await database.sql`select 1 from telegram_updates`).length
  const early = await start(handler)
  await until(() => true)
  await early.stop()
  running.length = 0
  expect(await rows()).toBe(1)
  clock.advance(2 * 3600)
  await start(handler)
  await until(async () => (await rows()) === 0)
})

test('a chat is served after one update of each busy chat, however many those have sent', async () => {
  const busy = Array.from({ length: 8 }, (_, index) => 5000 + index)
  const flood = Array.from({ length: 240 }, (_, index) => message(busy[index % 8] ?? 0))
  await putUpdates(deps(), flood)
  const late = message(6000)
  await putUpdates(deps(), [late])
  const { handler, handled } = recorder()
  await drainInbox(deps(), handler)
  expect(handled.indexOf(late.update_id)).toBe(8)
  expect(handled).toHaveLength(241)
})

test('updates of a chat are handled in order while other chats write', async () => {
  const updates = Array.from({ length: 60 }, (_, index) =>
    message(7000 + (index % 7) * (index % 2)),
  )
  for (const update of updates) await putUpdates(deps(), [update])
  const { handler, handled } = recorder()
  await drainInbox(deps(), handler)
  const chatOf = new Map(updates.map((update) => [update.update_id, update.message?.chat.id]))
  for (const ids of Map.groupBy(handled, (id) => chatOf.get(id)).values()) {
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  }
  expect(handled.toSorted()).toEqual(updates.map(({ update_id: id }) => id).toSorted())
})
