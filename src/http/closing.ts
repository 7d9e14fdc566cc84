import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Deadline of running requests after closing began, in milliseconds. */
const GRACE_MS = 10_000

/**
 * Makes a server close as soon as the running requests are answered.
 *
 * Idle connections would delay closing until the client closes them: connections that browsers open in
 * advance, and connections that are kept alive after an answer that was being sent when closing began.
 */
export function closePromptly(server: FastifyInstance, graceMs = GRACE_MS): void {
  /** Number of running requests, by connection. */
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
  // This listener runs before Fastify's, because Fastify may send the answer while it handles the event.
  server.server.prependListener('request', ({ socket }, response) => {
    count(socket, 1)
    response.once('close', () => {
      count(socket, -1)
      endIfIdle(socket)
    })
  })
  server.addHook('preClose', async () => {
    isClosing = true
    for (const socket of open.keys()) endIfIdle(socket)
    // A request whose body is never sent, or a client that does not read, would delay closing forever.
    setTimeout(() => {
      for (const socket of open.keys()) socket.destroy()
    }, graceMs).unref()
  })
}
