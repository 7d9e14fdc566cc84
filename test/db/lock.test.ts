import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { sql as query } from 'drizzle-orm'
import { afterAll, assert, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { type Fence, FenceError, lockKey, tryLock, whileHolding } from '#src/db/lock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** Another process that holds the lock until it is killed. */
async function holdElsewhere(name: string): Promise<ChildProcess> {
  const child = fork(new URL('./hold-lock.ts', import.meta.url), [database.url, name])
  await once(child, 'message')
  return child
}

/** Ends every connection that holds a lock. */
async function dropLockHolders(): Promise<void> {
  await database.sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`
}

const whenAborted = (signal: AbortSignal) => once(signal, 'abort').then(() => undefined)

test('a lock has one holder at a time, within a process and between connections', async () => {
  const other = connect(database.url)
  const lock = await tryLock(database.sql, 'one')
  expect(lock).toBeDefined()
  expect(await tryLock(database.sql, 'one')).toBeUndefined()
  expect(await tryLock(other.sql, 'one')).toBeUndefined()
  const different = await tryLock(other.sql, 'another')
  expect(different).toBeDefined()
  await lock?.release()
  const taken = await tryLock(other.sql, 'one')
  expect(taken).toBeDefined()
  expect(await tryLock(database.sql, 'one')).toBeUndefined()
  await other.close()
})

test('locks that are asked for at once are each taken or refused by themselves', async () => {
  const other = connect(database.url)
  const held = await tryLock(other.sql, 'many 2')
  const names = ['many 1', 'many 2', 'many 3', 'many 1']
  const locks = await Promise.all(names.map((name) => tryLock(database.sql, name)))
  expect(locks.map((lock) => lock !== undefined)).toEqual([true, false, true, false])
  await held?.release()
  await locks[0]?.release()
  const again = await Promise.all(names.slice(0, 3).map((name) => tryLock(other.sql, name)))
  expect(again.map((lock) => lock !== undefined)).toEqual([true, true, false])
  await other.close()
  await locks[2]?.release()
})

test('a request for locks that fails leaves none of them with this process', async () => {
  const own = await freshDatabase()
  // In place of PostgreSQL's function: it fails for one lock after it has taken it.
  await own.sql.unsafe(`
    create function public.pg_try_advisory_lock(key bigint) returns boolean language plpgsql as $$
    begin
      if key <> ${lockKey('new')} then return pg_catalog.pg_try_advisory_lock(key); end if;
      perform pg_advisory_lock(key);
      raise exception 'no memory';
    end $$`)
  await own.sql.unsafe(
    `alter database "${new URL(own.url).pathname.slice(1)}" set search_path = public, pg_catalog`,
  )
  const held = await tryLock(own.sql, 'held')
  await expect(tryLock(own.sql, 'new')).rejects.toThrow('no memory')
  expect(held?.signal.aborted).toBe(true)
  const locks = () => own.sql`
    select from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`
  await expect.poll(locks).toHaveLength(0)
  await own.drop()
})

test('releasing a lock twice does not release it for its next holder', async () => {
  const other = connect(database.url)
  const lock = await tryLock(database.sql, 'twice')
  await lock?.release()
  const taken = await tryLock(other.sql, 'twice')
  expect(taken).toBeDefined()
  await lock?.release()
  expect(await tryLock(database.sql, 'twice')).toBeUndefined()
  await other.close()
})

test('closing the connection releases its locks', async () => {
  const other = connect(database.url)
  const lock = await tryLock(other.sql, 'closed')
  await other.close()
  expect(lock?.signal.aborted).toBe(true)
  // The server detects a closed connection a little later.
  await vi.waitFor(async () => expect(await tryLock(database.sql, 'closed')).toBeDefined(), 10_000)
})

test('work starts within seconds of the death of the process that held the lock', async () => {
  const holder = await holdElsewhere('leader')
  const order: string[] = []
  const stop = new AbortController()
  const work = whileHolding(database.sql, 'leader', stop.signal, async () => {
    order.push('started')
    return 'done'
  })
  expect(await tryLock(database.sql, 'leader')).toBeUndefined()
  order.push('killed')
  holder.kill('SIGKILL')
  const killedAt = performance.now()
  expect(await work).toBe('done')
  expect(order).toEqual(['killed', 'started'])
  expect(performance.now() - killedAt).toBeLessThan(4000)
})

test('work is aborted when its lock is lost, and starts again when the lock is held again', async () => {
  const stop = new AbortController()
  const begun: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()]
  let runs = 0
  const work = whileHolding(database.sql, 'lost', stop.signal, async (signal) => {
    begun[runs]?.resolve()
    runs += 1
    await whenAborted(signal)
  })
  await begun[0]?.promise
  await dropLockHolders()
  await begun[1]?.promise
  expect(await tryLock(database.sql, 'lost')).toBeUndefined()
  stop.abort()
  expect(await work).toBeUndefined()
  expect(runs).toBe(2)
})

test('work that throws fails the call and releases the lock', async () => {
  const work = whileHolding(database.sql, 'failing', new AbortController().signal, async () => {
    throw new Error('its own')
  })
  await expect(work).rejects.toThrow('its own')
  const lock = await tryLock(database.sql, 'failing')
  expect(lock).toBeDefined()
  await lock?.release()
})

test('waiting for a lock ends when its signal is aborted', async () => {
  const other = connect(database.url)
  await tryLock(other.sql, 'wanted')
  const stop = new AbortController()
  const work = whileHolding(database.sql, 'wanted', stop.signal, async () => 'never')
  stop.abort()
  expect(await work).toBeUndefined()
  await other.close()
})

describe('a fencing number', () => {
  const write = (fence: Fence, value: number) =>
    fence.transact(database.db, async (tx) => {
      await tx.execute(query`insert into written (value) values (${value})`)
    })
  const written = async () =>
    (await database.sql<{ value: number }[]>`select value from written order by value`).map(
      ({ value }) => value,
    )
  beforeEach(async () => {
    await database.sql`create table if not exists written (value integer)`
    await database.sql`truncate written`
  })

  test('rises with every holder, and a write with an older number is refused', async () => {
    const other = connect(database.url)
    const first = await tryLock(database.sql, 'fenced')
    const early = await first?.drawFence()
    assert(early !== undefined)
    await write(early, 1)
    await first?.release()
    const second = await tryLock(other.sql, 'fenced')
    const late = await second?.drawFence()
    assert(late !== undefined)
    expect(late.number).toBeGreaterThan(early.number)
    await expect(write(early, 2)).rejects.toBeInstanceOf(FenceError)
    await write(late, 3)
    expect(await written()).toEqual([1, 3])
    await other.close()
  })

  test('is drawn only after the writes of the previous holder are committed or rolled back', async () => {
    const other = connect(database.url)
    const first = await tryLock(database.sql, 'overlapping')
    const early = await first?.drawFence()
    assert(early !== undefined)
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const writing = early.transact(database.db, async (tx) => {
      begun.resolve()
      await goOn.promise
      await tx.execute(query`insert into written (value) values (1)`)
    })
    await begun.promise
    await first?.release()
    const second = await tryLock(other.sql, 'overlapping')
    const drawn = second?.drawFence().then(async () => await written())
    await vi.waitFor(async () => {
      const waiting = await database.sql`
        select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      expect(waiting).toHaveLength(1)
    }, 20_000)
    goOn.resolve()
    await writing
    expect(await drawn).toEqual([1])
    await other.close()
  })

  test('that is blocked by the transaction of a frozen holder does not block other locks', async () => {
    const other = connect(database.url)
    const first = await tryLock(database.sql, 'kept back')
    const early = await first?.drawFence()
    assert(early !== undefined)
    await first?.release()
    const goOn = Promise.withResolvers<void>()
    const frozen = database.sql.begin(async (tx) => {
      await tx`select number from lock_fences where name = 'kept back' for share`
      await goOn.promise
    })
    const second = await tryLock(other.sql, 'kept back')
    const beside = await tryLock(other.sql, 'beside')
    const drawn = second?.drawFence().then(
      ({ number }) => number,
      (error: unknown) => error,
    )
    // A heartbeat that comes through keeps the connection, which the server closes after ten seconds without one.
    const since = new Date()
    const heartbeats = () => database.sql`
      select from pg_stat_activity where query = 'select 1' and query_start > ${since} and pid in (
        select pid from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database()))`
    await vi.waitFor(async () => expect(await heartbeats()).toHaveLength(1), 20_000)
    expect(beside?.signal.aborted).toBe(false)
    goOn.resolve()
    await frozen
    expect(await drawn).toBeGreaterThan(early.number)
    await other.close()
  })

  test('ends the transactions that use it when its lock is lost', async () => {
    const lock = await tryLock(database.sql, 'ended')
    const fence = await lock?.drawFence()
    assert(fence !== undefined)
    const begun = Promise.withResolvers<void>()
    const never = new Promise<never>(() => undefined)
    const writing = fence.transact(database.db, async (tx) => {
      await tx.execute(query`insert into written (value) values (1)`)
      begun.resolve()
      await never
    })
    writing.catch(() => undefined)
    await begun.promise
    await dropLockHolders()
    await expect(writing).rejects.toThrow('lost')
    expect(fence.signal.aborted).toBe(true)
    await expect(write(fence, 2)).rejects.toThrow('lost')
    expect(await written()).toEqual([])
  })

  test('is drawn again after the holder was replaced, before its work continues', async () => {
    const stop = new AbortController()
    const numbers: number[] = []
    const work = whileHolding(database.sql, 'passed over', stop.signal, async (_signal, lock) => {
      const fence = await lock.drawFence()
      numbers.push(fence.number)
      // Another process took the lock while this one was frozen.
      if (numbers.length === 1) await lock.drawFence()
      await write(fence, fence.number)
    })
    await work
    expect(numbers).toHaveLength(2)
    expect(await written()).toEqual([numbers[1]])
  })
})
