import { afterAll, beforeAll, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { transact } from '#src/db/connection.ts'
import { leaseStaleMessages, recordChange } from '#src/delivery/messages/message-store.ts'
import { reviseMessages } from '#src/delivery/service.ts'
import { listAlerts } from '#src/operations/rest/alerts.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { apiOf } from '../support/live.ts'

/** A pressed alert: the bot answers the press, and the worker of deliveries alone changes the message. */

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

const EVENT = 'fsp.ftso-commit'

/** An alert in a chat. */
async function alerted(chat: TestChat) {
  const watch = await world.addWatch('alice', { label: 'Node' })
  world.clock.advance(120)
  await alerts.fire(watch, { event: EVENT })
  const { data } = await world.as('alice', listAlerts, { query: { limit: '1' } })
  return { id: data[0]?.id ?? 0, messageId: chat.last().id }
}

const shown = (chat: TestChat, messageId: number) => chat.all().find(({ id }) => id === messageId)
const labels = (chat: TestChat, messageId: number) =>
  shown(chat, messageId)
    ?.keyboard.flat()
    .map(({ text }) => text)
const editsOf = (messageId: number) =>
  world.telegram.calls.filter(
    ({ method, payload }) =>
      method === 'editMessageText' && Number(Object(payload).message_id) === messageId,
  ).length
const stateOf = async (id: number) => {
  const { data } = await world.as('alice', listAlerts, { query: { limit: '50' } })
  return data.find((alert) => alert.id === id)?.state
}

test('two quick presses are both answered, and the message shows both', async () => {
  const ann = await world.linked('alice')
  const { id, messageId } = await alerted(ann)
  const presses = [
    world.telegram.pressRaw(ann.id, messageId, packed('alert.ack', { id })),
    world.telegram.pressRaw(ann.id, messageId, packed('alert.mute', { id, duration: 'rec' })),
  ]
  await world.settle()
  const [acknowledged, muted] = await Promise.all(presses.map((press) => press.answer()))
  expect(acknowledged?.text).toContain('Acknowledged')
  expect(muted?.text).toContain('Muted')
  expect(shown(ann, messageId)?.text).toMatch(/acknowledged by \u2068Ann\u2069/)
  expect(labels(ann, messageId)).toEqual(expect.arrayContaining(['Unacknowledge', 'Unmute']))
})

test('a press while a worker changes the message is shown after that change', async () => {
  const ann = await world.linked('alice')
  const { id, messageId } = await alerted(ann)
  const { db } = world.app
  const [link] = await listChatLinks(world.app, ann.id)
  await transact(db, (tx) => reviseMessages(tx, [id]))
  const now = world.clock.now()
  const lease = { now, leasedUntil: new Date(now.getTime() + 60_000) }
  const recipients = [link?.recipientId ?? 0]
  const [taken] = await leaseStaleMessages(db, 'telegram', recipients, lease)
  if (taken === undefined) throw new Error('the message is not outdated')
  const before = editsOf(messageId)
  expect((await ann.press('Acknowledge')).text).toContain('Acknowledged')
  expect(editsOf(messageId)).toBe(before)
  // The other worker has read the state before the press.
  const change = { kind: 'alert', parts: 0, at: now, messageId: taken.messageId } as const
  await transact(db, (tx) => recordChange(tx, taken, change))
  await alerts.deliver()
  expect(editsOf(messageId)).toBe(before + 1)
  expect(labels(ann, messageId)).toContain('Unacknowledge')
})

test('a press on a message that is deleted meanwhile acts, and brings no new message', async () => {
  const ann = await world.linked('alice')
  const { id, messageId } = await alerted(ann)
  const press = world.telegram.pressRaw(ann.id, messageId, packed('alert.ack', { id }))
  await apiOf(world).deleteMessage(ann.id, messageId)
  const count = ann.all().length
  await world.settle()
  expect((await press.answer()).text).toContain('Acknowledged')
  expect(await stateOf(id)).toBe('acknowledged')
  expect(ann.all()).toHaveLength(count)
  await alerts.deliver()
  expect(ann.all()).toHaveLength(count)
})

test('a press on a message from before its group moved acts, and changes no other message', async () => {
  const ann = await world.linked('alice')
  const { id: groupId } = world.telegram.group({
    title: 'Crew',
    members: [ann.id],
    admins: [ann.id],
  })
  const group = world.chat(groupId, ann.id)
  await group.say(`/start ${await world.groupCode('alice')}`)
  await group.press('Link this chat')
  const { id, messageId } = await alerted(group)
  const { id: movedTo } = world.telegram.migrate(groupId)
  await world.settle()
  const moved = world.chat(movedTo, ann.id)
  await moved.say('/menu')
  const before = editsOf(messageId)
  const press = world.telegram.pressRaw(movedTo, moved.last().id, packed('alert.ack', { id }))
  await world.settle()
  expect((await press.answer()).text).toContain('Acknowledged')
  expect(await stateOf(id)).toBe('acknowledged')
  await alerts.deliver()
  expect(editsOf(messageId)).toBe(before)
})

test('a press is shown before changes of the chat that nobody awaits', async () => {
  const ann = await world.linked('alice')
  const older = await alerted(ann)
  const { id, messageId } = await alerted(ann)
  await transact(world.app.db, (tx) => reviseMessages(tx, [older.id]))
  const edited = () =>
    world.telegram.calls.flatMap(({ method, payload }) =>
      method === 'editMessageText' && Object(payload).chat_id === ann.id
        ? [Number(Object(payload).message_id)]
        : [],
    )
  const before = edited().length
  world.telegram.pressRaw(ann.id, messageId, packed('alert.ack', { id }))
  await world.settle()
  expect(edited().slice(before)).toEqual([messageId, older.messageId])
})

test('a refused press leaves the message as it is', async () => {
  const ann = await world.linked('alice')
  const { id, messageId } = await alerted(ann)
  const before = shown(ann, messageId)
  await world.sql`delete from watches`
  const press = world.telegram.pressRaw(
    ann.id,
    messageId,
    packed('alert.mute', { id, duration: '1h' }),
  )
  await world.settle()
  expect((await press.answer()).showAlert).toBe(true)
  expect(shown(ann, messageId)).toEqual(before)
})
