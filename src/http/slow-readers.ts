import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Minimum speed of reading an answer. */
export interface ReadingRate {
  /** Total time that any answer may wait for its reader. */
  readonly graceMs: number
  /** Number of bytes for which the client gets one more second. */
  readonly bytesPerSecond: number
}

interface Answer {
  readonly socket: Socket
  /** Number of bytes that were sent on the connection before this answer. */
  readonly bytesBefore: number
  waitedMs: number
}

/** Minimum number of checks within the grace time. */
const CHECKS = 10
const POLL_MS_MAX = 1000

/**
 * Closes connections whose client reads an answer more slowly than `rate`.
 *
 * The time in which bytes wait for the client counts; the time in which the client waits for this service or an
 * upstream does not. The server's own `connectionTimeout` closes a connection without any traffic.
 */
export function cutSlowReaders(server: FastifyInstance, rate: ReadingRate): void {
  const answers = new Set<Answer>()
  const everyMs = Math.min(rate.graceMs / CHECKS, POLL_MS_MAX)
  const checkAnswers = () => {
    for (const answer of answers) {
      const { socket, bytesBefore } = answer
      if (socket.writableLength === 0) continue
      answer.waitedMs += everyMs
      const seconds = (socket.bytesWritten - bytesBefore) / rate.bytesPerSecond
      if (answer.waitedMs > rate.graceMs + seconds * 1000) socket.destroy()
    }
  }
  const timer = setInterval(checkAnswers, everyMs).unref()
  server.addHook('onClose', async () => clearInterval(timer))
  // This listener runs before Fastify's, because Fastify may send the answer while it handles the event.
  server.server.prependListener('request', ({ socket }, response) => {
    const answer = { socket, bytesBefore: socket.bytesWritten, waitedMs: 0 }
    answers.add(answer)
    response.once('close', () => answers.delete(answer))
  })
}
