import { fastify } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ALLOWED_UPDATES, fetchUpdates } from '#bot/core/poller.ts'
import { type BotService, createBotService } from '#bot/core/service.ts'
import { BOT_PARTS } from '#bot/parts.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createLeases } from '#src/db/leases.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { App } from '#src/operations/define.ts'
import { createApi } from '#src/telegram/api.ts'
import { menuNames } from '../support/bot.ts'
import { BOT_NAME, BOT_TOKEN, serviceOnly } from '../support/harness.ts'
import { ownPace } from '../support/pace.ts'

let only: Awaited<ReturnType<typeof serviceOnly>>
let telegram: TelegramApi
let app: App
const logged: { readonly level: string; readonly message: string }[] = []
const services: BotService[] = []
const log: Logger = {
  error: (_fields, message) => logged.push({ level: 'error', message }),
  warn: (_fields, message) => logged.push({ level: 'warn', message }),
  info: (_fields, message) => logged.push({ level: 'info', message }),
  debug: () => undefined,
}

beforeAll(async () => {
  only = await serviceOnly()
  telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME, webhookPauseMs: 20 })
  app = { ...only.app, log }
})
afterEach(async () => {
  vi.restoreAllMocks()
  telegram.clearFaults()
  telegram.release()
  for (const service of services.splice(0)) await service.stop()
  logged.length = 0
})
afterAll(async () => {
  await telegram.close()
  await only.close()
})

function create(
  over: { token?: string; webhookSecret?: string; publicUrl?: string } = {},
): BotService {
  const { token = BOT_TOKEN, webhookSecret, publicUrl = app.publicUrl } = over
  const pace = ownPace({ allMs: 0, chatMs: 0 })
  const settings = {
    token,
    apiRoot: telegram.url,
    webhookSecret,
    pace,
    parts: BOT_PARTS,
  }
  const service = createBotService(
    { ...app, publicUrl, leases: createLeases(only.sql) },
    only.sql,
    settings,
  )
  services.push(service)
  return service
}

/** Writes as a new person and waits for the bot's answer. */
async function hello(): Promise<string> {
  const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
  telegram.send(id, '/help')
  const answer = await telegram.waitFor(() => telegram.lastMessage(id), 15_000)
  return answer.text
}

/** Advances the time until a promise settles. */
async function asTimePasses<T>(waiting: Promise<T>): Promise<T> {
  const timer = setInterval(() => only.clock.advance(1), 20)
  try {
    return await waiting
  } finally {
    clearInterval(timer)
  }
}

const wasLogged = (message: string) => logged.some((line) => line.message === message)

