import { type FastifyInstance, fastify } from 'fastify'
import { Bot, InlineKeyboard } from 'grammy'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addTelegramAccounts, type TelegramAccounts } from '#sandbox/telegram/accounts.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { chatPages } from '#sandbox/telegram-chat-page.ts'
import { openBrowser } from '../support/browser.ts'

const TOKEN = '4242:test-token'
/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const USUAL_SIZE = { width: 1280, height: 720 }

let browser: Browser
let api: TelegramApi
let accounts: TelegramAccounts
let app: FastifyInstance
let address: string
let bot: Bot
let polling: Promise<void>
/** One for all tests; each has a server, and so an origin, of its own. */
let page: Page
let problems: string[] = []

beforeAll(async () => {
  browser = await openBrowser()
  page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
})

afterAll(async () => {
  await browser.close()
})

beforeEach(async () => {
  const now = new Date('2026-11-20T13:02:00Z')
  const options = { token: TOKEN, username: 'watchdog_bot', firstName: 'Watchdog' }
  api = await startTelegramApi({ ...options, clock: { now: () => now } })
  accounts = addTelegramAccounts(api)
  app = fastify()
  await app.register(chatPages(api, { topBar: '<header id="bar">Sandbox</header>' }))
  address = await app.listen({ host: '127.0.0.1', port: 0 })
  bot = new Bot(TOKEN, { client: { apiRoot: api.url } })
  bot.command('start', (ctx) => ctx.reply(`Hello: ${ctx.match}`))
  bot.callbackQuery('toast', (ctx) => ctx.answerCallbackQuery('Muted'))
  bot.callbackQuery('alert', (ctx) =>
    ctx.answerCallbackQuery({ text: 'Not for you', show_alert: true }),
  )
  bot.on('callback_query', (ctx) => ctx.answerCallbackQuery(`Got ${ctx.callbackQuery.data}`))
  bot.on('message', (ctx) => ctx.reply(`Echo: ${ctx.message.text}`))
  await new Promise<void>((ready) => {
    polling = bot.start({ onStart: () => ready() })
  })
  await page.setViewportSize(USUAL_SIZE)
  problems = []
})

afterEach(async () => {
  await page.goto('about:blank')
  await bot.stop()
  await polling
  await app.close()
  await api.close()
  expect(problems).toEqual([])
})

const idOf = (username: string): number => accounts.people.get(username)?.id ?? 0

async function open(query: string): Promise<void> {
  await page.goto(`${address}/chat?${query}`)
  await page.locator('.chat-head').waitFor()
}

/** The newest bubble of the bot that holds this text. */
const bubble = (text: string) => page.locator('.message', { hasText: text }).last()

