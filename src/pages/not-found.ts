import type { FastifyInstance } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'

/** Answers unknown URLs: a page for browsers, the same refusal as on other paths for programs. */
export function notFoundPage(server: FastifyInstance): void {
  server.get('/*', async (request, reply) => {
    const { url, headers } = request
    const isRead = headers.accept?.includes('text/html') === true && !/^\/+api(?:[/?]|$)/.test(url)
    if (isRead) throw new AppError('not_found', 'not_found')
    reply.callNotFound()
    return reply
  })
}
