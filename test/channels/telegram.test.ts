import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message, MessageState } from '#src/channels/envelope.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, type TelegramWorld, telegramWorld } from './worlds.ts'

/** A PNG of one pixel. */
const ONE_PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let world: TelegramWorld

beforeEach(async () => {
  world = await telegramWorld({ chatMs: 0 })
})

afterEach(() => world.close())

describe('an alert in a chat', () => {
  test('has its buttons and no link preview, and is silent if its severity is info', async () => {
    const details = { text: 'Details', url: 'https://watchdog.example.org/a/abc123' }
    const message = world.telegram.lastMessage(await sent({ severity: 'warning' }))
    expect(message?.keyboard).toEqual([
      [
        { text: 'Acknowledge', callback_data: '1:alert.ack:3mv' },
        { text: 'What to do', callback_data: '1:alert.open:3mv:d' },
      ],
      [{ text: 'Mute…', callback_data: '1:alert.open:3mv:m' }, details],
    ])
    expect(message?.silent).toBe(false)
    const info = world.telegram.lastMessage(await sent({ severity: 'info' }))
    expect(info?.keyboard).toEqual([[details]])
    expect(info?.silent).toBe(true)
    expect(payload()).toMatchObject({ link_preview_options: { is_disabled: true } })
    expect(message?.text).toContain('#31')
  })

  test('has a sound if it is a warning or critical, and is silent if it has recovered', async () => {
    const silent = async (over: Partial<Message>) =>
      world.telegram.lastMessage(await sent(over))?.silent
    expect(await silent({ severity: 'warning' })).toBe(false)
    expect(await silent({ severity: 'critical' })).toBe(false)
    expect(await silent({ severity: 'critical', event: 'provider.recovered' })).toBe(true)
  })

  test('has the link as text if no button can have it', async () => {
    const message = world.telegram.lastMessage(await sent({ link: 'http://localhost:8080/a/x' }))
    expect(JSON.stringify(message?.keyboard)).not.toContain('localhost')
    expect(message?.text).toContain('http://localhost:8080/a/x')
  })

  test('is sent to its topic', async () => {
    const { forum, threadId } = makeForum()
    const receipt = await send({ chatId: forum, threadId })
    expect(receipt).toEqual({ messageId: String(world.telegram.lastMessage(forum)?.id) })
    expect(world.telegram.lastMessage(forum)?.threadId).toBe(threadId)
  })

  test('has a link in its text that opens its watch in the bot', async () => {
    const message = world.telegram.lastMessage(await sent({}))
    expect(message?.entities).toContainEqual(
      expect.objectContaining({ type: 'text_link', url: 'https://t.me/watchdog_bot?start=w42' }),
    )
  })

  test('shows in a group the offset of its time zone with every time', async () => {
    const { forum } = makeForum()
    await send({ chatId: forum })
    const message = world.telegram.lastMessage(forum)
    expect(message?.entities.map(({ type }) => type)).not.toContain('date_time')
    expect(message?.text).toMatch(/at \d\d:\d\d(:\d\d)?\u00a0UTC/)
  })
})

describe('a reply', () => {
  test('refers to the message of its alert', async () => {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, envelopeOf(), contextOf())
    const recovery = envelopeOf({
      answers: 4711,
      message: { alertId: 4712, event: 'provider.recovered' },
    })
    const context = contextOf({ answersMessageId: messageId })
    await world.channel.send(destination, recovery, context)
    const message = world.telegram.lastMessage(chatOf(destination))
    expect(message?.replyTo).toBe(Number(messageId))
    expect(message?.silent).toBe(true)
  })

  test('is sent although the message it refers to was deleted', async () => {
    const destination = world.destination()
    const context = contextOf({ answersMessageId: '999' })
    await world.channel.send(destination, envelopeOf({ answers: 4711 }), context)
    expect(world.telegram.lastMessage(chatOf(destination))?.text).toContain('#31')
    expect(world.telegram.lastMessage(chatOf(destination))?.replyTo).toBeUndefined()
  })

  test('refers to no message after its group became a supergroup, in which the id belongs to another one', async () => {
    const { id } = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
    const group = world.telegram.group({ title: 'Node crew', members: [id], admins: [id] })
    const moved = world.telegram.migrate(group.id)
    const { messageId = '' } = await send({ chatId: moved.id })
    const context = contextOf({ answersMessageId: messageId })
    await world.channel.send({ chatId: group.id }, envelopeOf({ answers: 4711 }), context)
    const message = world.telegram.lastMessage(moved.id)
    expect(String(message?.id)).not.toBe(messageId)
    expect(message?.replyTo).toBeUndefined()
  })
})

