import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { batchedRead } from '#src/db/batched-read.ts'
import { connect, type Db, transact } from '#src/db/connection.ts'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { forgetViolations, runOutsideTransaction } from '../support/transaction-guard.ts'

let database: FreshDatabase
let db: Db
beforeAll(async () => {
  database = await freshDatabase()
  db = database.db
  await database.sql`create table named (name text primary key, value integer not null)`
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`truncate named`
  await database.sql`insert into named select n::text, n from generate_series(1, 300) n`
})

/** Reads a value by its name; a name that is no number fails the statement. */
const find = batchedRead(
  (name: string) => name,
  async (on, names) => {
    const rows = await on.execute<{ name: string; value: number }>(sql`
      select name, value from named
      where name = any(array(
        select (name::int)::text from unnest(${sql.param(names)}::text[]) as asked(name)))`)
    return new Map(rows.map((row) => [row.name, row]))
  },
)

/** Number of statements that reads need. */
async function statementsOf(reads: () => Promise<unknown>): Promise<number> {
  let statements = 0
  const count = (text: unknown) => {
    if (String(text).includes('from named')) statements += 1
  }
  subscribe(STATEMENT_CHANNEL, count)
  await reads()
  unsubscribe(STATEMENT_CHANNEL, count)
  return statements
}

describe('reads at the same time', () => {
  test('share one statement, and each returns its own row or undefined', async () => {
    const names = ['1', '2', '301', '2', '3']
    let rows: unknown[] = []
    const statements = await statementsOf(async () => {
      rows = await Promise.all(names.map((name) => find(db, name)))
    })
    expect(rows).toMatchObject([{ value: 1 }, { value: 2 }, undefined, { value: 2 }, { value: 3 }])
    expect(statements).toBe(1)
  })

  test('of more keys than one statement takes return all their rows', async () => {
    const names = Array.from({ length: 300 }, (_, index) => String(index + 1))
    const rows = await Promise.all(names.map((name) => find(db, name)))
    expect(rows.map((row) => row?.value)).toEqual(names.map(Number))
  })

  test('see what was committed before each of them began', async () => {
    const rename = (value: number, name: string) =>
      database.sql`update named set name = ${name} where value = ${value}`
    const work = async (_: unknown, index: number) => {
      const name = String(index + 1)
      for (let round = 0; round < 5; round++) {
        await rename(index + 1, `${name} gone`)
        expect(await find(db, name)).toBeUndefined()
        await rename(index + 1, name)
        expect(await find(db, name)).toMatchObject({ value: index + 1 })
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
  })

  test('fail one by one if a key cannot be read', async () => {
    const [good, bad, other] = await Promise.allSettled(
      ['1', 'x', '2'].map((name) => find(db, name)),
    )
    expect(good).toMatchObject({ value: { value: 1 } })
    expect(bad).toMatchObject({ status: 'rejected' })
    expect(other).toMatchObject({ value: { value: 2 } })
  })

  test('fail together if their connection is lost; later reads do not', async () => {
    const other = connect(database.url)
    const stuck = () => database.sql<{ pid: number }[]>`
      select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    let waiting: Promise<PromiseSettledResult<unknown>[]> | undefined
    await transact(db, async (tx) => {
      await tx.execute(sql`lock table named`)
      waiting = runOutsideTransaction(() =>
        Promise.allSettled(['1', '2'].map((name) => find(other.db, name))),
      )
      await expect.poll(async () => (await stuck()).length).toBe(1)
      for (const { pid } of await stuck()) await database.sql`select pg_terminate_backend(${pid})`
    })
    const ended = await waiting
    expect(ended?.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await find(other.db, '1')).toMatchObject({ value: 1 })
    await other.close()
  })
})

test('a read in a transaction sees what the transaction has written, and is not shared', async () => {
  await transact(db, async (tx) => {
    await tx.execute(sql`update named set name = 'own' where value = 7`)
    expect(await find(tx, '7')).toBeUndefined()
  })
  await database.sql`update named set name = '7' where value = 7`
})

test('a read on the pool inside a transaction fails the transaction', async () => {
  const work = transact(db, async () => {
    await find(db, '1')
  })
  await expect(work).rejects.toThrow('a second connection')
  expect(forgetViolations()).not.toEqual([])
})
