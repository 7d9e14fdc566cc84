import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  Bot,
  type Context,
  GrammyError,
  HttpError,
  InlineKeyboard,
  InputFile,
  webhookCallback,
} from 'grammy'
import QRCode from 'qrcode'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tooMany } from '#src/sandbox/telegram/faults.ts'
import { startTelegramApi, type TelegramApi } from '#src/sandbox/telegram-api.ts'

const TOKEN = '4242:test-token'
const NOON = new Date('2026-11-20T12:00:00Z')

let now: Date
let api: TelegramApi
let bot: Bot
let undo: (() => Promise<unknown>)[]

beforeEach(async () => {
  now = NOON
  undo = []
  await start({})
})

afterEach(async () => {
  for (const step of undo.reverse()) await step()
})

async function start(options: { rates?: boolean }): Promise<void> {
  api = await startTelegramApi({
    token: TOKEN,
    username: 'watchdog_bot',
    firstName: 'Watchdog',
    clock: { now: () => now },
    webhookPauseMs: 5,
    ...options,
  })
  const own = api
  undo.push(() => own.close())
  bot = new Bot(TOKEN, { client: { apiRoot: api.url } })
}

/** Lets the bot poll until the test ends. */
async function polling(own = bot): Promise<void> {
  own.catch(() => {})
  await new Promise<void>((ready) => {
    const run = own.start({ onStart: () => ready(), timeout: 30 })
    undo.push(async () => {
      await own.stop()
      await run
    })
  })
}

async function refusal(call: Promise<unknown>): Promise<{ code: number; text: string }> {
  try {
    await call
  } catch (error) {
    if (error instanceof GrammyError) return { code: error.error_code, text: error.description }
    throw error
  }
  throw new Error('the call was not refused')
}

const ann = (started = true) =>
  api.person({ firstName: 'Ann', languageCode: 'en', username: 'ann', started }).id

describe('polling', () => {
  test('brings commands with their entities and takes the reply', async () => {
    bot.command('start', (ctx) => ctx.reply(`Hello ${ctx.from?.first_name}: ${ctx.match}`))
    await polling()
    const chat = ann(false)
    api.send(chat, '/start abc_123')
    await api.waitFor(() => api.lastMessage(chat))
    expect(api.lastMessage(chat)).toMatchObject({ text: 'Hello Ann: abc_123', at: NOON })
  })

  test('gives an unconfirmed update again', async () => {
    const chat = ann()
    api.send(chat, 'one')
    api.send(chat, 'two')
    const first = await bot.api.getUpdates({ limit: 1 })
    const again = await bot.api.getUpdates({ limit: 1 })
    expect(again).toEqual(first)
    const rest = await bot.api.getUpdates({ offset: (first[0]?.update_id ?? 0) + 1 })
    expect(rest.map((update) => update.message?.text)).toEqual(['two'])
    expect(api.pendingUpdates).toBe(1)
  })

  test('brings only the types that were asked for', async () => {
    await bot.api.getUpdates({ allowed_updates: ['callback_query'] })
    const chat = ann()
    expect(api.send(chat, 'unheard').updateId).toBeUndefined()
    expect(await bot.api.getUpdates()).toEqual([])
  })

  test('ends the first poll when a second one begins', async () => {
    const other = new Bot(TOKEN, { client: { apiRoot: api.url } })
    const polls = [bot, other].map((one) => refusal(one.api.getUpdates({ timeout: 30 })))
    // The one that stays gets an empty list when the server closes.
    for (const poll of polls) poll.catch(() => {})
    expect(await Promise.race(polls)).toEqual({
      code: 409,
      text: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    })
  })

  test('loses presses after 150 s and other updates after a day', async () => {
    const chat = ann()
    const { message_id } = await bot.api.sendMessage(chat, 'x', {
      reply_markup: new InlineKeyboard().text('A', 'a'),
    })
    api.press(chat, message_id, 'a')
    api.send(chat, 'hello')
    now = new Date(NOON.getTime() + 151_000)
    expect(api.pendingUpdates).toBe(1)
    now = new Date(NOON.getTime() + 24 * 3_600_000 + 1)
    expect(api.pendingUpdates).toBe(0)
  })
})

