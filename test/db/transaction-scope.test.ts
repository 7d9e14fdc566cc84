import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql as query } from 'drizzle-orm'
import { Api } from 'grammy'
import { createTransport } from 'nodemailer'
import { request } from 'undici'
import { createClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { transact } from '#src/db/connection.ts'
import { afterCommit } from '#src/db/transaction-scope.ts'
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
