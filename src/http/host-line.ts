import type { FastifyInstance } from 'fastify'
import { problemOfStatus, rawProblem } from './malformed.ts'

/**
 * Refuses requests with several `Host` lines, and requests of HTTP/1.1 without one: proxies and servers that choose
 * different lines can be played off against each other. The connection is closed.
 *
 * @see RFC 9112, section 3.2
 */
export function requireOneHost(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, httpVersion } = request.raw
    const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && /^host$/i.test(name)).length
    if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return done()
    reply
      .code(400)
      .header('connection', 'close')
      .type('application/problem+json; charset=utf-8')
      .send(problemOfStatus(400))
  })
  // Without this listener Node answers without a body.
  server.server.on('checkExpectation', ({ socket }) => {
    socket.end(rawProblem(417))
  })
}