describe('tokens and methods', () => {
  test('knows its own token only', async () => {
    const other = new Bot('4242:other', { client: { apiRoot: api.url } })
    expect(await refusal(other.api.getMe())).toEqual({ code: 401, text: 'Unauthorized' })
    const malformed = await fetch(`${api.url}/botnonsense/getMe`)
    expect([malformed.status, await malformed.json()]).toEqual([
      404,
      { ok: false, error_code: 404, description: 'Not Found' },
    ])
  })

  test('refuses unknown methods and takes known ones in any case', async () => {
    const call = async (method: string) => (await fetch(`${api.url}/bot${TOKEN}/${method}`)).json()
    expect(await call('sendPigeon')).toEqual({
      ok: false,
      error_code: 404,
      description: 'Not Found: method not found',
    })
    expect(await call('GETME')).toMatchObject({ ok: true, result: { id: 4242, is_bot: true } })
  })

  test('reads queries, forms and JSON alike', async () => {
    const chat = ann()
    const address = `${api.url}/bot${TOKEN}/sendMessage`
    await fetch(`${address}?chat_id=${chat}&text=query`)
    await fetch(address, {
      method: 'POST',
      body: new URLSearchParams({
        chat_id: String(chat),
        text: 'form',
        disable_notification: 'true',
      }),
    })
    await bot.api.sendMessage(chat, 'json')
    expect(api.messages(chat).map((message) => [message.text, message.silent])).toEqual([
      ['query', false],
      ['form', true],
      ['json', false],
    ])
    expect(api.calls.map((call) => Number(call.payload.chat_id))).toEqual([chat, chat, chat])
  })
})

describe('texts', () => {
  test.each([
    ['nothing', '', 'message text is empty'],
    ['what nobody sees', ' \u200b', 'text must be non-empty'],
    ['4097 units', 'x'.repeat(4097), 'message is too long'],
    ['32769 bytes', 'x'.repeat(32_769), 'text is too long'],
    [
      'an open tag',
      '<b>x',
      'can\'t parse entities: Can\'t find end tag corresponding to start tag "b"',
    ],
    [
      'a name with a heart',
      '<b>Alice <3</b>',
      'can\'t parse entities: Unsupported start tag "3</b" at byte offset 9',
    ],
  ])('refuse %s', async (_, text, expected) => {
    const call = bot.api.sendMessage(ann(), text, { parse_mode: 'HTML' })
    expect(await refusal(call)).toEqual({ code: 400, text: `Bad Request: ${expected}` })
  })

  test('refuse markup this server does not know', async () => {
    const call = bot.api.sendMessage(ann(), '*x*', { parse_mode: 'MarkdownV2' })
    expect((await refusal(call)).text).toBe('Bad Request: unsupported parse_mode')
  })

  test('keeps 4096 units after markup, entities, silence and the preview setting', async () => {
    const chat = ann()
    const body = 'x'.repeat(4096)
    const sent = await bot.api.sendMessage(chat, `<b>${body}</b>`, {
      parse_mode: 'HTML',
      disable_notification: true,
      link_preview_options: { is_disabled: true },
    })
    expect(sent).toMatchObject({
      text: body,
      entities: [{ type: 'bold', offset: 0, length: 4096 }],
      link_preview_options: { is_disabled: true },
    })
    expect(api.lastMessage(chat)?.silent).toBe(true)
  })

  test('removes embeddings and keeps isolates', async () => {
    const sent = await bot.api.sendMessage(ann(), 'a\u202eb\u202c \u2068x\u2069')
    expect(sent.text).toBe('ab \u2068x\u2069')
  })
})

