import type { FastifyInstance } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'

/**
 * Answers unknown URLs: browsers get a page; programs, and everything below `/api`, get the problem document that the
 * server gives for unknown paths. A page with a slash at its end leads to the page.
 */
export function notFoundPage(server: FastifyInstance): void {
  server.get('/*', async (request, reply) => {
    const { url, headers } = request
    const [, path = '', query = ''] = /^(\/[^?]*[^/?])\/+(\?.*)?$/.exec(url) ?? []
    if (server.hasRoute({ method: 'GET', url: path })) return reply.redirect(path + query, 308)
    const isForPeople =
      headers.accept?.includes('text/html') === true && !/^\/+api(?:[/?]|$)/.test(url)
    if (isForPeople) throw new AppError('not_found', 'not_found')
    reply.callNotFound()
    return reply
  })
}
