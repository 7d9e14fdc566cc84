import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How slowly an answer may be read. */
export interface ReadingPace {
  /** So long in milliseconds may any answer wait for its reader, all its waiting together. */
  readonly graceMs: number
  /** And a second more for so many bytes of it. */
  readonly bytesPerSecond: number
}

interface Answer {
  readonly socket: Socket
  /** Bytes of the connection before this answer. */
  readonly bytesBefore: number
  waitedMs: number
}

const LOOKS = 10
const LOOK_MS_MAX = 1000

/**
 * Cuts connections whose client reads an answer more slowly than `pace`.
 *
 * Only the time counts in which bytes wait for the client: who waits for us, or for an upstream, is not
 * slow. A connection on which nothing moves at all is cut by the server's own `connectionTimeout`.
 */
export function cutSlowReaders(server: FastifyInstance, pace: ReadingPace): void {
  const answers = new Set<Answer>()
  const everyMs = Math.min(pace.graceMs / LOOKS, LOOK_MS_MAX)
  const look = () => {
    for (const answer of answers) {
      const { socket, bytesBefore } = answer
      if (socket.writableLength === 0) continue
      answer.waitedMs += everyMs
      const seconds = (socket.bytesWritten - bytesBefore) / pace.bytesPerSecond
      if (answer.waitedMs > pace.graceMs + seconds * 1000) socket.destroy()
    }
  }
  const timer = setInterval(look, everyMs).unref()
  server.addHook('onClose', async () => clearInterval(timer))
  server.server.on('request', ({ socket }, response) => {
    const answer = { socket, bytesBefore: socket.bytesWritten, waitedMs: 0 }
    answers.add(answer)
    response.once('close', () => answers.delete(answer))
  })
}