describe('keyboards', () => {
  const send = (row: unknown[], chat = ann()) =>
    bot.api.sendMessage(chat, 'x', {
      reply_markup: { inline_keyboard: [row] } as never,
    })

  test.each([
    ['66 bytes of data', { text: 'a', callback_data: 'é'.repeat(33) }, 'BUTTON_DATA_INVALID'],
    ['no label', { text: '', callback_data: 'x' }, 'inline keyboard button text must be non-empty'],
    [
      'no action',
      { text: 'a' },
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ],
    [
      'an unknown style',
      { text: 'a', callback_data: 'x', style: 'pink' },
      "can't parse inline keyboard button: invalid button style specified",
    ],
    [
      'a host without a dot',
      { text: 'a', url: 'http://localhost:3000/' },
      "inline keyboard button URL 'http://localhost:3000/' is invalid: Wrong HTTP URL",
    ],
    [
      'a wallet link',
      { text: 'a', url: 'ethereum:0xabc@14' },
      "inline keyboard button URL 'ethereum:0xabc@14' is invalid: Wrong HTTP URL",
    ],
    [
      'a Mini App over http',
      { text: 'a', web_app: { url: 'http://a.example/' } },
      "inline keyboard button Web App URL 'http://a.example/' is invalid: Only HTTPS links are allowed",
    ],
    [
      '257 characters to copy',
      { text: 'a', copy_text: { text: 'x'.repeat(257) } },
      'BUTTON_COPY_TEXT_INVALID',
    ],
  ])('refuses a button with %s', async (_, button, expected) => {
    expect(await refusal(send([button]))).toEqual({ code: 400, text: `Bad Request: ${expected}` })
  })

  test('refuses nine buttons in a row, and Mini Apps outside of private chats', async () => {
    const nine = Array.from({ length: 9 }, () => ({ text: 'a', callback_data: 'a' }))
    expect((await refusal(send(nine))).text).toBe('Bad Request: reply markup is too long')
    const group = api.group({ title: 'Node crew', members: [ann()] })
    const webApp = { text: 'a', web_app: { url: 'https://a.example/' } }
    expect((await refusal(send([webApp], group.id))).text).toBe('Bad Request: BUTTON_TYPE_INVALID')
  })

  test('takes every kind of button the bot uses', async () => {
    const chat = ann()
    await send(
      [
        { text: 'Ack', callback_data: 'x'.repeat(64), style: 'primary' },
        { text: 'Delete', callback_data: 'd', style: 'danger' },
        { text: 'Open', url: 'http://127.0.0.1:8080/a' },
        { text: 'Copy', copy_text: { text: '0xabc' } },
        { text: 'App', web_app: { url: 'https://a.example' } },
        { text: 'Off', disabled: {} },
      ],
      chat,
    )
    expect(api.lastMessage(chat)?.keyboard[0]).toHaveLength(6)
  })
})

