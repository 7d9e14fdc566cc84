import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { blockChat, linkChat } from '#src/recipients/chats.ts'
import { recordOutcomes } from '#src/recipients/destinations.ts'
import { createLastSuccesses, type LastSuccesses } from '#src/recipients/last-successes.ts'
import type { AttemptOutcome } from '#src/recipients/rules.ts'
import { createRecipient, findRecipient, updateRecipient } from '#src/recipients/service.ts'
import { runs } from '../support/runs.ts'
import { openRoom, type Room, stranger } from './room.ts'

let room: Room
let caller: Caller
let lastSuccesses: LastSuccesses
beforeAll(async () => {
  room = await openRoom()
})
beforeEach(() => {
  caller = stranger()
  room.clock.advance(86_400)
  lastSuccesses = createLastSuccesses(room.deps)
})
afterAll(() => room.close())

const at = (minutes: number) => new Date(room.clock.now().getTime() + minutes * MINUTE_MS)
const ok = (recipientId: number, minutes: number) => ({ recipientId, at: at(minutes), ok: true })
const failed = (recipientId: number, minutes: number, over: Partial<AttemptOutcome> = {}) => ({
  recipientId,
  at: at(minutes),
  ok: false,
  reason: 'timeout',
  ...over,
})
const record = (outcomes: readonly AttemptOutcome[], db: Db = room.db) =>
  recordOutcomes({ ...room.deps, db, lastSuccesses }, outcomes)
const hook = async () => {
  const url = 'https://hooks.example.org/a/f3a1'
  return (await createRecipient(room.deps, caller, { name: 'Pager', channel: 'webhook', url })).id
}
const read = (id: number) => findRecipient(room.deps, caller, id)
async function failingSince(id: number, db: Db = room.db): Promise<Date | null> {
  const [row] = await db.execute<{ at: Date | null }>(
    sql`select failing_since as at from recipients where id = ${id}`,
  )
  return row?.at ?? null
}

const waitingForLocks = () =>
  room.db.execute(sql`select query from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`)

describe('a success that changes only its time', () => {
  test('does not wait for a row that another process has locked', async () => {
    const id = await hook()
    const [locked, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = room.db.transaction(async (tx) => {
      await tx.execute(sql`select from recipients where id = ${id} for update`)
      locked.resolve()
      await recorded.promise
    })
    await locked.promise
    await record([ok(id, 1)])
    recorded.resolve()
    await holding
    await lastSuccesses.finish()
    expect(await read(id)).toMatchObject({ lastSuccessAt: at(1) })
  })
  test('is recorded while the row of another recipient is locked, whose success follows', async () => {
    const [free, busy] = [await hook(), await hook()]
    const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = room.db.transaction(async (tx) => {
      await tx.execute(sql`select from recipients where id = ${busy} for update`)
      locked.resolve()
      await over.promise
    })
    await locked.promise
    await record([ok(free, 1), ok(busy, 1)])
    while ((await read(free))?.lastSuccessAt === null) {
      // A statement that waits for a row keeps the rows that it has locked from everybody else.
      expect(await waitingForLocks()).toEqual([])
      await wait(20)
    }
    expect(await read(busy)).toMatchObject({ lastSuccessAt: null })
    over.resolve()
    await holding
    await lastSuccesses.finish()
    expect(await read(busy)).toMatchObject({ lastSuccessAt: at(1) })
  })
  test('is dropped at the end of a run while its row is locked, and delays the end for nobody', async () => {
    const [free, busy] = [await hook(), await hook()]
    const [locked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = room.db.transaction(async (tx) => {
      await tx.execute(sql`select from recipients where id = ${busy} for update`)
      locked.resolve()
      await over.promise
    })
    await locked.promise
    await record([ok(free, 1), ok(busy, 1)])
    await lastSuccesses.finish()
    expect(await read(free)).toMatchObject({ lastSuccessAt: at(1) })
    over.resolve()
    await holding
    expect(lastSuccesses.pendingOf([busy])).toEqual([])
  })
  test('is not shown for a destination that was changed since', async () => {
    const id = await hook()
    const sentAt = at(1)
    room.clock.advance(120)
    await recordOutcomes({ ...room.deps, lastSuccesses }, [
      { recipientId: id, at: sentAt, ok: true },
    ])
    const url = 'https://hooks.example.org/another'
    await updateRecipient(room.deps, caller, { id, changes: { url } })
    await lastSuccesses.finish()
    expect(await read(id)).toMatchObject({ lastSuccessAt: null })
  })
})

test('the end of a series of failures is part of the transaction', async () => {
  const id = await hook()
  await record([failed(id, 0)])
  const broken = room.db.transaction(async (tx) => {
    await record([ok(id, 1)], tx)
    expect(await failingSince(id, tx)).toBeNull()
    throw new Error('rolled back')
  })
  await expect(broken).rejects.toThrow('rolled back')
  expect(await failingSince(id)).toEqual(at(0))
  await record([ok(id, 1)])
  expect(await failingSince(id)).toBeNull()
})

test('a success before a chat blocked the bot does not open the chat again, a later one does', async () => {
  const chat = { id: 4711, title: 'Ada' }
  const by = { id: 4711 }
  const linked = { wallet: caller.wallet, scopes: ['read'], name: 'Ada', by, chat } as const
  const { recipient } = await linkChat(room.deps, { ...linked, locale: 'en', at: room.clock.now() })
  await record([ok(recipient.id, 1)])
  await blockChat(room.deps, chat.id, at(2))
  await lastSuccesses.finish()
  expect(await read(recipient.id)).toMatchObject({ status: 'blocked' })
  await record([ok(recipient.id, 3)])
  expect(await read(recipient.id)).toMatchObject({ status: 'active' })
})

test('a recipient whose row cannot be written keeps no other from its success', async () => {
  const [sick, well] = [await hook(), await hook()]
  await room.db.execute(
    sql.raw(`
    create function refuse_success() returns trigger language plpgsql as $$
    begin raise exception 'refused'; end $$;
    create trigger refuse_success before update on recipients
    for each row when (new.id = ${sick}) execute function refuse_success()`),
  )
  await record([ok(sick, 1), ok(well, 1)])
  await lastSuccesses.finish()
  await room.db.execute(
    sql.raw('drop trigger refuse_success on recipients; drop function refuse_success'),
  )
  expect(await read(well)).toMatchObject({ lastSuccessAt: at(1) })
  expect(await read(sick)).toMatchObject({ lastSuccessAt: null })
})

test('a series of failures is the same as if each success were recorded in its transaction', async () => {
  const outcomes = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(outcomes, fc.infiniteStream(fc.nat()), async (all, random) => {
      caller = stranger()
      const [gathered, direct] = [await hook(), await hook()]
      const recordings = all
        .map((isOk, index) => ({ isOk, minutes: index + 1, place: random.next().value }))
        .sort((a, b) => a.place - b.place)
      for (const { isOk, minutes, place } of recordings) {
        const outcomeOf = isOk ? ok : failed
        await record([outcomeOf(gathered, minutes)])
        await recordOutcomes(room.deps, [outcomeOf(direct, minutes)])
        if (place % 3 === 0) await lastSuccesses.finish()
      }
      await lastSuccesses.finish()
      expect(await failingSince(gathered)).toEqual(await failingSince(direct))
      const { lastSuccessAt = null } = (await read(direct)) ?? {}
      expect(await read(gathered)).toMatchObject({ lastSuccessAt })
    }),
    { numRuns: runs(40) },
  )
})
