import Fastify from 'fastify'

/**
 * A Bot API that answers every call immediately, and records the time at which a screen arrives in a chat. `GET
 * /take` gives the
 * times by chat, in milliseconds since 1970, and forgets them. Run as a process of its own: `press-api.ts`.
 */
const BOT = { id: 1, is_bot: true, first_name: 'Bench', username: 'bench_bot' }
const screens = new Map<number, number>()
const server = Fastify({ logger: false })

server.get('/take', async () => {
  const taken = [...screens]
  screens.clear()
  return taken
})
server.get('/count', async () => screens.size)

server.post<{ Params: { method: string }; Body?: { chat_id?: number; message_id?: number } }>(
  '/:token/:method',
  async ({ params: { method }, body }) => {
    if (method === 'getMe') return { ok: true, result: BOT }
    const { chat_id: chatId = 0, message_id: messageId = 1 } = body ?? {}
    if (method === 'editMessageText' || method === 'sendMessage') {
      screens.set(chatId, performance.timeOrigin + performance.now())
      const chat = { id: chatId, type: 'private', first_name: 'A' }
      return { ok: true, result: { message_id: messageId, date: 1, chat, from: BOT, text: 'a' } }
    }
    return { ok: true, result: true }
  },
)

const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