describe('presses', () => {
  test('reach the bot with the whole message, and their answer comes back', async () => {
    const seen: Context[] = []
    bot.callbackQuery('1:home', async (ctx) => {
      seen.push(ctx)
      await ctx.answerCallbackQuery({ text: 'Done', show_alert: true })
    })
    await polling()
    const chat = ann()
    const alert = await bot.api.sendMessage(chat, '<b>Alert</b>', { parse_mode: 'HTML' })
    const { message_id } = await bot.api.sendMessage(chat, 'Recovered', {
      reply_parameters: { message_id: alert.message_id },
      reply_markup: new InlineKeyboard().text('Menu', '1:home'),
    })
    expect(await api.press(chat, message_id, 'Menu').answer()).toMatchObject({
      chatId: chat,
      messageId: message_id,
      text: 'Done',
      showAlert: true,
    })
    expect(seen[0]?.callbackQuery?.message).toMatchObject({
      message_id,
      from: { id: 4242, is_bot: true },
      date: NOON.getTime() / 1000,
      text: 'Recovered',
      reply_to_message: { text: 'Alert', entities: [{ type: 'bold', offset: 0, length: 5 }] },
      reply_markup: { inline_keyboard: [[{ text: 'Menu', callback_data: '1:home' }]] },
    })
  })

  test('are answered once, in time, with at most 200 characters', async () => {
    const tooOld =
      'Bad Request: query is too old and response timeout expired or query ID is invalid'
    const chat = ann()
    const { message_id } = await bot.api.sendMessage(chat, 'x', {
      reply_markup: new InlineKeyboard().text('A', 'a'),
    })
    const press = api.press(chat, message_id, 'a')
    expect(
      (await refusal(bot.api.answerCallbackQuery(press.queryId, { text: 'x'.repeat(201) }))).text,
    ).toBe('Bad Request: MESSAGE_TOO_LONG')
    await bot.api.answerCallbackQuery(press.queryId, { text: 'x'.repeat(200) })
    expect((await refusal(bot.api.answerCallbackQuery(press.queryId))).text).toBe(tooOld)
    const late = api.press(chat, message_id, 'a')
    now = new Date(NOON.getTime() + 31_000)
    expect((await refusal(bot.api.answerCallbackQuery(late.queryId))).text).toBe(tooOld)
  })

  test('may be forged, and may be on a message that is gone', async () => {
    const chat = ann()
    const { message_id } = await bot.api.sendMessage(chat, 'x')
    await bot.api.deleteMessage(chat, message_id)
    api.pressRaw(chat, message_id, '1:watch.delete:zz')
    const [update] = await bot.api.getUpdates()
    expect(update?.callback_query).toMatchObject({
      data: '1:watch.delete:zz',
      message: { message_id, date: 0, chat: { id: chat } },
    })
    expect(() => api.press(chat, message_id, 'a')).toThrow('no message')
  })
})

describe('edits and deletions', () => {
  test('change the message in place and mark it', async () => {
    const chat = ann()
    const { message_id } = await bot.api.sendMessage(chat, 'one', {
      reply_markup: new InlineKeyboard().text('A', 'a'),
    })
    now = new Date(NOON.getTime() + 5000)
    await bot.api.editMessageText(chat, message_id, '<i>two</i>', { parse_mode: 'HTML' })
    expect(api.messages(chat)).toMatchObject([{ text: 'two', editedAt: now, keyboard: [] }])
    await bot.api.editMessageReplyMarkup(chat, message_id, {
      reply_markup: new InlineKeyboard().text('B', 'b'),
    })
    expect(api.lastMessage(chat)).toMatchObject({ text: 'two', keyboard: [[{ text: 'B' }]] })
  })

  test('are refused when nothing changes, or nothing is there', async () => {
    const chat = ann()
    const theirs = api.send(chat, 'mine').message.id
    const { message_id } = await bot.api.sendMessage(chat, 'same')
    const edit = async (id: number) =>
      (await refusal(bot.api.editMessageText(chat, id, 'same'))).text
    expect(await edit(message_id)).toMatch(/^Bad Request: message is not modified: /)
    expect(await edit(999)).toBe('Bad Request: message to edit not found')
    expect(await edit(theirs)).toBe("Bad Request: message can't be edited")
    expect((await refusal(bot.api.deleteMessage(chat, 999))).text).toBe(
      'Bad Request: message to delete not found',
    )
  })

  test('delete what a person typed, but nothing older than two days', async () => {
    const chat = ann()
    const typed = api.send(chat, '0xabc').message.id
    await bot.api.deleteMessage(chat, typed)
    expect(api.messages(chat)).toEqual([])
    const old = api.send(chat, 'old').message.id
    now = new Date(NOON.getTime() + 48 * 3_600_000 + 1)
    expect((await refusal(bot.api.deleteMessage(chat, old))).text).toBe(
      "Bad Request: message can't be deleted for everyone",
    )
  })

  test('refuse a reply to a missing message unless it may be missing', async () => {
    const chat = ann()
    const reply = { message_id: 77 }
    expect((await refusal(bot.api.sendMessage(chat, 'x', { reply_parameters: reply }))).text).toBe(
      'Bad Request: message to be replied not found',
    )
    await bot.api.sendMessage(chat, 'x', {
      reply_parameters: { ...reply, allow_sending_without_reply: true },
    })
    expect(api.lastMessage(chat)?.replyTo).toBeUndefined()
  })
})

