import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How long requests in hand may take once the closing began, in milliseconds. */
const GRACE_MS = 10_000

/**
 * Lets a server close as soon as the requests in hand are answered.
 *
 * Connections that only wait would hold it up until their client goes: those that browsers open in
 * advance, and those kept alive after an answer that was on its way when the closing began.
 */
export function closePromptly(server: FastifyInstance, graceMs = GRACE_MS): void {
  /** Requests in hand, by connection. */
  const open = new Map<Socket, number>()
  let isClosing = false
  const endIfIdle = (socket: Socket) => {
    if (isClosing && open.get(socket) === 0) socket.destroySoon()
  }
  const count = (socket: Socket, change: number) => {
    const before = open.get(socket)
    if (before !== undefined) open.set(socket, before + change)
  }
  server.server.on('connection', (socket) => {
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
    endIfIdle(socket)
  })
  server.server.on('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => {
      count(socket, -1)
      endIfIdle(socket)
    })
  })
  server.addHook('preClose', async () => {
    isClosing = true
    for (const socket of open.keys()) endIfIdle(socket)
    // A request whose body never comes, or a client that does not read, would hold it up for ever.
    setTimeout(() => {
      for (const socket of open.keys()) socket.destroy()
    }, graceMs).unref()
  })
}
