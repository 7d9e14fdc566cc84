import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { sendMissed } from '#src/alerts/summaries/missed.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

/** A group that has the bot, and does not let it write. */

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>
let ann: TestChat
let group: TestChat
let watch: number
let title: string
let groups = 0

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
  ann = await world.linked('alice')
})
afterAll(() => world.close())

beforeEach(async () => {
  groups += 1
  title = `Crew ${groups}`
  const { id } = world.telegram.group({
    title,
    members: [ann.id],
    admins: [ann.id],
    isForum: true,
  })
  group = world.chat(id, ann.id)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
  await group.press('Link this chat')
  // A watch of its own, whose signal is not active yet.
  watch = await world.addWatch('alice', { label: 'Treasury' })
  // Notices within some minutes are joined.
  world.clock.advance(3600)
})

const DOWN = { event: 'fsp.ftso-commit' }
const UP = { event: 'fsp.ftso-commit.recovered' }
const linkOf = async () => (await listChatLinks(world.app, group.id))[0]
const noticesTo = (chat: TestChat) =>
  chat.all().filter(({ text }) => text.includes(`Delivery off: “\u2068${title}\u2069”`))
const alertsThere = () => group.all().filter(({ text }) => /FTSO commit/.test(text))

/** Makes the group refuse the next message, as one does in which nobody may write: Telegram sends no update. */
function refuse(description: string, times = 1): void {
  const filter = { method: 'sendMessage', chatId: group.id, times }
  world.telegram.failNext(filter, { error_code: 400, description })
}

const NOT_ALLOWED = 'Bad Request: not enough rights to send text messages to the chat'

describe('a group that does not let the bot write', () => {
  test('is off from the first refused alert on, and its owner is told at once what to do', async () => {
    refuse(NOT_ALLOWED)
    await alerts.fire(watch, DOWN)
    expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'no_rights' })
    await alerts.deliver()
    const [notice, ...others] = noticesTo(ann)
    expect(others).toEqual([])
    expect(notice?.text).toContain(
      'The bot is not allowed to send messages in the group. Allow the bot to',
    )
    expect(notice?.text).toContain('1 alert is kept until delivery is switched on again.')
  })

  test('says so in the list of recipients and in its card, and is on again when a test arrives', async () => {
    refuse(NOT_ALLOWED)
    await alerts.fire(watch, DOWN)
    await ann.say('/recipients')
    expect(ann.last().text).toContain(`⚠️ \u2068${title}\u2069 · the bot may not send messages`)
    await ann.press(`⚠️ \u2068${title}\u2069`)
    expect(ann.last().text).toContain('⚠️ Off since')
    expect(ann.last().text).toContain('The bot is not allowed to send messages in the group.')
    expect(ann.last().text).toContain('1 alert is kept for this recipient')
    await ann.press('Test')
    await alerts.deliver()
    expect(await linkOf()).toMatchObject({ status: 'active', statusReason: null })
  })

  test('is off as soon as the bot is restricted, and on again when the bot may write again', async () => {
    world.telegram.mute(group.id)
    await world.settle()
    expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'no_rights' })
    await alerts.fire(watch, DOWN)
    expect(alertsThere()).toEqual([])
    expect(noticesTo(ann)).toHaveLength(1)
    world.telegram.promote(group.id)
    await world.settle()
    expect(await linkOf()).toMatchObject({ status: 'active' })
    expect(group.last().text).toBe(
      'This chat receives alerts again. 1 alert was kept. Send it now?',
    )
    expect(group.labels()).toEqual([['Send 1', 'Discard']])
  })

  test('is asked for consent when it removed the bot before it let the bot write again', async () => {
    world.telegram.mute(group.id)
    world.telegram.kick(group.id)
    world.telegram.addBot(group.id)
    await world.settle()
    expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'kicked' })
    expect(group.last().text).toContain('since the bot was removed')
  })

  test('can be switched on by its manager where Telegram does not say that the bot may write', async () => {
    refuse(NOT_ALLOWED)
    await alerts.fire(watch, DOWN)
    await group.say(`/menu@${BOT_NAME}`)
    expect(group.last().text).toContain('off here: the bot was not allowed to send messages.')
    await group.press('Get alerts here again')
    expect(await linkOf()).toMatchObject({ status: 'active' })
    expect(group.last().text).toBe('1 alert was kept. Send it now?')
  })
})

test('a forum whose topics are closed is off, and on again when one is reopened', async () => {
  const threadId = world.telegram.topic(group.id, 'Alerts')
  world.telegram.send(group.id, `/here@${BOT_NAME}`, { from: ann.id, threadId })
  await world.settle()
  world.telegram.closeTopic(group.id, threadId)
  await world.settle()
  // The topic is closed; so is General, to which the alert would go instead.
  refuse('Bad Request: TOPIC_CLOSED', 2)
  await alerts.fire(watch, DOWN)
  expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'topic_closed' })
  world.telegram.reopenTopic(group.id, threadId)
  await world.settle()
  expect(await linkOf()).toMatchObject({ status: 'active' })
})

test('a command in a closed topic does not switch off alerts that go to an open one', async () => {
  const threadId = world.telegram.topic(group.id, 'Alerts')
  world.telegram.send(group.id, `/here@${BOT_NAME}`, { from: ann.id, threadId })
  await world.settle()
  refuse('Bad Request: TOPIC_CLOSED')
  await group.say(`/menu@${BOT_NAME}`)
  expect(await linkOf()).toMatchObject({ status: 'active', threadId })
})