describe('photos and documents', () => {
  test('take a picture with a caption, as multipart', async () => {
    const chat = ann()
    const png = await QRCode.toBuffer('http://127.0.0.1:8080/pay/x', { width: 400 })
    const sent = await bot.api.sendPhoto(chat, new InputFile(png, 'qr.png'), {
      caption: '<code>0xabc</code>',
      parse_mode: 'HTML',
      reply_markup: new InlineKeyboard().text('I paid', 'paid'),
    })
    expect(sent.photo[0]).toMatchObject({ width: 400, height: 400, file_size: png.length })
    expect(sent).toMatchObject({ caption: '0xabc', caption_entities: [{ type: 'code' }] })
    expect(api.lastCall('sendPhoto')?.payload).toMatchObject({
      chat_id: chat,
      caption: '<code>0xabc</code>',
    })
    const fileId = sent.photo[0]?.file_id ?? ''
    expect(api.file(fileId)?.bytes).toEqual(new Uint8Array(png))
    await bot.api.sendPhoto(chat, fileId)
    const edit = bot.api.editMessageText(chat, sent.message_id, 'x')
    expect((await refusal(edit)).text).toBe('Bad Request: there is no text in the message to edit')
  })

  test('refuse what is no picture, and captions above 1024', async () => {
    const chat = ann()
    const text = new InputFile(Buffer.from('id;when\n1;now\n'), 'alerts.csv')
    expect((await refusal(bot.api.sendPhoto(chat, text))).text).toBe(
      'Bad Request: IMAGE_PROCESS_FAILED',
    )
    const sent = await bot.api.sendDocument(chat, text)
    expect(sent.document).toMatchObject({
      file_name: 'alerts.csv',
      mime_type: 'text/csv',
      file_size: 14,
    })
    const long = bot.api.sendDocument(chat, text, { caption: 'x'.repeat(1025) })
    expect((await refusal(long)).text).toBe('Bad Request: message caption is too long')
  })
})

describe('who may be written to', () => {
  test('nobody who has not written, nor anybody unknown', async () => {
    const chat = ann(false)
    const toStranger = async (id: number) => await refusal(bot.api.sendMessage(id, 'x'))
    expect(await toStranger(1)).toEqual({ code: 400, text: 'Bad Request: chat not found' })
    expect(await toStranger(chat)).toEqual({ code: 400, text: 'Bad Request: chat not found' })
    api.group({ title: 'Node crew', members: [chat] })
    expect(await toStranger(chat)).toEqual({
      code: 403,
      text: "Forbidden: bot can't initiate conversation with a user",
    })
  })

  test('nobody who blocked the bot, which learns of it', async () => {
    const chat = ann()
    api.block(chat)
    expect(await refusal(bot.api.sendMessage(chat, 'x'))).toEqual({
      code: 403,
      text: 'Forbidden: bot was blocked by the user',
    })
    api.unblock(chat)
    await bot.api.sendMessage(chat, 'x')
    const updates = await bot.api.getUpdates()
    expect(updates.map((update) => update.my_chat_member?.new_chat_member.status)).toEqual([
      'kicked',
      'member',
    ])
  })
})

