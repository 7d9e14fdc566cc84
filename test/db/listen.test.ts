import { sql as query } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { listen } from '#src/db/listen.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function endListeners(): Promise<void> {
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like 'listen %'`
}

async function countListeners(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and query like 'listen %'`
  return row?.count ?? 0
}

test('each channel receives its notifications, over one connection', async () => {
  const { sql, close } = connect(database.url)
  const heard: string[] = []
  await listen(sql, 'deliveries', (payload) => heard.push(`d ${payload}`))
  await listen(sql, 'deliveries', (payload) => heard.push(`D ${payload}`))
  await listen(sql, 'odd "name"', (payload) => heard.push(`o ${payload}`))
  await database.sql.notify('deliveries', '1')
  await database.sql.notify('odd "name"', '2')
  await database.sql.notify('nobody', '3')
  await database.sql.notify('deliveries', '')
  await vi.waitFor(() => expect(heard).toEqual(['d 1', 'D 1', 'o 2', 'd ', 'D ']))
  expect(await countListeners()).toBe(1)
  await close()
})

test('a notification of a transaction arrives when it commits, and never when it rolls back', async () => {
  const heard: string[] = []
  const stop = await listen(database.sql, 'commits', (payload) => heard.push(payload))
  const failing = database.db.transaction(async (tx) => {
    await tx.execute(query`select pg_notify('commits', 'undone')`)
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  await database.db.transaction(async (tx) => {
    await tx.execute(query`select pg_notify('commits', 'done')`)
  })
  await vi.waitFor(() => expect(heard).toEqual(['done']))
  await stop()
})

test('a listener whose connection ended listens again, after one empty payload', async () => {
  const { sql, close } = connect(database.url)
  for (let round = 0; round < 5; round += 1) {
    const heard: string[] = []
    const stop = await listen(sql, 'survives', (payload) => heard.push(payload))
    await endListeners()
    await vi.waitFor(() => expect(heard).toEqual(['']), 5000)
    await database.sql.notify('survives', 'again')
    await vi.waitFor(() => expect(heard).toEqual(['', 'again']))
    await stop()
  }
  await close()
})

test('a removed handler is not called again, and removing the last one closes the connection', async () => {
  const heard: string[] = []
  const other: string[] = []
  const stop = await listen(database.sql, 'stops', (payload) => heard.push(payload))
  const stopOther = await listen(database.sql, 'stops', (payload) => other.push(payload))
  await stop()
  await stop()
  await database.sql.notify('stops', 'x')
  await vi.waitFor(() => expect(other).toEqual(['x']))
  expect(heard).toEqual([])
  await stopOther()
  await vi.waitFor(async () => expect(await countListeners()).toBe(0))
})
