import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpError, webhookCallback } from 'grammy'
import { describe, expect, test } from 'vitest'
import { tooManyMessages } from '#sandbox/telegram/faults.ts'
import {
  ann,
  api,
  bot,
  NOON,
  polling,
  refusal,
  start,
  time,
  undo,
  useTelegram,
} from './telegram-setup.ts'

useTelegram()

describe('a webhook', () => {
  const listen = async (handler: (request: IncomingMessage) => number | Promise<number>) => {
    const server = createServer(async (request, response) => {
      response.statusCode = await handler(request)
      response.end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    undo.push(async () => {
      server.close()
      server.closeAllConnections()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  test('sends updates to a grammY bot, with the secret', async () => {
    bot.command('ping', (ctx) => ctx.reply('pong'))
    await bot.init()
    const handle = webhookCallback(bot, 'http', { secretToken: 's3cret' })
    const server = createServer((request, response) => void handle(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    undo.push(async () => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await bot.api.setWebhook(url, { secret_token: 's3cret' })
    const chat = ann()
    api.send(chat, '/ping')
    expect(await api.waitFor(() => api.lastMessage(chat))).toMatchObject({ text: 'pong' })
    await api.waitFor(() => api.pendingUpdates === 0)
    expect(await refusal(bot.api.getUpdates())).toEqual({
      code: 409,
      text: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    })
  })

  test('repeats an update until it is accepted, and keeps the order of updates of a chat', async () => {
    const got: string[] = []
    let fails = 2
    const url = await listen(async (request) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const update = JSON.parse(Buffer.concat(chunks).toString()) as { message: { text: string } }
      got.push(update.message.text)
      return fails-- > 0 ? 500 : 204
    })
    const chat = ann()
    api.send(chat, 'one')
    api.send(chat, 'two')
    await bot.api.setWebhook(url)
    await api.waitFor(() => api.pendingUpdates === 0)
    expect(got).toEqual(['one', 'one', 'one', 'two'])
    expect(await bot.api.getWebhookInfo()).toMatchObject({
      url,
      pending_update_count: 0,
      last_error_message: 'Wrong response from the webhook: 500 Internal Server Error',
    })
    await bot.api.deleteWebhook()
    expect(await bot.api.getUpdates()).toEqual([])
  })

  test('needs https outside of this machine, and a plain secret', async () => {
    expect((await refusal(bot.api.setWebhook('http://a.example/hook'))).text).toBe(
      'Bad Request: bad webhook: An HTTPS URL must be provided for webhook',
    )
    expect((await refusal(bot.api.setWebhook('https://a.example:9000/hook'))).text).toBe(
      'Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443',
    )
    const secret = bot.api.setWebhook('https://a.example/hook', { secret_token: 'a b' })
    expect((await refusal(secret)).text).toBe(
      'Bad Request: secret token contains unallowed characters',
    )
  })
})

describe('faults', () => {
  test('happen as often as requested', async () => {
    const chat = ann()
    const send = () => bot.api.sendMessage(chat, 'x')
    api.failNext('sendMessage', tooManyMessages(7))
    api.failNext(1, { error_code: 500, description: 'Internal Server Error' })
    const flood = await send().catch((error: unknown) => error)
    expect(flood).toMatchObject({ error_code: 429, parameters: { retry_after: 7 } })
    expect(await refusal(send())).toEqual({ code: 500, text: 'Internal Server Error' })
    api.failNext({ method: 'sendMessage', times: 2 }, 'html')
    await expect(send()).rejects.toThrow(HttpError)
    await expect(send()).rejects.toThrow(HttpError)
    await send()
    expect(api.messages(chat)).toHaveLength(1)
    expect(api.calls.map((call) => call.refused?.code ?? 200)).toEqual([429, 500, 0, 0, 200])
  })

  test('lose the response of a call that was executed', async () => {
    const chat = ann()
    api.failNext('sendMessage', 'lost')
    await expect(bot.api.sendMessage(chat, 'x')).rejects.toThrow(HttpError)
    expect(api.messages(chat)).toHaveLength(1)
    api.failNext('sendMessage', 'reset')
    await expect(bot.api.sendMessage(chat, 'y')).rejects.toThrow(HttpError)
    expect(api.messages(chat)).toHaveLength(1)
  })

  test('hang until they are released', async () => {
    const chat = ann()
    api.failNext('sendMessage', 'hang')
    const call = bot.api.sendMessage(chat, 'x').catch((error: unknown) => error)
    await api.waitFor(() => api.lastCall('sendMessage'))
    api.release()
    expect(await call).toBeInstanceOf(HttpError)
  })

  test('take the whole server down and bring it up again', async () => {
    bot.command('ping', (ctx) => ctx.reply('pong'))
    await api.down()
    await expect(bot.api.getMe()).rejects.toThrow(HttpError)
    await api.up()
    await polling()
    const chat = ann()
    api.send(chat, '/ping')
    expect(await api.waitFor(() => api.lastMessage(chat))).toMatchObject({ text: 'pong' })
  })

  test('enforce the rate limits on request', async () => {
    await start({ rates: true })
    const chat = ann()
    for (const text of ['1', '2', '3']) await bot.api.sendMessage(chat, text)
    const flood = await bot.api.sendMessage(chat, '4').catch((error: unknown) => error)
    expect(flood).toMatchObject({ error_code: 429, parameters: { retry_after: 1 } })
    time.now = new Date(NOON.getTime() + 1000)
    await bot.api.sendMessage(chat, '4')
  })
})
