import type { Update } from 'grammy/types'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { drainInbox, putUpdates, type RunningInbox, startInbox } from '#bot/core/inbox.ts'
import { closeUpdate, INBOX } from '#bot/core/inbox-store.ts'
import { claimDueRows } from '#src/db/queue.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

/** Claims of updates when clocks are set, and when other processes take over. */

let database: FreshDatabase
let clock: TestClock
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  clock = testClock()
  await database.sql`delete from telegram_updates`
})
afterAll(() => database.drop())

const deps = () => ({
  db: database.db,
  clock,
  log: silentLogger,
})
const claimDue = () =>
  claimDueRows(database.db, INBOX, { now: clock.now(), leaseMs: 30_000, limit: 10 })
const rowOf = async (updateId: number) => {
  const [row] = await database.sql`
    select attempts, leased_until, handled_at from telegram_updates where update_id = ${updateId}`
  return row
}

function message(id: number, chatId = id): Update {
  const chat = { id: chatId, type: 'private' as const, first_name: 'Ann' }
  const from = { id: chatId, is_bot: false, first_name: 'Ann' }
  return {
    update_id: id,
    message: { message_id: 1, date: 1, chat, from, text: 'hello' },
  } as Update
}

/** Starts an inbox that is handling the update 1, until `firstHandled` is resolved or rejected. */
async function startWithUpdateInProgress(): Promise<{
  readonly inbox: RunningInbox
  /** Ids of the updates whose handling has started, in order. */
  readonly started: readonly number[]
  readonly firstHandled: PromiseWithResolvers<void>
}> {
  const started: number[] = []
  const firstHandled = Promise.withResolvers<void>()
  const inbox = await startInbox(deps(), database.sql, {
    handle: async (update) => {
      started.push(update.update_id)
      if (update.update_id === 1) await firstHandled.promise
    },
    giveUp: async () => undefined,
  })
  await putUpdates(deps(), [message(1)])
  await expect.poll(() => started).toEqual([1])
  return { inbox, started, firstHandled }
}

test('an update that is being handled is not handled again when the clock jumps ahead', async () => {
  const { inbox, started, firstHandled } = await startWithUpdateInProgress()
  clock.advance(31)
  // To claim the update 2, the inbox reads the lease of the update 1 by the new time.
  await putUpdates(deps(), [message(2)])
  await expect.poll(() => started).toContain(2)
  expect(await claimDue()).toEqual([])
  firstHandled.resolve()
  await inbox.stop()
  expect(started).toEqual([1, 2])
  expect(await rowOf(1)).toMatchObject({ attempts: 1, handled_at: clock.now() })
})

test('a worker does not write its result to an update that another worker has claimed meanwhile', async () => {
  for (const end of ['handled', 'failed'] as const) {
    await database.sql`delete from telegram_updates`
    const { inbox, firstHandled } = await startWithUpdateInProgress()
    const leasedUntil = new Date(clock.now().getTime() + 20_000)
    await database.sql`
      update telegram_updates set attempts = 2, leased_until = ${leasedUntil} where update_id = 1`
    if (end === 'handled') firstHandled.resolve()
    else firstHandled.reject(new Error('a bug'))
    await inbox.stop()
    expect(await rowOf(1)).toEqual({ attempts: 2, leased_until: leasedUntil, handled_at: null })
  }
})

test('a worker does not give up an update that another worker has claimed meanwhile', async () => {
  await putUpdates(deps(), [message(1)])
  await database.sql`update telegram_updates set attempts = 2`
  const givenUp: number[] = []
  await drainInbox(deps(), {
    handle: async ({ update_id: id }) => {
      await database.sql`update telegram_updates set attempts = 4 where update_id = ${id}`
      throw new Error('a bug')
    },
    giveUp: async ({ update_id: id }) => void givenUp.push(id),
  })
  expect(givenUp).toEqual([])
  expect(await rowOf(1)).toMatchObject({ attempts: 4, handled_at: null })
})

test('an update says at its end whether another one waits, which keeps the worker claiming', async () => {
  const { db } = database
  await putUpdates(deps(), [message(1), message(2)])
  const [first, second] = await claimDue()
  if (first === undefined || second === undefined) throw new Error('two updates are due')
  // The second is in hand.
  const alone = { isLast: true, isOtherWaiting: false }
  expect(await closeUpdate(db, first, clock.now())).toEqual(alone)
  await putUpdates(deps(), [message(3, 2)])
  expect(await closeUpdate(db, second, clock.now())).toEqual({ isLast: true, isOtherWaiting: true })
  const [third] = await claimDue()
  if (third === undefined) throw new Error('the third update is due')
  const lost = { ...third, attempts: 9 }
  expect(await closeUpdate(db, lost, clock.now())).toEqual({ isLast: false, isOtherWaiting: true })
  expect(await closeUpdate(db, third, clock.now())).toEqual(alone)
})

test('an update that arrives while the one before it is handled is not left behind', async () => {
  await putUpdates(deps(), [message(1, 7)])
  const handled: number[] = []
  await drainInbox(deps(), {
    handle: async ({ update_id: id }) => {
      if (id === 1) await putUpdates(deps(), [message(2, 7)])
      handled.push(id)
    },
    giveUp: async () => undefined,
  })
  expect(handled).toEqual([1, 2])
})