describe('long polling', () => {
  test('answers messages, knows the bot’s name, and stops on request', async () => {
    const service = create()
    expect(service.username()).toBeUndefined()
    await service.start()
    expect(await hello()).toContain('How it works')
    expect(service.username()).toBe(BOT_NAME)
    await service.stop()
    services.length = 0
    expect(telegram.pendingUpdates).toBe(0)
  })

  test('deletes a webhook that was set before', async () => {
    const service = create({ webhookSecret: 'secret', publicUrl: 'https://watchdog.example.org' })
    await service.start()
    await telegram.waitFor(() => telegram.lastCall('setWebhook'))
    await service.stop()
    services.length = 0
    await create().start()
    expect(await hello()).toContain('How it works')
    expect(telegram.lastCall('deleteWebhook')?.payload).toEqual({})
  })

  test('is done by one process at a time, and taken over when it stops', async () => {
    const first = create()
    await first.start()
    await hello()
    await create().start()
    await hello()
    expect(logged.filter(({ level }) => level !== 'info')).toEqual([])
    await first.stop()
    services.splice(services.indexOf(first), 1)
    expect(await hello()).toContain('How it works')
  })

  test('continues after a 409, a 429, broken answers and an outage of the server', async () => {
    await create().start()
    await hello()
    const conflict = 'Conflict: terminated by other getUpdates request'
    telegram.failNext({ method: 'getUpdates' }, { error_code: 502, description: 'Bad Gateway' })
    telegram.failNext({ method: 'getUpdates' }, 'html')
    telegram.failNext(
      { method: 'getUpdates' },
      { error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } },
    )
    telegram.failNext({ method: 'getUpdates' }, { error_code: 409, description: conflict })
    expect(await hello()).toContain('How it works')
    await telegram.down()
    await telegram.up()
    expect(await hello()).toContain('How it works')
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
  }, 40_000)

  test('starts while Telegram is down, and answers once it is up', async () => {
    await telegram.down()
    const service = create()
    await service.start()
    expect(service.username()).toBeUndefined()
    await telegram.up()
    expect(await hello()).toContain('How it works')
  }, 40_000)

  test('reports a wrong token as one, and starts as soon as Telegram accepts it', async () => {
    const times = 3
    telegram.failNext({ method: 'getMe', times }, { error_code: 401, description: 'Unauthorized' })
    const service = create()
    await service.start()
    await expect
      .poll(() => service.problem())
      .toBe('Telegram refuses the bot token: getMe: Unauthorized')
    expect(service.username()).toBeUndefined()
    expect(await hello()).toContain('How it works')
    expect(service.problem()).toBeUndefined()
    expect(logged.filter(({ level }) => level === 'error')).toEqual([
      { level: 'error', message: 'telegram refuses the bot token' },
    ])
  }, 40_000)

  test.each([
    [401, 'Unauthorized'],
    [404, 'Not Found'],
    [403, 'Forbidden'],
    [400, 'Bad Request'],
  ])(
    'goes on after Telegram refused it with %i for a while',
    async (code, description) => {
      const service = create()
      await service.start()
      await hello()
      const refusal = { error_code: code, description }
      telegram.failNext({ method: 'getUpdates', times: 3 }, refusal)
      const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
      // The first update ends the open request, whose successors are refused.
      telegram.send(id, '/help')
      await expect.poll(() => service.problem()).toContain(`getUpdates: ${description}`)
      telegram.send(id, '/help')
      expect(await hello()).toContain('How it works')
      await expect.poll(() => service.problem()).toBeUndefined()
    },
    40_000,
  )

  test('stores what it can read of an answer, and refuses one that is no list', async () => {
    const api = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, 1)
    let result: unknown = {}
    api.config.use(async () => ({ ok: true, result: result as never }))
    const fetch = () =>
      fetchUpdates(app, api, { offset: 5, waitSeconds: 0 }, new AbortController().signal)
    await expect(fetch()).rejects.toThrow('no list')
    result = [{ no: 'update' }, { update_id: 900 }, null]
    expect(await fetch()).toBe(901)
    const stored = await only.sql`select from telegram_updates where update_id = 900`
    expect(stored).toHaveLength(1)
    expect(wasLogged('updates cannot be read')).toBe(true)
  })

  test('reports another program with the same token, and the end of it', async () => {
    const service = create()
    await service.start()
    await hello()
    const other = createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, 60)
    const taken = other.getUpdates({ timeout: 1 })
    await expect
      .poll(() => service.problem())
      .toBe('another program receives updates with the same bot token')
    await taken
    elapse(31)
    expect(await hello()).toContain('How it works')
    expect(service.problem()).toBeUndefined()
  }, 40_000)

  test('reports when no request for updates is answered for long', async () => {
    const service = create()
    await service.start()
    await hello()
    elapse(91)
    expect(service.problem()).toMatch(/^no answer to a request for updates for \d+ s$/)
    await hello()
    expect(service.problem()).toBeUndefined()
  })

  test('makes no call before it is started', async () => {
    const before = telegram.calls.length
    create()
    expect(telegram.calls).toHaveLength(before)
  })
})