test('a topic that is reopened does not switch on a group that forbids the bot to write', async () => {
  const threadId = world.telegram.topic(group.id, 'Talk')
  world.telegram.mute(group.id)
  world.telegram.closeTopic(group.id, threadId)
  world.telegram.reopenTopic(group.id, threadId)
  await world.settle()
  expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'no_rights' })
  await alerts.deliver()
  expect(noticesTo(ann)).toHaveLength(1)
})

test('an administrator may write: a bot that becomes one sends alerts again', async () => {
  refuse(NOT_ALLOWED)
  await alerts.fire(watch, DOWN)
  expect(await linkOf()).toMatchObject({ status: 'blocked', statusReason: 'no_rights' })
  world.telegram.promote(group.id)
  await world.settle()
  expect(await linkOf()).toMatchObject({ status: 'active' })
})

describe('a group that is turned on again', () => {
  async function missed(...events: readonly (typeof DOWN)[]) {
    world.telegram.mute(group.id)
    await world.settle()
    for (const event of events) {
      await alerts.fire(watch, event)
      world.clock.advance(60)
    }
    world.telegram.promote(group.id)
    await world.settle()
  }

  test('gets in one line what is over, with the list, and nothing of it one by one', async () => {
    await missed(DOWN, UP)
    expect(group.last().text.split('\n')).toEqual([
      'This chat receives alerts again.',
      'While delivery was off: 1 alert, no longer active',
    ])
    expect(group.labels()).toEqual([['Alerts', 'Discard']])
    await group.press('Discard')
    await alerts.deliver()
    expect(alertsThere()).toEqual([])
    expect(group.last().text).toContain('discarded')
  })

  test('gets on request the alerts that are still active, and the others in one message', async () => {
    await missed(DOWN, UP, DOWN)
    expect(group.last().text.split('\n').slice(1)).toEqual([
      'While delivery was off: 1 alert, no longer active',
      '1 more alert was kept. Send it now?',
    ])
    await group.press('Send 1')
    expect(group.last().text).toContain('✓ 1 alert is on its way. One message states how many')
    await alerts.deliver()
    expect(alertsThere()).toHaveLength(1)
    expect(alertsThere()[0]?.text).toContain('FTSO commit missing')
    const line = group.all().find(({ text }) => text.startsWith('📭'))
    expect(line?.text).toBe('📭 While delivery was off: 1 alert, no longer active')
    expect(line?.keyboard.flat().map(({ text }) => text)).toEqual(['Show alerts'])
  })

  test('cannot ask for what another chat of the wallet missed', async () => {
    const [own] = await listChatLinks(world.app, ann.id)
    const id = own?.recipientId ?? 0
    await missed(DOWN)
    world.telegram.block(ann.id)
    await world.settle()
    await alerts.fire(watch, UP)
    world.telegram.unblock(ann.id)
    await world.settle()
    const asked = ann.last()
    for (const verb of ['rec.kept', 'rec.keptDrop'] as const) {
      world.telegram.pressRaw(group.id, group.last().id, packed(verb, { id }), { from: ann.id })
      await world.settle()
      expect(world.telegram.answers.at(-1)?.url).toBe(`https://t.me/${BOT_NAME}?start=r${id}`)
    }
    expect(ann.labels()).toEqual([['Send 1', 'Discard']])
    expect(ann.last().id).toBe(asked.id)
  })

  test('gets the recovery of an alert that it got before', async () => {
    await alerts.fire(watch, DOWN)
    expect(alertsThere()).toHaveLength(1)
    world.clock.advance(60)
    await missed(UP)
    await group.press('Send 1')
    await alerts.deliver()
    expect(alertsThere().at(-1)?.text).toMatch(/^🟢/)
  })

  test('gets no recovery of an alert that it has not got, before or after it decides', async () => {
    await missed(DOWN)
    await alerts.fire(watch, UP)
    expect(alertsThere()).toEqual([])
    await group.press('Send 1')
    await alerts.deliver()
    expect(alertsThere()).toEqual([])
    expect(group.all().filter(({ text }) => text.startsWith('📭'))).toHaveLength(1)
    world.clock.advance(60)
    await missed(DOWN)
    await group.press('Discard')
    await alerts.fire(watch, UP)
    expect(alertsThere()).toEqual([])
  })

  test('is told once how many are over, by three requests at once', async () => {
    await missed(DOWN, UP, DOWN)
    const link = await linkOf()
    if (link === undefined) throw new Error('the group has no link')
    const caller = { wallet: link.wallet, scopes: ['read', 'write'], via: 'telegram' } as const
    await Promise.all([1, 2, 3].map(() => sendMissed(world.app, caller, link.recipientId)))
    await alerts.deliver()
    expect(group.all().filter(({ text }) => text.startsWith('📭'))).toHaveLength(1)
    expect(alertsThere()).toHaveLength(1)
  })

  test('is asked after the process died between its return and the question', async () => {
    world.telegram.mute(group.id)
    await world.settle()
    await alerts.fire(watch, DOWN)
    const failing = { method: 'sendMessage', chatId: group.id, times: 1 }
    world.telegram.failNext(failing, { error_code: 500, description: 'Internal Server Error' })
    world.telegram.promote(group.id)
    await world.settle()
    world.clock.advance(600)
    await world.settle()
    expect(group.last().text).toContain('1 alert was kept. Send it now?')
  })
})
