import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

/**
 * Answers 408 to requests whose body is incomplete after `ms` milliseconds, and closes their connection.
 *
 * Requests to `/data` have the server's longer timeout, because their bodies are streamed.
 */
export function cutSlowBodies(server: FastifyInstance, ms: number): void {
  server.server.on('request', (request, response) => {
    if (request.url?.startsWith('/data/') || !hasBody(request)) return
    const timer = setTimeout(() => {
      if (request.complete) return
      // The request was refused before its body was complete.
      if (response.headersSent) return void request.socket.destroy()
      const error = Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.server.emit('clientError', error, request.socket)
    }, ms)
    request.once('end', () => clearTimeout(timer))
    request.once('close', () => clearTimeout(timer))
  })
}

/** Whether a request announces a body. A request without a body is complete after its headers. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}