describe('an update that fails', () => {
  test('once is retried, and its press is answered at once', async () => {
    await create().start()
    const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
    telegram.send(id, '/start')
    const start = await telegram.waitFor(() => telegram.lastMessage(id))
    telegram.failNext('editMessageText', { error_code: 500, description: 'Internal Server Error' })
    const press = telegram.press(id, start.id, '🌐 English')
    await press.answer()
    const edited = await asTimePasses(
      telegram.waitFor(() => telegram.messages(id).find((message) => message.editedAt)),
    )
    expect(edited.text).toContain('Language of this chat')
  })

  test('because Telegram refuses the token for a while is answered later', async () => {
    await create().start()
    const refusal = { error_code: 401, description: 'Unauthorized' }
    telegram.failNext({ method: 'sendMessage', times: 5 }, refusal)
    const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
    telegram.send(id, '/help')
    const answer = await asTimePasses(telegram.waitFor(() => telegram.lastMessage(id), 30_000))
    expect(answer.text).toContain('How it works')
  }, 40_000)

  test('each time is answered with an error, a reference and a button to retry', async () => {
    await create().start()
    const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
    telegram.send(id, '/start')
    const start = await telegram.waitFor(() => telegram.lastMessage(id))
    const fault = { error_code: 400, description: 'Bad Request: message is too long' }
    telegram.failNext({ method: 'editMessageText', times: 3 }, fault)
    const press = telegram.press(id, start.id, '🌐 English')
    const isSorry = () => telegram.messages(id).find(({ text }) => text.startsWith('⚠️'))
    const sorry = await asTimePasses(telegram.waitFor(isSorry))
    expect(sorry.text).toBe(`⚠️ This did not work: internal error. Reference: ${press.updateId}`)
    expect(sorry.keyboard.flat()).toMatchObject([
      { text: 'Retry', callback_data: '1:settings.lang' },
      { text: '‹ Menu', callback_data: '1:home' },
    ])
    expect(wasLogged('update was given up')).toBe(true)
  }, 40_000)
})

