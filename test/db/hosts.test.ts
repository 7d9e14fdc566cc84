import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** The address of the database with another host before its own. */
function withFirst(host: string): string {
  return database.url.replace(/@([^/]*)\//, `@${host},$1/`)
}

/** A host that accepts connections and never answers. */
async function silentHost() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  return { host: `127.0.0.1:${port}`, sockets, close }
}

test('a host that refuses connections is skipped at once', async () => {
  const connection = connect(withFirst('127.0.0.1:1'))
  expect(await connection.db.execute('select 1 as one')).toMatchObject([{ one: 1 }])
  await connection.close()
})

test('a host that never responds is skipped, also by later connections', async () => {
  const silent = await silentHost()
  const connection = connect(withFirst(silent.host))
  const select = () => connection.db.execute('select pg_sleep(0.1)')
  await expect
    .poll(() =>
      select().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  const tried = silent.sockets.size
  await Promise.all(Array.from({ length: 5 }, select))
  expect(silent.sockets.size).toBe(tried)
  await connection.close()
  silent.close()
})