describe('the chat page', () => {
  test('opens a deep link with a Start button and shows the reply', async () => {
    await open('person=ben&start=abc_-123')
    expect(await page.locator('#bar').textContent()).toBe('Sandbox')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await bubble('Hello: abc_-123').waitFor()
    expect(api.messages(idOf('ben'))[0]).toMatchObject({ text: '/start abc_-123' })
    await page.getByLabel('Message', { exact: true }).fill('Guten Tag')
    await page.keyboard.press('Enter')
    await bubble('Echo: Guten Tag').waitFor()
  })

  test('follows links to the bot inside of messages, for people and for groups', async () => {
    const ann = idOf('ann')
    api.send(ann, 'hi')
    const start = 'https://t.me/watchdog_bot?start='
    await bot.api.sendMessage(ann, `<a href="${start}w42">watch</a>`, {
      parse_mode: 'HTML',
      reply_markup: new InlineKeyboard().url('Group', 'https://t.me/watchdog_bot?startgroup=code'),
    })
    await open('person=ann')
    await page.getByRole('link', { name: 'watch' }).click()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await bubble('Hello: w42').waitFor()
    await page.getByRole('button', { name: 'Group', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Node crew' }).click()
    await bubble('Hello: code').waitFor()
    expect(api.chat(accounts.nodeCrew.id)).toMatchObject({ botStatus: 'member' })
  })

  test('shows the picture of a message below its text, fetched once, until an edit takes it away', async () => {
    const ann = idOf('ann')
    api.send(ann, 'hi')
    const png = Buffer.from(PIXEL, 'base64')
    let fetches = 0
    const pages = fastify()
    pages.get('/rounds.png', async (_request, reply) => {
      fetches += 1
      return reply.type('image/png').send(png)
    })
    const url = `${await pages.listen({ host: '127.0.0.1', port: 0 })}/rounds.png?round=1`
    const options = { url, prefer_large_media: true, show_above_text: false }
    const { message_id: id } = await bot.api.sendMessage(ann, 'Alpha is silent', {
      link_preview_options: options,
    })
    await open('person=ann')
    const picture = bubble('Alpha').locator('.preview img')
    await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1)
    const bottom = async (part: string) => (await bubble('Alpha').locator(part).boundingBox())?.y
    expect(await bottom('.preview')).toBeGreaterThan((await bottom('.text')) ?? 0)
    await bot.api.editMessageText(ann, id, 'Alpha is healthy', { link_preview_options: options })
    await bubble('Alpha is healthy').locator('.preview img').waitFor()
    await bot.api.editMessageText(ann, id, 'Alpha is fine', {
      link_preview_options: { is_disabled: true },
    })
    await bubble('Alpha is fine').waitFor()
    expect(await picture.count()).toBe(0)
    expect(fetches).toBe(1)
    await pages.close()
  })

  test('presses buttons and shows toasts and alert boxes', async () => {
    const ann = idOf('ann')
    api.send(ann, 'hi')
    const sent = await bot.api.sendMessage(ann, 'Alert', {
      reply_markup: new InlineKeyboard().text('Mute', 'toast').text('Ack', 'alert'),
    })
    await open('person=ann')
    await page.getByRole('button', { name: 'Mute' }).click()
    await page.getByRole('status').filter({ hasText: 'Muted' }).waitFor()
    await page.getByRole('button', { name: 'Ack' }).click()
    await page.getByRole('dialog').filter({ hasText: 'Not for you' }).waitFor()
    await page.getByRole('button', { name: 'OK' }).click()

    await bot.api.editMessageReplyMarkup(ann, sent.message_id)
    await page.getByText('edited').waitFor()
    await bubble('Alert').hover()
    await bubble('Alert').getByLabel('More').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Mute' }).click()
    await page.getByRole('status').filter({ hasText: 'Muted' }).waitFor()
    await bubble('Alert').hover()
    await bubble('Alert').getByLabel('More').click()
    await page.getByLabel(/^Callback data/).fill('1:forged:zz')
    await page.getByRole('button', { name: 'Send data' }).click()
    await page.getByRole('status').filter({ hasText: 'Got 1:forged:zz' }).waitFor()
  })

  test('shows texts of people as text, also if they contain markup', async () => {
    const evil = '<img src=x onerror="document.title=1">'
    const person = api.person({ firstName: evil, languageCode: 'en', started: true })
    api.send(person.id, evil)
    await open(`chat=${person.id}`)
    await bubble(`Echo: ${evil}`).waitFor()
    expect(await page.locator('.tg img').count()).toBe(0)
    expect(await page.title()).toBe('Chat · Watchdog sandbox')
  })

  test('renders entities: quotes that open, spoilers, code, right-to-left lines', async () => {
    const salma = idOf('salma')
    api.send(salma, 'مرحبا')
    await bot.api.sendMessage(
      salma,
      '🔴 <b>حرج</b>\nالمحفظة <code>0xabc</code>\n<tg-spoiler>hidden</tg-spoiler>\n' +
        `<blockquote expandable>${'سطر\n'.repeat(9)}end</blockquote>`,
      { parse_mode: 'HTML', disable_notification: true },
    )
    await open('person=salma')
    const text = bubble('حرج').locator('.text')
    await text.waitFor()
    expect(await text.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
    expect(await text.locator('b').textContent()).toBe('حرج')
    expect(await bubble('حرج').getByLabel('silent').count()).toBe(1)
    const spoiler = text.locator('.spoiler')
    await spoiler.click()
    expect(await spoiler.getAttribute('class')).toContain('shown')
    const fold = text.getByRole('button', { name: /▾/ })
    const before = await text.locator('blockquote').boundingBox()
    await fold.click()
    const after = await text.locator('blockquote').boundingBox()
    expect(after?.height).toBeGreaterThan(2 * (before?.height ?? 0))
  })

  test('blocks the bot, shows the refusal in red, and restarts it', async () => {
    const ann = idOf('ann')
    api.send(ann, 'hi')
    await open('person=ann')
    await page.locator('.menu summary').click()
    await page.getByRole('button', { name: 'Block the bot' }).click()
    await page.getByRole('button', { name: 'Restart bot' }).waitFor()
    await bot.api.sendMessage(ann, 'unheard').catch(() => {})
    await page
      .locator('.call.refused', { hasText: '403 Forbidden: bot was blocked by the user' })
      .waitFor()
    await page.getByRole('button', { name: 'Restart bot' }).click()
    await bubble('Hello:').waitFor()
  })

  test('offers the commands in the person’s language', async () => {
    await bot.api.setMyCommands([{ command: 'watches', description: 'Watches' }])
    await bot.api.setMyCommands([{ command: 'watches', description: 'Überwachungen' }], {
      language_code: 'de',
    })
    api.send(idOf('ben'), 'hallo')
    await open('person=ben')
    await page.getByLabel('Message', { exact: true }).fill('/wa')
    await page.locator('.suggestions button', { hasText: 'Überwachungen' }).click()
    await bubble('Echo: /watches').waitFor()
  })

  test('writes into topics in a chosen person’s name', async () => {
    const forum = api.chat(accounts.opsForum.id)
    const topic = forum.type === 'private' ? undefined : forum.topics[0]
    api.addBot(forum.id)
    api.promote(forum.id)
    await open(`chat=${forum.id}`)
    await page.getByRole('button', { name: '# Alerts' }).click()
    await page.getByLabel('Write as').selectOption({ label: 'Devi' })
    await page.getByLabel('Message', { exact: true }).fill('from Devi')
    await page.keyboard.press('Enter')
    const message = await api.waitFor(() =>
      api.messages(forum.id).find((message) => message.text === 'from Devi'),
    )
    expect(message).toMatchObject({ from: idOf('devi'), threadId: topic?.id })
  })

  test.each([320, 360])('fits into a width of %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 780 })
    const forum = accounts.opsForum.id
    api.addBot(forum)
    api.send(idOf('ann'), 'hi')
    for (const query of ['person=ann', `chat=${forum}`]) {
      await open(query)
      const send = await page.locator('.send').boundingBox()
      expect((send?.x ?? width) + (send?.width ?? 0), query).toBeLessThanOrEqual(width)
      const scrolled = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(scrolled, query).toBeLessThanOrEqual(width)
    }
  })

  test('adds a person', async () => {
    await open('person=ann')
    await page.getByRole('button', { name: '+ Add' }).click()
    await page.getByLabel('First name').fill('Yuki')
    await page.getByLabel('Language of the app').selectOption('ja')
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click()
    await page.locator('.chat-row.current', { hasText: 'Yuki' }).waitFor()
    expect(api.chats().at(-1)).toMatchObject({
      person: { firstName: 'Yuki', languageCode: 'ja' },
      started: false,
    })
  })

  test('accepts actions as JSON only, and reports what is wrong with them', async () => {
    const post = (body: string, contentType: string) =>
      app.inject({
        method: 'POST',
        url: '/chat/act',
        headers: { 'content-type': contentType },
        body,
      })
    const act = JSON.stringify({ act: 'block', chat: 1 })
    expect((await post(act, 'application/json')).json()).toEqual({ error: 'there is no chat 1' })
    expect((await post(act, 'text/plain')).statusCode).toBe(400)
    expect((await post('{"act":"fly"}', 'application/json')).statusCode).toBe(400)
    expect((await app.inject('/chat/files/none')).statusCode).toBe(404)
  })
})
