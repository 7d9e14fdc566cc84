import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql as query } from 'drizzle-orm'
import { Api } from 'grammy'
import { createTransport } from 'nodemailer'
import { request } from 'undici'
import { createClient, http } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { transact } from '#src/db/connection.ts'
import { afterCommit, writeLast } from '#src/db/transaction-scope.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { forgetViolations } from '../support/transaction-guard.ts'

let database: FreshDatabase
const server = createServer((_request, response) => response.end('{"ok":true,"result":"0x1"}'))
let url: string
beforeAll(async () => {
  database = await freshDatabase()
  await database.sql`create table seen (value integer)`
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await database.drop()
})

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  fetch: () => fetch(url),
  undici: () => request(url),
  'an RPC endpoint': () =>
    createClient({ transport: http(url) }).request({ method: 'eth_chainId' }),
  Telegram: () => new Api('1:token', { apiRoot: url }).getMe(),
  SMTP: () => createTransport({ url: url.replace('http', 'smtp'), greetingTimeout: 100 }).verify(),
}

describe('a transaction fails and is rolled back', () => {
  test.each(Object.entries(WAYS))('when %s is called inside it', async (_name, ask) => {
    const work = transact(database.db, async (tx) => {
      await tx.execute(query`insert into seen (value) values (1)`)
      // A swallowed error of the request does not hide the request.
      await ask().catch(() => undefined)
    })
    await expect(work).rejects.toThrow('inside a database transaction')
    expect(await database.sql`select value from seen`).toEqual([])
    expect(forgetViolations()).toHaveLength(1)
  })

  test('when it asks for a second connection of its pool', async () => {
    const work = transact(database.db, async () => {
      await database.db.execute(query`select 1`)
    })
    await expect(work).rejects.toThrow('a second connection')
    expect(forgetViolations()).toHaveLength(1)
  })
})

test('work that continues after a transaction does not count as inside it', async () => {
  const ended = Promise.withResolvers<void>()
  const later = await transact(database.db, async () => ({
    answer: ended.promise.then(() => fetch(url)),
  }))
  ended.resolve()
  expect((await later.answer).status).toBe(200)
  expect(forgetViolations()).toEqual([])
})

describe('a callback after the commit', () => {
  const done: string[] = []
  const later = (what: string) => afterCommit(() => done.push(what))
  const boom = new Error('boom')

  test('runs after the commit, in order, unless its savepoint was rolled back', async () => {
    done.length = 0
    await transact(database.db, async (tx) => {
      later('first')
      const inner = tx.transaction(async () => {
        later('taken back')
        throw boom
      })
      await expect(inner).rejects.toThrow(boom)
      await tx.transaction(async () => later('second'))
      expect(done).toEqual([])
    })
    expect(done).toEqual(['first', 'second'])
  })

  test('never runs after a rollback, and runs at once outside of a transaction', async () => {
    done.length = 0
    const work = transact(database.db, async () => {
      later('lost')
      throw boom
    })
    await expect(work).rejects.toThrow(boom)
    later('outside')
    expect(done).toEqual(['outside'])
  })
})

describe('rows that are written last', () => {
  const insert = (values: readonly number[]) =>
    query`insert into seen (value) select unnest(${query.param([...values])}::int[])`
  const seen = async () =>
    (await database.sql<{ value: number }[]>`select value from seen order by value`).map(
      ({ value }) => value,
    )
  beforeEach(async () => {
    await database.sql`truncate seen`
  })

  test('are written by one statement at the end of the transaction, without those of a savepoint that failed', async () => {
    await transact(database.db, async (tx) => {
      await writeLast(tx, insert, [1])
      await transact(tx, (inner) => writeLast(inner, insert, [2]))
      const failed = transact(tx, async (inner) => {
        await writeLast(inner, insert, [3])
        throw new Error('not this part')
      })
      await expect(failed).rejects.toThrow('not this part')
      expect(await tx.execute(query`select from seen`)).toHaveLength(0)
    })
    expect(await seen()).toEqual([1, 2])
    const [row] =
      await database.sql`select count(distinct (xmin::text, cmin::text))::int as statements from seen`
    expect(row).toEqual({ statements: 1 })
  })

  test('are not written by a transaction that fails, and fail the transaction if they cannot be written', async () => {
    const fails = transact(database.db, async (tx) => {
      await writeLast(tx, insert, [1])
      throw new Error('nothing')
    })
    await expect(fails).rejects.toThrow('nothing')
    const wrong = transact(database.db, async (tx) => {
      await tx.execute(insert([2]))
      await writeLast(tx, () => query`select 1 / 0`, [3])
    })
    await expect(wrong).rejects.toThrow('division by zero')
    expect(await seen()).toEqual([])
  })

  test('are written at once outside of transactions', async () => {
    await writeLast(database.db, insert, [1, 2])
    expect(await seen()).toEqual([1, 2])
  })
})
