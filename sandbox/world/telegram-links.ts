import type { FastifyInstance } from 'fastify'

/**
 * Rewrites the links to the bot on a server's pages to the sandbox's chat. Other content than pages stays
 * unchanged.
 *
 * @param chatUrl URL of the chat page, which accepts the same `?start=`
 */
export function openLinksInChat(server: FastifyInstance, username: string, chatUrl: string): void {
  const link = new RegExp(`https://t\\.me/${username}(?=[?"'])`, 'g')
  // Compressed pages cannot be rewritten.
  server.addHook('onRequest', async (request) => {
    delete request.headers['accept-encoding']
  })
  server.addHook('onSend', async (_request, reply, payload) => {
    const isPage = `${reply.getHeader('content-type')}`.startsWith('text/html')
    return isPage && typeof payload === 'string' ? payload.replaceAll(link, chatUrl) : payload
  })
}
