import { fork } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { claimAllDueRows, claimDueRows, reschedule } from '#src/db/queue.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { CREATE_TABLES, DUE_QUEUE, KEYED_QUEUE } from './queue-items.ts'

const LEASE_MS = 30_000
let database: FreshDatabase
let clock: TestClock

beforeAll(async () => {
  database = await freshDatabase()
  await database.sql.unsafe(CREATE_TABLES)
})
beforeEach(async () => {
  clock = testClock()
  await database.sql`truncate due_items, keyed_items`
})
afterAll(() => database.drop())

/** Adds items with the ids from 1 on, each due a second after the one before, the last one now. */
async function addDue(count: number): Promise<void> {
  await database.sql`
    insert into due_items (id, due_at)
    select id, ${clock.now().toISOString()}::timestamptz - (${count} - id) * interval '1 second'
    from generate_series(1, ${count}::int) id`
}

/** Adds items of a key, one in each turn. */
async function addKey(key: string, from: number, count: number): Promise<void> {
  await database.sql`
    insert into keyed_items (id, key, turn)
    select ${from}::int + n, ${key}, n + 1 from generate_series(0, ${count}::int - 1) n`
}

function claimDue(limit: number, db = database.db) {
  return claimDueRows(db, DUE_QUEUE, { now: clock.now(), leaseMs: LEASE_MS, limit })
}

async function claimOfKey(db = database.db) {
  const [row] = await claimDueRows(db, KEYED_QUEUE, {
    now: clock.now(),
    leaseMs: LEASE_MS,
    limit: 1,
  })
  return row
}

async function finish(id: number): Promise<void> {
  await database.sql`
    update keyed_items set leased_until = null, done_at = ${clock.now().toISOString()} where id = ${id}`
}

const sorted = (ids: readonly number[]) => ids.toSorted((a, b) => a - b)

test('a claim takes at most as many items as its limit, those longest due first, and counts the attempts', async () => {
  await addDue(5)
  const first = await claimDue(2)
  expect(sorted(first.map(({ id }) => id))).toEqual([1, 2])
  expect(first.map(({ attempts }) => attempts)).toEqual([1, 1])
  expect(sorted((await claimDue(10)).map(({ id }) => id))).toEqual([3, 4, 5])
})

test('an item is not claimed before it is due, nor again within its lease', async () => {
  await addDue(1)
  clock.advance(-1)
  expect(await claimDue(10)).toEqual([])
  clock.advance(1)
  expect(await claimDue(10)).toHaveLength(1)
  clock.advance(LEASE_MS / 1000 - 1)
  expect(await claimDue(10)).toEqual([])
  clock.advance(1)
  expect(await claimDue(10)).toMatchObject([{ id: 1, attempts: 2 }])
})

