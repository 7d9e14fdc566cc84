import type { FastifyInstance } from 'fastify'

/**
 * Lets the links to the bot on a server's pages lead to the sandbox's chat, as on a phone `t.me` leads
 * into Telegram. What is no page stays as it is.
 *
 * @param chatUrl address of the chat page, which understands the same `?start=`
 */
export function openLinksInChat(server: FastifyInstance, username: string, chatUrl: string): void {
  const link = new RegExp(`https://t\\.me/${username}(?=[?"'])`, 'g')
  server.addHook('onSend', async (_request, reply, payload) => {
    const isPage = `${reply.getHeader('content-type')}`.startsWith('text/html')
    return isPage && typeof payload === 'string' ? payload.replaceAll(link, chatUrl) : payload
  })
}
