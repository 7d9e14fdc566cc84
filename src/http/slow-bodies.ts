import type { FastifyInstance } from 'fastify'

/**
 * Answers 408 to requests whose body has not arrived whole after `ms` milliseconds, and cuts them.
 *
 * Those to `/data` are left to the server's own, longer time: their bodies are passed on as they arrive.
 */
export function cutSlowBodies(server: FastifyInstance, ms: number): void {
  server.server.on('request', (request, response) => {
    if (request.url?.startsWith('/data/')) return
    const timer = setTimeout(() => {
      if (request.complete) return
      // Refused before its body had come: that was the answer.
      if (response.headersSent) return void request.socket.destroy()
      const error = Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      server.server.emit('clientError', error, request.socket)
    }, ms)
    request.once('end', () => clearTimeout(timer))
    request.once('close', () => clearTimeout(timer))
  })
}