describe('a message that is edited', () => {
  const warning = () => envelopeOf({ message: { severity: 'warning' } })
  const acknowledged = { at: new Date('2026-11-20T13:05:00Z'), by: 'Ann' }

  test('shows that its alert was acknowledged and that it recovered', async () => {
    const { destination, messageId } = await sendFirst()
    const receipt = await edit(destination, messageId, { acknowledged })
    expect(receipt).toEqual({ messageId })
    const message = world.telegram.lastMessage(chatOf(destination))
    expect(message?.text).toContain('acknowledged by \u2068Ann\u2069, 14:05')
    expect(message?.keyboard[0]?.[0]).toEqual({
      text: 'Unacknowledge',
      callback_data: '1:alert.unack:3mv',
    })
    await edit(destination, messageId, {
      acknowledged,
      recoveredAt: new Date('2026-11-20T13:15:01Z'),
    })
    const after = world.telegram.lastMessage(chatOf(destination))
    expect(after?.text).toContain('🟢')
    expect(after?.keyboard).toHaveLength(1)
  })

  test('may already have the new text, or be deleted', async () => {
    const { destination, messageId } = await sendFirst()
    await edit(destination, messageId, {})
    expect(await edit(destination, messageId, {})).toEqual({ messageId })
    expect(await edit(destination, '999', { acknowledged })).toEqual({})
  })

  test('is not edited after its group became a supergroup, in which the ids belong to other messages', async () => {
    const { id } = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
    const group = world.telegram.group({ title: 'Node crew', members: [id], admins: [id] })
    const { messageId = '' } = await send({ chatId: group.id })
    const moved = world.telegram.migrate(group.id)
    const other = await send({ chatId: moved.id })
    expect(await edit({ chatId: group.id }, messageId, { acknowledged })).toEqual({})
    const shown = world.telegram.lastMessage(moved.id)
    expect(String(shown?.id)).toBe(other.messageId)
    expect(shown?.text).not.toContain('acknowledged')
  })

  test('fails permanently if the chat blocked the bot', async () => {
    const { destination, messageId } = await sendFirst()
    world.gone(destination)
    const refused = { reason: 'blocked', permanent: true, becomes: 'blocked' }
    await expect(edit(destination, messageId, { acknowledged })).rejects.toMatchObject(refused)
  })

  test('fails with the waiting time that the Bot API demands', async () => {
    const { destination, messageId } = await sendFirst()
    world.telegram.failNext('editMessageText', {
      error_code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    })
    const flood = { reason: 'flood', retryAfterIsMandatory: true, retryAfterSeconds: 7 }
    await expect(edit(destination, messageId, { acknowledged })).rejects.toMatchObject(flood)
  })

  async function sendFirst() {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, warning(), contextOf())
    return { destination, messageId }
  }

  async function edit(destination: unknown, messageId: string, state: MessageState) {
    return await world.channel.edit?.(destination, messageId, warning(), state, contextOf())
  }
})

describe('the picture of a message', () => {
  const provider = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
  const picture = { kind: 'outage', provider, round: 40 } as const
  const worldAt = async (publicUrl: string) => {
    await world.close()
    world = await telegramWorld({ chatMs: 0, publicUrl })
  }

  test.each([
    'http://watchdog.example.org',
    'http://127.0.0.1:8080',
    'https://192.168.1.4',
    'https://watchdog.internal',
    'https://localhost',
    'https://watchdog.example.org:9000',
  ])('is sent as a photo by a service at %s, where Telegram cannot fetch it', async (publicUrl) => {
    await worldAt(publicUrl)
    const destination = world.destination()
    await world.channel.send(destination, { ...envelopeOf(), picture }, contextOf())
    expect(payload()).toMatchObject({ link_preview_options: { is_disabled: true } })
    expect(world.channel.sendPicture).toBeDefined()
  })

  test.each([
    'https://watchdog.example.org',
    'https://watchdog.example.org:8443',
  ])('is shown by the message of a service at %s, in its language, and never a photo too', async (publicUrl) => {
    await worldAt(publicUrl)
    const destination = world.destination()
    const envelope = { ...envelopeOf(), picture }
    await world.channel.send(destination, envelope, contextOf())
    const shown = { prefer_large_media: true, show_above_text: false }
    const url = `${publicUrl}/providers/${provider}/share.png?round=40`
    expect(payload()).toMatchObject({ link_preview_options: { ...shown, url } })
    await world.channel.send(destination, { ...envelope, locale: 'zh' }, contextOf())
    const chinese = { ...shown, url: `${url}&lang=zh` }
    expect(payload()).toMatchObject({ link_preview_options: chinese })
    expect(world.channel.sendPicture).toBeUndefined()
  })
})

