import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '#src/http/server.ts'
import { serviceOnly } from '../support/harness.ts'

type Server = ReturnType<typeof createServer>

/** So long that a test would be over before. */
const LONG_MS = 600_000

let service: Awaited<ReturnType<typeof serviceOnly>>
const servers: Server[] = []
beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(async () => {
  for (const server of servers) await server.close()
  await service.close()
})

function serverWith(times: { requestMs?: number; stillMs?: number }): Server {
  const server = createServer(service.app, {
    trustProxy: 0,
    upstreams: {},
    times: { requestMs: LONG_MS, dataRequestMs: LONG_MS, stillMs: LONG_MS, ...times },
  })
  servers.push(server)
  return server
}

async function connected(server: Server): Promise<Socket> {
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const halfABody = (path: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`

test('a body that does not come whole in time is answered 408 and cut', async () => {
  const socket = await connected(serverWith({ requestMs: 50 }))
  socket.write(halfABody('/api/x402/auth/token'))
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408/)
})

test('a slow body to /data is left to its own, longer time', async () => {
  const server = serverWith({ requestMs: 50 })
  server.post('/data/test', async () => 'whole')
  const socket = await connected(server)
  socket.write(halfABody('/data/test'))
  // Beside it the short time passes for another one.
  const other = connect(socket.remotePort ?? 0, '127.0.0.1')
  other.write(halfABody('/api/x402/auth/token'))
  expect(await text(other)).toMatch(/^HTTP\/1\.1 408/)
  socket.write('"more"}}')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).not.toMatch(/^HTTP\/1\.1 408/)
  socket.destroy()
})

test('a client that does not read its answer is cut', async () => {
  const server = serverWith({ stillMs: 100 })
  const ended = Promise.withResolvers<void>()
  server.get('/endless', (_request, reply) => {
    const endless = Readable.from(pieces())
    endless.once('close', ended.resolve)
    return reply.send(endless)
  })
  const socket = await connected(server)
  socket.pause()
  socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n')
  await ended.promise
  socket.destroy()
})

function* pieces() {
  for (;;) yield 'x'.repeat(65_536)
}
