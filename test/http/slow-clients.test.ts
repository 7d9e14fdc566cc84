import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '#src/http/server.ts'
import { serviceOnly } from '../support/harness.ts'

type Server = ReturnType<typeof createServer>

/** Longer than a test. */
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

function serverWith(
  times: { requestMs?: number; dataRequestMs?: number; stillMs?: number; readMs?: number },
  bounds: { connectionsPerAddress?: number; readBytesPerSecond?: number } = {},
): Server {
  const long = { requestMs: LONG_MS, dataRequestMs: LONG_MS, stillMs: LONG_MS, readMs: LONG_MS }
  const server = createServer(service.app, {
    trustProxy: 0,
    upstreams: {},
    times: { ...long, ...times },
    ...bounds,
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

/** Sends a text, and then a byte at a time. @returns what arrives until the connection is closed */
async function trickled(server: Server, start: string): Promise<string> {
  const socket = await connected(server)
  let heard = ''
  socket.on('data', (piece) => {
    heard += piece
  })
  socket.write(start)
  const trickle = setInterval(() => socket.write('x'), 10)
  // A write to the closed connection would fail, and discard the answer.
  server.server.once('clientError', () => clearInterval(trickle))
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(trickle)
  return heard
}

const halfABody = (path: string, length = 9) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`

test('a request whose body does not arrive in time gets a 408, and its connection is closed', async () => {
  const socket = await connected(serverWith({ requestMs: 50 }))
  socket.write(halfABody('/api/x402/auth/token'))
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408/)
})

test.each([
  ['request line', 'GET /doc'],
  ['header', 'GET /docs HTTP/1.1\r\nhost: x\r\nx-slow: '],
  ['header to /data', 'GET /data/ftso-analytics HTTP/1.1\r\nhost: x\r\nx-slow: '],
])('a %s that does not arrive in time gets a 408, however steadily it trickles', async (_what, start) => {
  expect(await trickled(serverWith({ requestMs: 50 }), start)).toMatch(/^HTTP\/1\.1 408/)
})

test('a body to /data that trickles gets a 408 when its longer time is over', async () => {
  const server = serverWith({ requestMs: 50, dataRequestMs: 50 })
  server.post('/data/test', async () => 'whole')
  expect(await trickled(server, halfABody('/data/test', 9999))).toMatch(/^HTTP\/1\.1 408/)
})

test('a request has 30 seconds to arrive, and one to /data has 300', () => {
  const { headersTimeout, requestTimeout } = service.server.server
  expect([headersTimeout, requestTimeout]).toEqual([30_000, 300_000])
})

test('a slow body to /data has a longer timeout of its own', async () => {
  const server = serverWith({ requestMs: 50 })
  server.post('/data/test', async () => 'whole')
  const socket = await connected(server)
  socket.write(halfABody('/data/test'))
  // The short timeout ends another connection meanwhile.
  const other = connect(socket.remotePort ?? 0, '127.0.0.1')
  other.write(halfABody('/api/x402/auth/token'))
  expect(await text(other)).toMatch(/^HTTP\/1\.1 408/)
  socket.write('"more"}}')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).not.toMatch(/^HTTP\/1\.1 408/)
  socket.destroy()
})

test('the connection of a client that does not read its response is closed', async () => {
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

/** Reads an answer piece by piece, and lets the server look in between. */
async function readSlowly(socket: Socket): Promise<number> {
  let bytes = 0
  for await (const piece of socket) {
    bytes += piece.length
    await wait(5)
  }
  return bytes
}

test('the connection of a client that reads too slowly is closed', async () => {
  const server = serverWith({ readMs: 100 }, { readBytesPerSecond: 1e12 })
  const ended = Promise.withResolvers<void>()
  server.get('/endless', (_request, reply) => {
    const endless = Readable.from(pieces())
    endless.once('close', ended.resolve)
    return reply.send(endless)
  })
  const socket = await connected(server)
  socket.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n')
  const reading = readSlowly(socket).catch(() => 0)
  await ended.promise
  await reading
})

test('a client that reads slowly, but fast enough for the size of its response, gets all of it', async () => {
  const server = serverWith({ readMs: 10 }, { readBytesPerSecond: 2048 })
  const size = 16_000_000
  server.get('/large', (_request, reply) => reply.send('x'.repeat(size)))
  const socket = await connected(server)
  socket.write('GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expect(await readSlowly(socket)).toBeGreaterThan(size)
})

test('time in which a response waits for an upstream does not count as slow reading', async () => {
  const server = serverWith({ readMs: 10 }, { readBytesPerSecond: 1e12 })
  const more = Promise.withResolvers<void>()
  async function* slowly() {
    yield 'first'
    await more.promise
    yield 'last'
  }
  server.get('/endless', (_request, reply) => reply.send(Readable.from(pieces())))
  server.get('/slow', (_request, reply) => reply.send(Readable.from(slowly())))
  const socket = await connected(server)
  socket.write('GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await once(socket, 'data')
  // Another connection is closed meanwhile for reading slowly.
  server.server.once('connection', (other) => other.once('close', more.resolve))
  const other = connect(socket.remotePort ?? 0, '127.0.0.1')
  other.on('error', () => undefined)
  other.pause()
  other.write('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(await text(socket)).toContain('last')
})

test('connections above the limit of an address are refused until one of them ends', async () => {
  const server = serverWith({}, { connectionsPerAddress: 2 })
  server.get('/here', async () => 'here')
  const first = await connected(server)
  const port = first.remotePort ?? 0
  const second = connect(port, '127.0.0.1')
  await once(second, 'connect')
  const third = connect(port, '127.0.0.1')
  expect(await text(third)).toMatch(/^HTTP\/1\.1 503 .*nosniff.*retry-after: 10/is)
  second.destroy()
  await expect
    .poll(async () => {
      const again = connect(port, '127.0.0.1')
      again.write('GET /here HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      return (await text(again)).split('\r\n')[0]
    })
    .toBe('HTTP/1.1 200 OK')
  first.destroy()
})

function* pieces() {
  for (;;) yield 'x'.repeat(65_536)
}