describe('the webhook', () => {
  const secret = 'A_secret-of-the-webhook'
  let server: ReturnType<typeof fastify>
  let url: string

  beforeAll(async () => {
    server = fastify()
    const service = createBotService({ ...app, leases: createLeases(only.sql) }, only.sql, {
      token: BOT_TOKEN,
      apiRoot: telegram.url,
      webhookSecret: secret,
      pace: ownPace(),
      parts: BOT_PARTS,
    })
    service.mount(server)
    url = await server.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => server.close())

  const post = (body: unknown, headers: Readonly<Record<string, string>>) =>
    server.inject({
      method: 'POST',
      url: '/telegram/webhook',
      headers: { 'content-type': 'application/json', ...headers },
      payload: JSON.stringify(body),
    })
  const countUpdates = async () =>
    (await only.sql`select update_id from telegram_updates where update_id < 1000`).length

  test('passes updates to a bot in another process', async () => {
    const service = create({ webhookSecret: secret, publicUrl: url })
    await service.start()
    expect(await hello()).toContain('How it works')
    expect(telegram.lastCall('setWebhook')?.payload).toEqual({
      url: `${url}/telegram/webhook`,
      secret_token: secret,
      allowed_updates: [...ALLOWED_UPDATES],
    })
  })

  test('reports why Telegram cannot deliver updates, and the end of it', async () => {
    const target = fastify()
    let status = 503
    target.post('/telegram/webhook', (_request, reply) => reply.code(status).send())
    const publicUrl = await target.listen({ host: '127.0.0.1', port: 0 })
    const service = create({ webhookSecret: secret, publicUrl })
    await service.start()
    await telegram.waitFor(
      () => telegram.lastCall('setWebhook')?.payload['url'] === `${publicUrl}/telegram/webhook`,
    )
    telegram.send(telegram.person({ firstName: 'Ann', languageCode: 'en' }).id, '/help')
    only.clock.set(new Date())
    await expect
      .poll(() => service.problem(), { timeout: 60_000 })
      .toContain('Wrong response from the webhook: 503')
    status = 200
    await expect.poll(() => service.problem(), { timeout: 60_000 }).toBeUndefined()
    await target.close()
  }, 150_000)

  test('sets its webhook again after another program deleted it', async () => {
    const service = create({ webhookSecret: secret, publicUrl: url })
    await service.start()
    await hello()
    await createApi({ token: BOT_TOKEN, apiRoot: telegram.url }, 60).deleteWebhook()
    await expect.poll(() => service.problem(), { timeout: 60_000 }).toContain('another program')
    expect(wasLogged('webhook was changed by another program; it is set again')).toBe(true)
    const { id } = telegram.person({ firstName: 'Ann', languageCode: 'en' })
    telegram.send(id, '/help')
    await telegram.waitFor(() => telegram.lastMessage(id), 60_000)
  }, 150_000)

  test('refuses every update without the secret', async () => {
    const before = await countUpdates()
    const name = 'x-telegram-bot-api-secret-token'
    for (const headers of [{}, { [name]: '' }, { [name]: `${secret}x` }, { [name]: 'a' }]) {
      const answer = await post({ update_id: 1 }, headers)
      expect(answer.statusCode).toBe(401)
      expect(answer.payload).toBe('')
    }
    expect(await countUpdates()).toBe(before)
  })

  test('stores an update once that is sent twice, and refuses a body that is not an update', async () => {
    const header = { 'x-telegram-bot-api-secret-token': secret }
    expect((await post({ update_id: 7 }, header)).statusCode).toBe(200)
    expect((await post({ update_id: 7 }, header)).statusCode).toBe(200)
    expect((await post({ update_id: 'seven' }, header)).statusCode).toBe(400)
    expect((await post([], header)).statusCode).toBe(400)
    expect(await countUpdates()).toBe(1)
  })

  test('does not exist without a secret', async () => {
    const bare = fastify()
    create().mount(bare)
    const answer = await bare.inject({ method: 'POST', url: '/telegram/webhook', payload: {} })
    expect(answer.statusCode).toBe(404)
    await bare.close()
  })
})

describe('registration', () => {
  const languages = ['', ...LOCALES]

  test('sets menus and texts in every language, then changes nothing', async () => {
    const service = create()
    await service.start()
    const isDone = () =>
      telegram.calls.filter(({ method }) => method === 'getMyShortDescription').length >=
      languages.length
    await telegram.waitFor(isDone)
    const written = () => telegram.calls.filter(({ method }) => method.startsWith('setMy')).length
    await expect.poll(() => telegram.profileText('shortDescription', 'ar')).not.toBe('')
    const { id } = telegram.person({ firstName: 'Ben', languageCode: 'de' })
    expect(telegram.commandsFor(id, id)).toEqual(
      menuNames('private').map((command) => ({
        command,
        description: translate('de', `bot:command.${command}` as 'bot:command.help'),
      })),
    )
    expect(telegram.profileText('description', 'fr')).toBe(
      translate('fr', 'bot:profile.description'),
    )
    await service.stop()
    services.length = 0

    const before = written()
    const reads = telegram.calls.length
    await create().start()
    await telegram.waitFor(() => telegram.calls.length - reads >= languages.length * 6)
    expect(written()).toBe(before)
  })

  test('does not stop the bot when Telegram refuses it', async () => {
    telegram.failNext({ method: 'getMyCommands' }, { error_code: 400, description: 'Bad Request' })
    telegram.failNext({ method: 'getMyDescription' }, 'reset')
    telegram.failNext(
      { method: 'getMyShortDescription' },
      { error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } },
    )
    await create().start()
    expect(await hello()).toContain('How it works')
    await expect
      .poll(() => wasLogged('bot profile could not be written'), { timeout: 5000 })
      .toBe(true)
  })
})

/** Lets time pass that no clock shows. */
function elapse(seconds: number): void {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1000)
}