describe('groups', () => {
  test('keep from the bot what is not meant for it', () => {
    const [a, b] = [ann(), api.person({ firstName: 'Ben', languageCode: 'de' }).id]
    const { id } = api.group({ title: 'Node crew', members: [b], admins: [a] })
    const heard = (text: string, options = {}) =>
      api.send(id, text, { from: b, ...options }).updateId !== undefined
    expect(heard('hello')).toBe(false)
    expect(heard('/status')).toBe(true)
    expect(heard('/status@watchdog_bot')).toBe(true)
    expect(heard('/status@other_bot')).toBe(false)
    expect(heard('hi @watchdog_bot')).toBe(true)
    api.promote(id)
    expect(heard('hello')).toBe(true)
  })

  test('tell who administers them', async () => {
    const [a, b] = [ann(), api.person({ firstName: 'Ben', languageCode: 'de' }).id]
    const { id } = api.group({ title: 'Node crew', members: [b], admins: [a] })
    const status = async (user: number) => (await bot.api.getChatMember(id, user)).status
    expect([await status(a), await status(b), await status(4242)]).toEqual([
      'creator',
      'member',
      'member',
    ])
    api.promote(id, b)
    const admins = await bot.api.getChatAdministrators(id)
    expect(admins.map((admin) => admin.user.id).sort()).toEqual([a, b].sort())
    expect(await bot.api.getChatMemberCount(id)).toBe(3)
    expect((await refusal(bot.api.getChatAdministrators(a))).text).toBe(
      'Bad Request: there are no administrators in the private chat',
    )
  })

  test('refuse a bot that was thrown out, muted, or may not pin', async () => {
    const { id } = api.group({ title: 'Node crew', members: [ann()] })
    const { message_id } = await bot.api.sendMessage(id, 'x')
    expect((await refusal(bot.api.pinChatMessage(id, message_id))).text).toBe(
      'Bad Request: not enough rights to manage pinned messages in the chat',
    )
    api.mute(id)
    expect((await refusal(bot.api.sendMessage(id, 'x'))).text).toBe(
      'Bad Request: not enough rights to send text messages to the chat',
    )
    api.kick(id)
    expect(await refusal(bot.api.sendMessage(id, 'x'))).toEqual({
      code: 403,
      text: 'Forbidden: bot was kicked from the group chat',
    })
  })

  test('move to a supergroup and name it', async () => {
    const { id } = api.group({ title: 'Node crew', members: [ann()] })
    const moved = api.migrate(id)
    const error = await bot.api.sendMessage(id, 'x').catch((problem: unknown) => problem)
    expect(error).toMatchObject({
      error_code: 400,
      description: 'Bad Request: group chat was upgraded to a supergroup chat',
      parameters: { migrate_to_chat_id: moved.id },
    })
    await bot.api.sendMessage(moved.id, 'x')
    const updates = await bot.api.getUpdates()
    expect(updates.map((update) => update.message)).toMatchObject([
      { chat: { id }, migrate_to_chat_id: moved.id },
      { chat: { id: moved.id }, migrate_from_chat_id: id },
    ])
  })

  test('have topics that close and go', async () => {
    const { id } = api.group({ title: 'Ops forum', members: [ann()], isForum: true })
    const topic = api.topic(id, 'Alerts')
    const send = (thread: number) => bot.api.sendMessage(id, 'x', { message_thread_id: thread })
    expect(await send(topic)).toMatchObject({ message_thread_id: topic, is_topic_message: true })
    expect((await refusal(send(1))).text).toBe('Bad Request: message thread not found')
    api.closeTopic(id, topic)
    expect((await refusal(send(topic))).text).toBe('Bad Request: TOPIC_CLOSED')
    api.deleteTopic(id, topic)
    expect((await refusal(send(topic))).text).toBe('Bad Request: message thread not found')
    expect((await refusal(bot.api.createForumTopic(id, 'New'))).text).toBe(
      'Bad Request: not enough rights to create a topic',
    )
    api.promote(id)
    const made = await bot.api.createForumTopic(id, 'New')
    expect(await send(made.message_thread_id)).toMatchObject({ is_topic_message: true })
  })

  test('let a bot in through a startgroup link', async () => {
    const a = ann()
    const { id } = api.group({ title: 'Node crew', members: [a], bot: 'left' })
    api.addBot(id, { from: a, payload: 'abc' })
    const updates = await bot.api.getUpdates()
    expect(updates).toMatchObject([
      { my_chat_member: { new_chat_member: { status: 'member' } } },
      { message: { new_chat_members: [{ id: 4242 }] } },
      { message: { text: '/start@watchdog_bot abc', from: { id: a } } },
    ])
  })
})

