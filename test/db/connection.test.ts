import { setTimeout as wait } from 'node:timers/promises'
import { sql as query } from 'drizzle-orm'
import { bigint, integer, jsonb, numeric, pgTable, timestamp } from 'drizzle-orm/pg-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  connect,
  type Db,
  isSerializationFailure,
  isUniqueViolation,
  transact,
  waitForDatabase,
  writeToDatabase,
} from '#src/db/connection.ts'
import { isConnectionFailure } from '#src/db/session.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startSeveringProxy } from '../support/severing-proxy.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'

const things = pgTable('things', {
  id: integer('id').primaryKey(),
  credits: bigint('credits', { mode: 'number' }),
  wei: numeric('wei', { precision: 78, scale: 0, mode: 'bigint' }),
  madeAt: timestamp('made_at', { withTimezone: true }),
  data: jsonb('data').$type<unknown>(),
})

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.db.execute(query`
    create table things (
      id integer primary key, credits bigint, wei numeric(78, 0), made_at timestamptz, data jsonb)`)
})
afterAll(() => database.drop())

/** Inserts a row as a store of a room does. */
async function insertThing(db: Db, id: number): Promise<void> {
  await db.insert(things).values({ id })
}

async function countThings(db: Db, from: number, to: number): Promise<number> {
  const [row] = await db.execute<{ count: number }>(
    query`select count(*)::int as count from things where id between ${from} and ${to}`,
  )
  return row?.count ?? 0
}

async function backendOf(db: Db): Promise<number> {
  const [row] = await db.execute<{ pid: number }>(query`select pg_backend_pid() as pid`)
  return row?.pid ?? 0
}

async function terminate(pid: number): Promise<void> {
  await database.sql`select pg_terminate_backend(${pid})`
}

describe('values', () => {
  const madeAt = new Date('2026-03-04T05:06:07.089Z')
  const values = {
    id: 1,
    credits: Number.MAX_SAFE_INTEGER,
    wei: 10n ** 77n,
    madeAt,
    data: [{ a: 'é' }],
  }

  test('are read as they were stored', async () => {
    await database.db.insert(things).values(values)
    expect(await database.db.select().from(things)).toEqual([values])
  })

  test('may be dates, arrays and JSON in plain SQL statements too, as parameters and in results', async () => {
    const [row] = await database.db.execute(query`
      select ${query.param(madeAt)}::timestamptz as at, array_agg(made_at) as instants,
        ${query.param([1, 2])}::int[] as numbers, ${query.param({ b: [1] })}::jsonb as json,
        ${query.param([madeAt, null])}::timestamptz[] as given
      from things where id = 1`)
    expect(row).toEqual({
      at: madeAt,
      instants: [madeAt],
      numbers: [1, 2],
      json: { b: [1] },
      given: [madeAt, null],
    })
  })

  test('of dates are also accepted by postgres.js', async () => {
    const [row] = await database.sql`select ${madeAt}::timestamptz as at`
    expect(row).toEqual({ at: madeAt })
  })
})

