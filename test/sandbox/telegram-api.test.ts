import { Bot, type Context, InlineKeyboard, InputFile } from 'grammy'
import QRCode from 'qrcode'
import { describe, expect, test } from 'vitest'
import {
  ann,
  api,
  bot,
  NOON,
  polling,
  refusal,
  TOKEN,
  time,
  useTelegram,
} from './telegram-setup.ts'

useTelegram()

describe('polling', () => {
  test('returns commands with their entities, and the bot can reply', async () => {
    bot.command('start', (ctx) => ctx.reply(`Hello ${ctx.from?.first_name}: ${ctx.match}`))
    await polling()
    const chat = ann(false)
    api.send(chat, '/start abc_123')
    await api.waitFor(() => api.lastMessage(chat))
    expect(api.lastMessage(chat)).toMatchObject({ text: 'Hello Ann: abc_123', at: NOON })
  })

  test('returns an unconfirmed update again', async () => {
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

  test('returns only the requested types of updates', async () => {
    await bot.api.getUpdates({ allowed_updates: ['callback_query'] })
    const chat = ann()
    expect(api.send(chat, 'unheard').updateId).toBeUndefined()
    expect(await bot.api.getUpdates()).toEqual([])
  })

  test('ends the first poll when a second one begins', async () => {
    const other = new Bot(TOKEN, { client: { apiRoot: api.url } })
    const polls = [bot, other].map((api) => refusal(api.api.getUpdates({ timeout: 30 })))
    // The remaining poll gets an empty list when the server closes.
    for (const poll of polls) poll.catch(() => {})
    expect(await Promise.race(polls)).toEqual({
      code: 409,
      text: 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    })
  })

  test('drops presses after 150 s and other updates after a day', async () => {
    const chat = ann()
    const { message_id } = await bot.api.sendMessage(chat, 'x', {
      reply_markup: new InlineKeyboard().text('A', 'a'),
    })
    api.press(chat, message_id, 'a')
    api.send(chat, 'hello')
    time.now = new Date(NOON.getTime() + 151_000)
    expect(api.pendingUpdates).toBe(1)
    time.now = new Date(NOON.getTime() + 24 * 3_600_000 + 1)
    expect(api.pendingUpdates).toBe(0)
  })
})

describe('tokens and methods', () => {
  test('accepts its own token only', async () => {
    const other = new Bot('4242:other', { client: { apiRoot: api.url } })
    expect(await refusal(other.api.getMe())).toEqual({ code: 401, text: 'Unauthorized' })
    const malformed = await fetch(`${api.url}/botnonsense/getMe`)
    expect([malformed.status, await malformed.json()]).toEqual([
      404,
      { ok: false, error_code: 404, description: 'Not Found' },
    ])
  })

  test('refuses unknown methods, and accepts known methods in upper or lower case', async () => {
    const call = async (method: string) => (await fetch(`${api.url}/bot${TOKEN}/${method}`)).json()
    expect(await call('sendPigeon')).toEqual({
      ok: false,
      error_code: 404,
      description: 'Not Found: method not found',
    })
    expect(await call('GETME')).toMatchObject({ ok: true, result: { id: 4242, is_bot: true } })
  })

  test.each([
    ['application/json', '{"chat_id":'],
    ['application/json', '[1]'],
    ['multipart/form-data; boundary=x', 'no form'],
    ['text/plain', 'chat_id=1'],
  ])('refuses a malformed body of %s', async (contentType, body) => {
    const headers = { 'content-type': contentType }
    const address = `${api.url}/bot${TOKEN}/sendMessage`
    const response = await fetch(address, { method: 'POST', headers, body })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { ok: false, error_code: 400 },
    ])
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

  test('refuse markup that this server does not implement', async () => {
    const call = bot.api.sendMessage(ann(), '*x*', { parse_mode: 'MarkdownV2' })
    expect((await refusal(call)).text).toBe('Bad Request: unsupported parse_mode')
  })

  test('allow 4,096 units without markup, and keep entities, silence and the preview setting', async () => {
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

  test('keep the page of their picture over edits, until an edit names another or none', async () => {
    const chat = ann()
    const url = 'https://watchdog.example.org/rounds.png?round=1'
    const options = { url, prefer_large_media: true, show_above_text: false }
    const { message_id: id } = await bot.api.sendMessage(chat, 'x', {
      link_preview_options: options,
    })
    const shown = () => api.lastMessage(chat)?.linkPreview
    expect(shown()).toEqual({ url, prefer_large_media: true })
    await bot.api.editMessageText(chat, id, 'y', { link_preview_options: options })
    expect(shown()).toEqual({ url, prefer_large_media: true })
    await bot.api.editMessageText(chat, id, 'z', { link_preview_options: { is_disabled: true } })
    expect(shown()).toEqual({ is_disabled: true })
  })

  test.each([
    ['[]', 'object expected as link preview options'],
    ['{', "can't parse link preview options JSON object"],
    ['{"is_disabled":"yes"}', 'field "is_disabled" must be of type Boolean'],
    ['{"prefer_large_media":1}', 'field "prefer_large_media" must be of type Boolean'],
    ['{"show_above_text":"x"}', 'field "show_above_text" must be of type Boolean'],
    ['{"url":{}}', 'field "url" must be of type String'],
    ['{"url":"rounds.png"}', 'WEBPAGE_URL_INVALID'],
    ['{"url":"ftp://example.org/rounds.png"}', 'WEBPAGE_URL_INVALID'],
  ])('refuse %s as options of a preview', async (options, expected) => {
    const call = bot.api.sendMessage(ann(), 'x', { link_preview_options: options as never })
    expect(await refusal(call)).toEqual({ code: 400, text: `Bad Request: ${expected}` })
  })

  test('lose direction embeddings and keep isolates', async () => {
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

  test('accepts every kind of button that the bot uses', async () => {
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
    time.now = new Date(NOON.getTime() + 31_000)
    expect((await refusal(bot.api.answerCallbackQuery(late.queryId))).text).toBe(tooOld)
  })

  test('may be forged, and may be on a deleted message', async () => {
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
    time.now = new Date(NOON.getTime() + 5000)
    await bot.api.editMessageText(chat, message_id, '<i>two</i>', { parse_mode: 'HTML' })
    expect(api.messages(chat)).toMatchObject([{ text: 'two', editedAt: time.now, keyboard: [] }])
    await bot.api.editMessageReplyMarkup(chat, message_id, {
      reply_markup: new InlineKeyboard().text('B', 'b'),
    })
    expect(api.lastMessage(chat)).toMatchObject({ text: 'two', keyboard: [[{ text: 'B' }]] })
  })

  test('are refused if nothing changes, or the message does not exist', async () => {
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

  test('delete messages of a person, but none older than two days', async () => {
    const chat = ann()
    const typed = api.send(chat, '0xabc').message.id
    await bot.api.deleteMessage(chat, typed)
    expect(api.messages(chat)).toEqual([])
    const old = api.send(chat, 'old').message.id
    time.now = new Date(NOON.getTime() + 48 * 3_600_000 + 1)
    expect((await refusal(bot.api.deleteMessage(chat, old))).text).toBe(
      "Bad Request: message can't be deleted for everyone",
    )
  })

  test('refuse a reply to a missing message unless `allow_sending_without_reply` is set', async () => {
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
  test('are accepted with a caption, as multipart', async () => {
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

  test('are refused if a picture is not an image, or a caption has more than 1,024 units', async () => {
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
