import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { closePromptly } from '#src/http/closing.ts'

const ANSWER_MS = 300

let server: FastifyInstance

afterEach(() => server.close())

async function listening(): Promise<number> {
  server = Fastify()
  closePromptly(server)
  server.get('/slow', async () => {
    await wait(ANSWER_MS)
    return 'answered'
  })
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('a connection without a request does not delay the closing', async () => {
  const socket = await connected(await listening())
  const ended = once(socket, 'close')
  await server.close()
  await ended
})

test('a running request gets its response, and its connection is closed afterwards', async () => {
  const socket = await connected(await listening())
  socket.setEncoding('utf8').write('GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await wait(ANSWER_MS / 3)
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  const ended = once(socket, 'close')
  await server.close()
  await ended
  expect(answer).toMatch(/^HTTP\/1\.1 200[\s\S]*answered$/)
})

test('a request whose body never arrives delays the closing no longer than its timeout', async () => {
  server = Fastify()
  closePromptly(server, 50)
  server.post('/', async () => 'never')
  const begun = once(server.server, 'request')
  const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
  const socket = await connected(port)
  socket.on('error', () => undefined)
  const ended = once(socket, 'close')
  socket.write(
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\na',
  )
  await begun
  await server.close()
  await ended
})