describe('a picture as a photo', () => {
  beforeEach(async () => {
    await world.close()
    world = await telegramWorld({ chatMs: 0, publicUrl: 'http://127.0.0.1:8080' })
  })

  const picture = { png: ONE_PIXEL, caption: 'Alpha <last> rounds' }
  const reply = (destination: unknown, messageId: string) =>
    world.channel.sendPicture?.(destination, messageId, picture, contextOf())

  test('replies to its message without a sound, in its topic', async () => {
    const { forum, threadId } = makeForum()
    const { messageId = '' } = await send({ chatId: forum, threadId })
    await reply({ chatId: forum, threadId }, messageId)
    const shown = {
      text: 'Alpha <last> rounds',
      silent: true,
      replyTo: Number(messageId),
      threadId,
    }
    expect(world.telegram.lastMessage(forum)).toMatchObject(shown)
    expect(world.telegram.lastMessage(forum)?.file).toMatchObject({ kind: 'photo' })
  })

  test('is not sent without its message, and reports the reason', async () => {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, envelopeOf(), contextOf())
    await expect(reply(destination, '999')).rejects.toMatchObject({ statusCode: 400 })
    world.telegram.failNext('sendPhoto', {
      error_code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    })
    const flood = { reason: 'flood', retryAfterSeconds: 7 }
    await expect(reply(destination, messageId)).rejects.toMatchObject(flood)
    expect(world.telegram.messages(chatOf(destination))).toHaveLength(1)
  })
})

describe('an alert that the Bot API refuses', () => {
  test('is sent again as plain text', async () => {
    refuse("Bad Request: can't parse entities: Unsupported start tag")
    const chatId = await sent({})
    const message = world.telegram.lastMessage(chatId)
    expect(message?.entities).not.toContainEqual(expect.objectContaining({ type: 'bold' }))
    expect(message?.text).toContain('🔵 \u2068Treasury\u2069: Balance changed: -12,500 FLR\n')
    expect(payload()).not.toHaveProperty('parse_mode')
  })

  test('is sent again with the link as text instead of a button', async () => {
    refuse("Bad Request: inline keyboard button URL 'x' is invalid: Wrong HTTP URL")
    const message = world.telegram.lastMessage(await sent({ severity: 'warning' }))
    expect(message?.keyboard.flat().map(({ text }) => text)).toEqual([
      ...['Acknowledge', 'What to do', 'Mute…'],
    ])
    expect(message?.text).toContain('https://watchdog.example.org/a/abc123')
  })

  test('is sent again without buttons if every button is refused', async () => {
    refuse('Bad Request: BUTTON_DATA_INVALID')
    refuse('Bad Request: BUTTON_DATA_INVALID')
    const message = world.telegram.lastMessage(await sent({}))
    expect(message?.keyboard).toEqual([])
    expect(message?.text).toContain('https://watchdog.example.org/a/abc123')
  })

  test('is sent to the chat if its topic is closed, and the receipt names the chat as the new destination', async () => {
    const { forum, threadId } = makeForum()
    world.telegram.closeTopic(forum, threadId)
    const receipt = await send({ chatId: forum, threadId })
    expect(receipt).toMatchObject({ movedTo: { chatId: forum }, moved: 'topic_gone' })
    expect(world.telegram.lastMessage(forum)?.threadId).toBeUndefined()
  })

  test('is sent to the chat if its topic is deleted', async () => {
    const { forum, threadId } = makeForum()
    world.telegram.deleteTopic(forum, threadId)
    expect(await send({ chatId: forum, threadId })).toMatchObject({
      movedTo: { chatId: forum },
      moved: 'topic_gone',
    })
  })

  test('is sent to the supergroup that its group became', async () => {
    const { id } = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
    const group = world.telegram.group({ title: 'Node crew', members: [id], admins: [id] })
    const moved = world.telegram.migrate(group.id)
    expect(await send({ chatId: group.id })).toMatchObject({
      movedTo: { chatId: moved.id },
      moved: 'migrated',
    })
    expect(world.telegram.lastMessage(moved.id)?.text).toContain('Balance changed')
  })

  test('is sent again only once', async () => {
    for (let time = 0; time < 9; time += 1) refuse("Bad Request: can't parse entities: no")
    await expect(sent({})).rejects.toMatchObject({ reason: 'rejected', permanent: false })
    expect(calls()).toBe(2)
  })
})

