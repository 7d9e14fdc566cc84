import Fastify from 'fastify'
import postgres from 'postgres'
import { Pool } from 'undici'

/**
 * The floor of `press`: stores the same update, reads the chat and its links, sends a screen and marks the update
 * as done, with one statement for each step. Run as a process of its own:
 * `press-floor.ts <database url> <url of the Bot API>`.
 */
const [, , databaseUrl = '', apiRoot = ''] = process.argv
const sql = postgres(databaseUrl, { max: 10 })
const api = new Pool(apiRoot)
const server = Fastify({ logger: false })

interface Update {
  readonly update_id: number
  readonly callback_query: {
    readonly message: { readonly message_id: number; readonly chat: { readonly id: number } }
  }
}

server.post<{ Body: Update }>('/telegram/webhook', async ({ body }, reply) => {
  const { update_id: updateId, callback_query: query } = body
  await sql`insert into bench_updates (update_id, chat_key, update, attempts, received_at, turn)
    values (${updateId}, ${`chat ${query.message.chat.id}`}, ${JSON.stringify(body)}::jsonb, 0, now(), 1)`
  void answer(updateId, query)
  return reply.code(200).send()
})

async function answer(updateId: number, { message }: Update['callback_query']): Promise<void> {
  const chatId = message.chat.id
  const [chat] = await sql`select c.*, r.wallet from telegram_chats c
    join recipients r on r.chat_id = c.id where c.id = ${chatId}`
  const { body } = await api.request({
    method: 'POST',
    path: '/bot1:a/editMessageText',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: chatId,
      message_id: message.message_id,
      text: chat?.['wallet'],
    }),
  })
  await body.dump()
  await sql`update bench_updates set handled_at = now(), update = null where update_id = ${updateId}`
}

const address = await server.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${address}\n`)