describe('the profile', () => {
  test('prefers the narrower scope, and there the language', async () => {
    const ben = api.person({ firstName: 'Ben', languageCode: 'de-AT' }).id
    const commands = (description: string) => [{ command: 'start', description }]
    const seen = () => api.commandsFor(ben, ben)[0]?.description
    await bot.api.setMyCommands(commands('default de'), { language_code: 'de' })
    expect(seen()).toBe('default de')
    await bot.api.setMyCommands(commands('private'), { scope: { type: 'all_private_chats' } })
    expect(seen()).toBe('private')
    await bot.api.setMyCommands(commands('private de'), {
      scope: { type: 'all_private_chats' },
      language_code: 'de',
    })
    expect(seen()).toBe('private de')
    await bot.api.deleteMyCommands({ scope: { type: 'all_private_chats' }, language_code: 'de' })
    await bot.api.deleteMyCommands({ scope: { type: 'all_private_chats' } })
    expect(seen()).toBe('default de')
    expect(await bot.api.getMyCommands()).toEqual([])
  })

  test('keeps its texts within their limits', async () => {
    await bot.api.setMyDescription('x'.repeat(512), { language_code: 'ar' })
    expect(await bot.api.getMyDescription({ language_code: 'ar' })).toEqual({
      description: 'x'.repeat(512),
    })
    expect(api.profileText('name', 'ar')).toBe('Watchdog')
    const refused = [
      bot.api.setMyDescription('x'.repeat(513)),
      bot.api.setMyShortDescription('x'.repeat(121)),
      bot.api.setMyName('x'.repeat(65)),
      bot.api.setMyCommands([{ command: 'Start', description: 'x' }]),
      bot.api.setMyCommands([{ command: 'start', description: '' }]),
      bot.api.setMyName('x', { language_code: 'deu' as 'de' }),
    ]
    for (const call of refused) expect((await refusal(call)).code).toBe(400)
  })
})

describe('inline queries', () => {
  test('show results, and a chosen one is posted', async () => {
    bot.on('inline_query', (ctx) =>
      ctx.answerInlineQuery(
        [
          {
            type: 'article',
            id: 'p1',
            title: 'Alpha',
            input_message_content: { message_text: '<b>Alpha</b>', parse_mode: 'HTML' },
          },
        ],
        { cache_time: 30, is_personal: true },
      ),
    )
    await polling()
    const a = ann()
    const answer = await api.inlineQuery(a, 'alp').answer()
    expect(answer).toMatchObject({ cacheSeconds: 30, isPersonal: true, results: [{ id: 'p1' }] })
    const { id } = api.group({ title: 'Node crew', members: [a] })
    expect(api.chooseInline(answer, 'p1', id)).toMatchObject({ text: 'Alpha', viaBot: true })
  })
})

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

  test('brings updates to a grammY bot, with the secret', async () => {
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

  test('repeats an update until it is taken, and keeps the order of a chat', async () => {
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
  test('happen as ordered and then no more', async () => {
    const chat = ann()
    const send = () => bot.api.sendMessage(chat, 'x')
    api.failNext('sendMessage', tooMany(7))
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

  test('lose the answer of a call that was carried out', async () => {
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

  test('enforce the flood limits when asked', async () => {
    await start({ rates: true })
    const chat = ann()
    for (const text of ['1', '2', '3']) await bot.api.sendMessage(chat, text)
    const flood = await bot.api.sendMessage(chat, '4').catch((error: unknown) => error)
    expect(flood).toMatchObject({ error_code: 429, parameters: { retry_after: 1 } })
    now = new Date(NOON.getTime() + 1000)
    await bot.api.sendMessage(chat, '4')
  })
})