describe('a chat that does not exist or refuses the bot', () => {
  test('is marked as blocked if the bot was removed', async () => {
    const { forum } = makeForum()
    world.telegram.kick(forum)
    await expect(send({ chatId: forum })).rejects.toMatchObject({
      reason: 'kicked',
      permanent: true,
      becomes: 'blocked',
    })
  })

  test('is switched off if it does not exist', async () => {
    await expect(send({ chatId: 1 })).rejects.toMatchObject({
      reason: 'chat_not_found',
      permanent: true,
      becomes: 'disabled',
    })
  })

  test('is marked as blocked if the bot may only read', async () => {
    const { forum } = makeForum()
    world.telegram.mute(forum)
    await expect(send({ chatId: forum })).rejects.toMatchObject({
      reason: 'no_rights',
      permanent: true,
      becomes: 'blocked',
    })
  })

  test('is marked as blocked if its topic and the topic General are closed', async () => {
    const { forum, threadId } = makeForum()
    for (let time = 0; time < 2; time += 1) refuse('Bad Request: TOPIC_CLOSED')
    await expect(send({ chatId: forum, threadId })).rejects.toMatchObject({
      reason: 'topic_closed',
      permanent: true,
      becomes: 'blocked',
    })
  })

  test('stays on if it refuses one message only', async () => {
    refuse('Bad Request: message is too long')
    await expect(sent({})).rejects.toMatchObject({ reason: 'rejected', permanent: false })
    await sent({})
  })
})

describe('rate limits of Telegram', () => {
  test('are waited for without another request', async () => {
    const destination = world.destination()
    world.busy()
    await expect(send(destination)).rejects.toMatchObject({
      reason: 'flood',
      retryAfterIsMandatory: true,
    })
    const before = calls()
    await expect(send(destination)).rejects.toMatchObject({
      reason: 'flood',
      retryAfterIsMandatory: true,
      retryAfterSeconds: 35,
    })
    expect(calls()).toBe(before)
  })

  test('of several chats at once apply to the whole bot: nothing is sent until they are over', async () => {
    const own = await telegramWorld()
    const sendTo = (destination: unknown) =>
      own.channel.send(destination, envelopeOf(), contextOf())
    const asked = () => own.telegram.calls.filter(({ method }) => method === 'sendMessage').length
    const flood = async (destination: unknown) => {
      own.busy()
      await expect(sendTo(destination)).rejects.toMatchObject({ reason: 'flood' })
    }
    await flood(own.destination())
    await sendTo(own.destination())
    await flood(own.destination())
    // A 429 limits its chat. When a third chat gets one, the whole bot is limited.
    await sendTo(own.destination())
    await flood(own.destination())
    const before = asked()
    await expect(sendTo(own.destination())).rejects.toMatchObject({
      reason: 'flood',
      retryAfterIsMandatory: true,
      isOurFault: true,
    })
    expect(asked()).toBe(before)
    await own.close()
  })

  test('are avoided: a chat gets one message a second', async () => {
    const paced = await telegramWorld()
    const destination = paced.destination()
    const startedAt = performance.now()
    const once = () => paced.channel.send(destination, envelopeOf(), contextOf())
    await Promise.all([once(), once()])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
    expect(paced.arrived().count).toBe(2)
    await paced.close()
  })
})

test('a Bot API that is down is a temporary failure, and not a fault of the chat', async () => {
  const destination = world.destination()
  await world.telegram.down()
  await expect(send(destination)).rejects.toMatchObject({ permanent: false, isOurFault: true })
  await world.telegram.up()
  world.telegram.failNext('sendMessage', 'html')
  await expect(send(world.destination())).rejects.toMatchObject({
    permanent: false,
    isOurFault: true,
  })
})

async function sent(message: Partial<Message>): Promise<number> {
  const destination = world.destination() as { chatId: number }
  await world.channel.send(destination, envelopeOf({ message }), contextOf())
  return destination.chatId
}

function chatOf(destination: unknown): number {
  return (destination as { chatId: number }).chatId
}

function send(destination: unknown) {
  return world.channel.send(destination, envelopeOf(), contextOf())
}

function makeForum(): { forum: number; threadId: number } {
  const { id } = world.telegram.person({ firstName: 'Ann', languageCode: 'en' })
  const forum = world.telegram.group({ title: 'Ops', members: [id], admins: [id], isForum: true })
  return { forum: forum.id, threadId: world.telegram.topic(forum.id, 'Watchdog') }
}

function refuse(description: string): void {
  world.telegram.failNext('sendMessage', { error_code: 400, description })
}

function payload() {
  return world.telegram.lastCall('sendMessage')?.payload
}

function calls(): number {
  return world.telegram.calls.filter(({ method }) => method === 'sendMessage').length
}