describe('a transaction', () => {
  test('can be passed to a store as its database, and so can a nested transaction', async () => {
    await database.db.transaction(async (tx) => {
      await insertThing(tx, 10)
      await tx.transaction((inner) => insertThing(inner, 11))
    })
    expect(await countThings(database.db, 10, 11)).toBe(2)
  })

  test('is rolled back when its work throws', async () => {
    const work = database.db.transaction(async (tx) => {
      await insertThing(tx, 20)
      throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
    expect(await countThings(database.db, 20, 20)).toBe(0)
  })

  test('keeps what was written before a nested transaction that failed', async () => {
    await database.db.transaction(async (tx) => {
      await insertThing(tx, 30)
      const inner = tx.transaction(async (nested) => {
        await insertThing(nested, 31)
        await nested.transaction((deeper) => insertThing(deeper, 32))
        await insertThing(nested, 30)
      })
      await expect(inner).rejects.toThrow()
      await insertThing(tx, 33)
    })
    expect(await countThings(database.db, 30, 32)).toBe(1)
    expect(await countThings(database.db, 33, 33)).toBe(1)
  })

  test('rejects even if its work caught the error of a failed statement', async () => {
    await insertThing(database.db, 40)
    const work = database.db.transaction(async (tx) => {
      await insertThing(tx, 41)
      await insertThing(tx, 40).catch(() => undefined)
    })
    await expect(work).rejects.toThrow()
    expect(await countThings(database.db, 41, 41)).toBe(0)
  })

  test('keeps nothing of work that goes on beside a statement that failed', async () => {
    const others: Promise<void>[] = []
    const writing = database.db.transaction(async (tx) => {
      const next = async () => {
        await tx.execute(query`select 1 / 0`).catch(() => undefined)
        await insertThing(tx, 41)
      }
      others.push(next().catch(() => undefined))
      await tx.execute(query`select 1 / 0`)
    })
    await expect(writing).rejects.toThrow()
    await Promise.all(others)
    expect(await countThings(database.db, 41, 41)).toBe(0)

    const nested = database.db.transaction(async (tx) => {
      const inner = tx.transaction(async (savepoint) => {
        const next = async () => {
          await savepoint.execute(query`select 1 / 0`).catch(() => undefined)
          await insertThing(savepoint, 41)
        }
        others.push(next().catch(() => undefined))
        await savepoint.execute(query`select 1 / 0`)
      })
      await inner.catch(() => undefined)
      await Promise.all(others)
      await insertThing(tx, 42)
    })
    await nested
    expect(await countThings(database.db, 41, 42)).toBe(1)
  })

  test('sends no statement after its end', async () => {
    let kept: Db | undefined
    await database.db.transaction(async (tx) => {
      kept = tx
    })
    await expect(kept && insertThing(kept, 50)).rejects.toThrow()
    expect(await countThings(database.db, 50, 50)).toBe(0)
  })

  test('writes nothing when its connection is lost in the middle', async () => {
    const writes: Promise<void>[] = []
    const work = database.db.transaction(async (tx) => {
      await insertThing(tx, 60)
      await terminate(await backendOf(tx))
      for (const id of [61, 62, 63]) {
        const write = insertThing(tx, id)
        writes.push(write)
        await write.catch(() => undefined)
      }
    })
    await expect(work).rejects.toThrow()
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(await countThings(database.db, 60, 63)).toBe(0)
  })

  test('fails at once when its connection is lost while its work waits', async () => {
    const never = Promise.withResolvers<void>()
    const work = database.db.transaction(async (tx) => {
      await insertThing(tx, 70)
      await terminate(await backendOf(tx))
      await never.promise
    })
    await expect(work).rejects.toThrow('connection to the database was lost')
    expect(await countThings(database.db, 70, 70)).toBe(0)
  })
})

describe('the pool', () => {
  test('keeps working, with no partial transaction, while the server ends its connections', async () => {
    const { db, close } = connect(database.url, { max: 4 })
    await db.execute(query`create table steps (batch integer, step integer)`)
    const stop = new AbortController()
    let committed = 0
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; !stop.signal.aborted; round += 1) {
        const batch = writer * 1_000_000 + round
        const work = db.transaction(async (tx) => {
          await tx.execute(query`insert into steps values (${batch}, 1)`)
          await tx.execute(query`insert into steps values (${batch}, 2)`)
        })
        const isDone = await work.then(
          () => true,
          () => false,
        )
        if (isDone) committed += 1
      }
    })
    for (let round = 0; round < 30; round += 1) {
      await wait(10)
      await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
          and pid <> pg_backend_pid() and pid % 2 = ${round % 2}`
    }
    const before = committed
    await vi.waitFor(() => expect(committed).toBeGreaterThan(before + 20), 5000)
    stop.abort()
    await Promise.all(writers)
    const halves = await db.execute(
      query`select batch from steps group by batch having count(*) <> 2`,
    )
    expect([...halves]).toEqual([])
    // A commit whose answer was lost has taken effect.
    const [row] = await db.execute<{ batches: number }>(
      query`select count(distinct batch)::int as batches from steps`,
    )
    expect(row?.batches).toBeGreaterThanOrEqual(committed)
    await close()
  })

  test('lets a transaction begin although plain queries arrive without a pause', async () => {
    const { db, close } = connect(database.url, { max: 2 })
    const stop = new AbortController()
    const load = Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) await db.execute(query`select pg_sleep(0.005)`)
    })
    await db.transaction((tx) => tx.execute(query`select 1`))
    stop.abort()
    await Promise.all(load)
    await close()
  })

  test('never opens more connections than its maximum', async () => {
    const { db, close } = connect(database.url, { max: 3 })
    const pids = await Promise.all(Array.from({ length: 20 }, () => backendOf(db)))
    expect(new Set(pids).size).toBeLessThanOrEqual(3)
    await close()
  })

  test('waits for running work when it is closed, and accepts no more', async () => {
    const { db, close } = connect(database.url, { max: 1 })
    const running = db.transaction(async (tx) => {
      await tx.execute(query`select pg_sleep(0.05)`)
      await insertThing(tx, 80)
    })
    await db.execute(query`select 1`).catch(() => undefined)
    await Promise.all([running, close()])
    expect(await countThings(database.db, 80, 80)).toBe(1)
    await expect(backendOf(db)).rejects.toThrow()
  })

  test('cancels a statement that takes too long', async () => {
    const { db, close } = connect(database.url, { max: 1, statementTimeoutMs: 50 })
    await expect(db.execute(query`select pg_sleep(10)`)).rejects.toMatchObject({
      cause: { code: '57014' },
    })
    await close()
  })
})

describe('a server that is frozen', () => {
  test('fails a statement after its timeout, and also the statement that waits for its connection', async () => {
    const { hostname, port } = new URL(database.url)
    const proxy = await startSeveringProxy({ host: hostname, port: Number(port) })
    const url = new URL(database.url)
    url.host = `127.0.0.1:${proxy.port}`
    const { db, close } = connect(url.href, { max: 1, waitMs: 1900, answerMs: 2000 })
    const [set] = await db.execute(query`show statement_timeout`)
    expect(set).toEqual({ statement_timeout: '1800ms' })
    proxy.watch(1, () => proxy.watch(1))
    const failed = async () => {
      const startedAt = performance.now()
      const error = await db.execute(query`select 1`).catch((reason: unknown) => reason)
      return { isLoss: isConnectionFailure(error), ms: performance.now() - startedAt }
    }
    const first = failed()
    await wait(300)
    const ended = await Promise.all([first, failed()])
    for (const { isLoss, ms } of ended) {
      expect(isLoss).toBe(true)
      expect(ms).toBeGreaterThan(1800)
      expect(ms).toBeLessThan(2600)
    }
    await close()
    await proxy.close()
  })
})

describe('transact', () => {
  test('repeats the work after serialization failures and deadlocks', async () => {
    await insertThing(database.db, 90)
    const raise = (): Promise<void> =>
      transact(
        database.db,
        async (tx) => {
          const [row] = await tx.select().from(things).where(query`id = 90`)
          await wait(5)
          const credits = (row?.credits ?? 0) + 1
          await tx.update(things).set({ credits }).where(query`id = 90`)
        },
        { isolationLevel: 'serializable' },
      )
    await Promise.all([raise(), raise(), raise()])
    const [row] = await database.db.select().from(things).where(query`id = 90`)
    expect(row?.credits).toBe(3)
  })

  test('throws any other error at once', async () => {
    let runs = 0
    const work = transact(database.db, async (tx) => {
      runs += 1
      await insertThing(tx, 90)
    })
    await expect(work).rejects.toSatisfy((error) => isUniqueViolation(error, 'things_pkey'))
    expect(runs).toBe(1)
  })

  test('repeats an insert if its partition was created in the meantime', async () => {
    const { db } = database
    await db.execute(query`create table lots (id integer primary key) partition by range (id)`)
    await db.execute(query`create table lots_default partition of lots default`)
    await db.execute(query`create table lots_1 (like lots including all)`)
    const insert = query`insert into lots values (1)`
    const waiting = query`select from pg_locks l join pg_database d on d.oid = l.database
      where datname = current_database() and relation = 'lots_default'::regclass and not granted`
    let runs = 0
    const work: Promise<void>[] = []
    await db.transaction(async (tx) => {
      await tx.execute(query`lock table lots_default in access exclusive mode`)
      work.push(
        runOutsideTransaction(() =>
          transact(db, async (other) => {
            runs += 1
            await other.execute(insert)
          }),
        ),
      )
      const isWaiting = () => runOutsideTransaction(async () => await db.execute(waiting))
      await expect.poll(isWaiting).toHaveLength(1)
      await tx.execute(query`alter table lots attach partition lots_1 for values from (1) to (2)`)
    })
    await Promise.all(work)
    expect(runs).toBe(2)
    expect([...(await db.execute(query`select id from lots_1`))]).toEqual([{ id: 1 }])
  })

  test('throws the violation of a check constraint at once', async () => {
    const { db } = database
    await db.execute(query`create table less (id integer check (id < 5))`)
    let runs = 0
    const work = transact(db, async (tx) => {
      runs += 1
      await tx.execute(query`insert into less values (5)`)
    })
    await expect(work).rejects.toThrow()
    expect(runs).toBe(1)
  })

  test('tries once inside a transaction, where repeating a part would not help', async () => {
    let runs = 0
    const work = database.db.transaction((tx) =>
      transact(tx, async (inner) => {
        runs += 1
        await inner.execute(query`do $$ begin raise sqlstate '40001'; end $$`)
      }),
    )
    await expect(work).rejects.toSatisfy(isSerializationFailure)
    expect(runs).toBe(1)
  })
})

describe('errors', () => {
  test('of another constraint are not recognized as the given one', async () => {
    const error = await insertThing(database.db, 1).catch((thrown: unknown) => thrown)
    expect(isUniqueViolation(error)).toBe(true)
    expect(isUniqueViolation(error, 'things_pkey')).toBe(true)
    expect(isUniqueViolation(error, 'others_pkey')).toBe(false)
    expect(isUniqueViolation(new Error('23505'))).toBe(false)
  })
})

describe('waitForDatabase', () => {
  const warnings: string[] = []
  const logger = {
    error: () => undefined,
    info: () => undefined,
    debug: () => undefined,
    warn: (_: unknown, message: string) => warnings.push(message),
  }

  test('gives up after its deadline, and logs once that it waits', async () => {
    const { sql, close } = connect('postgres://nobody@127.0.0.1:1/none')
    await expect(waitForDatabase(sql, { deadlineMs: 400, logger })).rejects.toThrow(
      'did not answer',
    )
    expect(warnings).toEqual(['waiting for the database'])
    await close()
  })

  test('does not wait if the error cannot end by waiting', async () => {
    const url = new URL(database.url)
    url.pathname = '/there_is_no_such_database'
    const { sql, close } = connect(url.href)
    await expect(waitForDatabase(sql, { deadlineMs: 60_000, logger })).rejects.toMatchObject({
      code: '3D000',
    })
    await close()
  })
})

test('a caller that waits too long for a connection gets an error; callers that may wait longer do not', async () => {
  const crowded = connect(database.url, { max: 1, waitMs: 50 })
  const other = crowded.openPool({ max: 1 })
  const free = Promise.withResolvers<void>()
  const busy = crowded.db.transaction(async (tx) => {
    await tx.execute(query`select 1`)
    await free.promise
  })
  const refused: unknown = await crowded.db
    .execute(query`select 1`)
    .then(undefined, (error) => error)
  expect(isConnectionFailure(refused)).toBe(true)
  expect([...(await other.execute(query`select 1 as one`))]).toEqual([{ one: 1 }])
  free.resolve()
  await busy
  expect([...(await crowded.db.execute(query`select 1 as one`))]).toEqual([{ one: 1 }])
  await crowded.close()
})

test('the check that the database can be written needs a row and room on the disk', async () => {
  const { pathname } = new URL(database.url)
  await writeToDatabase(database.sql)
  await database.sql.unsafe(`alter database ${pathname.slice(1)} set temp_file_limit = 0`)
  const full = connect(database.url, { max: 1 })
  await expect(writeToDatabase(full.sql)).rejects.toThrow('temporary file size exceeds')
  await full.close()
  await database.sql.unsafe(
    `alter database ${pathname.slice(1)} set default_transaction_read_only = on`,
  )
  const readOnly = connect(database.url, { max: 1 })
  await expect(writeToDatabase(readOnly.sql)).rejects.toThrow('read-only transaction')
  await readOnly.close()
  await database.sql.unsafe(`alter database ${pathname.slice(1)} reset all`)
})
