import { describe, expect, test } from 'vitest'
import { ann, api, bot, polling, refusal, useTelegram } from './telegram-setup.ts'

useTelegram()

describe('the bot may write to', () => {
  test('nobody who has not written to the bot, and no unknown chat', async () => {
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

  test('nobody who blocked the bot, which gets an update about the block', async () => {
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
  test('do not send the bot messages that are not for it (privacy mode)', () => {
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

  test('list their administrators', async () => {
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

  test('refuse a bot that was removed, was muted or may not pin', async () => {
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

  test('become a supergroup, whose id is in the errors', async () => {
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

  test('have topics that can be closed and deleted', async () => {
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

  test('add a bot through a startgroup link', async () => {
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
  test('show results, and the chosen result is posted', async () => {
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