test('each item is claimed once while two pools claim concurrently', async () => {
  await addDue(200)
  const other = connect(database.url)
  const claims = Array.from({ length: 40 }, (_, at) =>
    claimDue(7, at % 2 === 0 ? database.db : other.db),
  )
  const claimed = (await Promise.all(claims)).flat()
  const rest = await claimDue(1000)
  const ids = [...claimed, ...rest].map(({ id }) => id)
  expect(sorted(ids)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
  await other.close()
})

test('two processes share the items, and those of a killed process are claimed after its lease', async () => {
  await addDue(10)
  const args = [database.url, String(clock.now().getTime()), String(LEASE_MS), '5']
  const children = [0, 1].map(() => fork(new URL('./claim-queue.ts', import.meta.url), args))
  try {
    const messages = await Promise.all(children.map((child) => once(child, 'message')))
    const claimed: number[] = messages.flatMap(([ids]) => ids)
    expect(sorted(claimed)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
  expect(await claimDue(10)).toEqual([])
  clock.advance(LEASE_MS / 1000)
  expect(await claimDue(100)).toHaveLength(10)
})

test('the times of a claim follow the given clock, not the clock of the host', async () => {
  clock.set(new Date('2036-01-01T00:00:00.000Z'))
  await addDue(1)
  expect(await claimDue(1)).toMatchObject([{ dueAt: new Date('2036-01-01T00:00:30.000Z') }])
})

test('a rescheduled item is due at its new time; an item removed from the queue is not due again', async () => {
  await addDue(2)
  const [first, second] = await claimDue(2)
  if (first === undefined || second === undefined) throw new Error('two items are due')
  await reschedule(database.db, DUE_QUEUE, first, new Date(clock.now().getTime() + 5000))
  await reschedule(database.db, DUE_QUEUE, second, null)
  await reschedule(database.db, DUE_QUEUE, second, clock.now())
  clock.advance(5)
  expect(await claimDue(10)).toMatchObject([{ id: first.id }])
  clock.advance(3600)
  expect(await claimDue(10)).toMatchObject([{ id: first.id }])
})

test('an item that always fails delays no other', async () => {
  await addDue(30)
  const done: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const options = { leaseMs: LEASE_MS, limit: 4 }
    for await (const row of claimAllDueRows({ db: database.db, clock }, DUE_QUEUE, options)) {
      if (row.id === 1) continue
      done.push(row.id)
      await reschedule(database.db, DUE_QUEUE, row, null)
    }
    clock.advance(LEASE_MS / 1000)
  }
  expect(sorted(done)).toEqual(Array.from({ length: 29 }, (_, at) => at + 2))
  expect(await claimDue(10)).toMatchObject([{ id: 1, attempts: 4 }])
})

test('after the abort no further item is yielded; the remaining items are due after their lease', async () => {
  await addDue(5)
  const stop = new AbortController()
  const seen: number[] = []
  const options = { leaseMs: LEASE_MS, limit: 3, signal: stop.signal }
  for await (const row of claimAllDueRows({ db: database.db, clock }, DUE_QUEUE, options)) {
    seen.push(row.id)
    stop.abort()
  }
  expect(seen).toHaveLength(1)
  expect(await claimDue(10)).toHaveLength(2)
  clock.advance(LEASE_MS / 1000)
  expect(await claimDue(10)).toHaveLength(5)
})

test('items of a key are claimed in order, one at a time', async () => {
  await addKey('a', 1, 3)
  const seen: number[] = []
  for (let next = await claimOfKey(); next !== undefined; next = await claimOfKey()) {
    expect(await claimOfKey()).toBeUndefined()
    seen.push(next.id)
    await finish(next.id)
  }
  expect(seen).toEqual([1, 2, 3])
})

test('an item that waits for a retry keeps its place among the items of its key', async () => {
  await addKey('a', 1, 2)
  const first = await claimOfKey()
  await reschedule(database.db, KEYED_QUEUE, { id: 1 }, new Date(clock.now().getTime() + 5000))
  expect(await claimOfKey()).toBeUndefined()
  clock.advance(5)
  expect(await claimOfKey()).toMatchObject({ id: first?.id })
})

test('a key with 10,000 items delays another key by one item', async () => {
  await addKey('a', 1, 10_000)
  await addKey('b', 20_000, 2)
  await database.sql`analyze keyed_items`
  const seen: string[] = []
  for (let count = 0; count < 4; count += 1) {
    const row = await claimOfKey()
    if (row === undefined) throw new Error('items are open')
    seen.push(row.key)
    await finish(row.id)
  }
  expect(seen).toEqual(['a', 'b', 'a', 'b'])
})

test('while the first item of a key is leased, items of other keys are claimed', async () => {
  await addKey('a', 1, 1000)
  await addKey('b', 20_000, 2)
  expect(await claimOfKey()).toMatchObject({ key: 'a' })
  expect(await claimOfKey()).toMatchObject({ id: 20_000 })
  await finish(20_000)
  expect(await claimOfKey()).toMatchObject({ id: 20_001 })
})

test('each key has one claimed item while two pools claim concurrently', async () => {
  for (let at = 0; at < 10; at += 1) await addKey(`key ${at}`, at * 100 + 1, 20)
  const other = connect(database.url)
  const claims = Array.from({ length: 30 }, (_, at) =>
    claimOfKey(at % 2 === 0 ? database.db : other.db),
  )
  const claimed = (await Promise.all(claims)).filter((row) => row !== undefined)
  for (let row = await claimOfKey(); row !== undefined; row = await claimOfKey()) claimed.push(row)
  expect(sorted(claimed.map(({ id }) => id))).toEqual(
    Array.from({ length: 10 }, (_, at) => at * 100 + 1),
  )
  await other.close()
})
