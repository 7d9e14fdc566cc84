import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { acknowledge, listAlerts } from '#src/operations/rest/alerts.ts'
import { createRecipient } from '#src/operations/rest/recipients.ts'
import { deleteWatch, getWatch, updateWatch } from '#src/operations/rest/watches.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'
import { changeLive } from '../support/live.ts'

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'
/** Buttons of an alert where nobody may change anything. */
const RECEIVED = [['What to do'], ['Details']]
const LINKERS = 'Only this group’s administrators who are linked to the wallet can do that.'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

async function linked(name: Name, scopes: readonly Scope[] = ['read', 'write'], who = 'Ann') {
  const chat = world.person('en', who)
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
  return chat
}

function callerOf(name: Name) {
  return { wallet: walletOf(name), scopes: ['read', 'write'], via: 'http' } as const
}

async function newest(name: Name) {
  const { output } = await invoke(world.app, listAlerts, callerOf(name), { query: { limit: '1' } })
  const [alert] = output.data
  if (alert === undefined) throw new Error('there is no alert')
  return alert
}

/** States of the newest alerts of a wallet. */
async function statesOf(name: Name, count: number) {
  const query = { limit: String(count) }
  const { output } = await invoke(world.app, listAlerts, callerOf(name), { query })
  return output.data.map(({ state }) => state)
}

async function watchOf(name: Name, id: number) {
  const params = { id: String(id) }
  return (await invoke(world.app, getWatch, callerOf(name), { params })).output
}

/** Opens the ways to mute below the newest alert, and presses one. */
async function mute(chat: TestChat, label: string, by?: number) {
  await chat.press('Mute…', by)
  return chat.press(label, by)
}

/** A chat with an alert, after the second that Telegram requires between messages. */
async function alerted(chat: TestChat, watchId: number, ...events: readonly string[]) {
  world.clock.advance(120)
  await alerts.fire(watchId, ...events.map((event) => ({ event })))
  return chat.last().id
}

function message(chat: TestChat, id: number) {
  const found = chat.all().find((message) => message.id === id)
  if (found === undefined) throw new Error('the message is gone')
  return found
}

function labelsOf(chat: TestChat, id: number) {
  return message(chat, id).keyboard.map((row) => row.map(({ text }) => text))
}

/** Number of edits of a message so far. */
function editsOf(id: number): number {
  return world.telegram.calls.filter(
    ({ method, payload }) =>
      method.startsWith('editMessage') && Number(Object(payload).message_id) === id,
  ).length
}

describe('an alert in a chat', () => {
  test('is acknowledged by one press in every chat that shows it, and "Unacknowledge" takes that back', async () => {
    const ann = await linked('alice')
    const bo = await linked('alice', ['read', 'write'], 'Bo')
    const watch = await world.addWatch('alice', { label: 'Node A' })
    const id = await alerted(ann, watch, COMMIT)
    const other = bo.last().id
    expect(labelsOf(ann, id).flat()).toContain('Mute…')

    expect(await ann.press('Acknowledge')).toEqual({
      text: 'Acknowledged. No reminders until the alert recovers.',
      box: false,
    })
    expect(message(ann, id).text).toMatch(/acknowledged by \u2068Ann\u2069, \d\d:\d\d/)
    expect(labelsOf(ann, id).flat()).toContain('Unacknowledge')
    expect((await newest('alice')).state).toBe('acknowledged')
    await alerts.deliver()
    expect(message(bo, other).text).toMatch(/acknowledged by \u2068Ann\u2069, \d\d:\d\d/)

    await bo.press('Unacknowledge')
    expect(message(bo, other).text).not.toContain('acknowledged')
    expect(labelsOf(bo, other).flat()).toContain('Acknowledge')
    expect((await newest('alice')).state).toBe('firing')
    await alerts.deliver()
    expect(labelsOf(ann, id).flat()).toContain('Acknowledge')
  })

  test('is edited once by a press, and not again by the worker', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node A' })
    const id = await alerted(ann, watch, COMMIT)
    for (const label of ['Acknowledge', 'Unacknowledge', 'Mute…', 'Mute 1\u00a0h']) {
      const before = editsOf(id)
      await ann.press(label)
      await alerts.deliver()
      expect([label, editsOf(id) - before]).toEqual([label, 1])
    }
    expect(labelsOf(ann, id).flat()).toContain('Unmute')
  })

  test('has its buttons from right to left in Arabic, also after a press', async () => {
    const chat = await world.linked('alice', ['read', 'write'], 'ar')
    const watch = await world.addWatch('alice', { label: 'Node R' })
    const id = await alerted(chat, watch, COMMIT)
    const t = translator('ar')
    const last = [t('messages:details'), t('messages:button.mute')]
    expect(labelsOf(chat, id)).toContainEqual(last)
    await chat.press(t('messages:button.acknowledge'))
    expect(labelsOf(chat, id)).toContainEqual(last)
    await alerts.deliver()
    expect(labelsOf(chat, id)).toContainEqual(last)
    await chat.say(`/start a${(await newest('alice')).id}`)
    expect(chat.labels()).toContainEqual(last)
  })

  test('names the first person when a second one acknowledges it', async () => {
    const ann = await linked('bob')
    const bo = await linked('bob', ['read', 'write'], 'Bo')
    const watch = await world.addWatch('bob', { label: 'Node A' })
    await alerted(ann, watch, COMMIT)
    const data = packed('alert.ack', { id: (await newest('bob')).id })
    await bo.press(data)
    const late = world.telegram.pressRaw(ann.id, ann.last().id, data)
    await world.settle()
    expect((await late.answer()).text).toMatch(
      /^Already acknowledged by \u2068Bo\u2069, \d\d:\d\d\u00a0UTC\.$/,
    )
    const press = world.telegram.pressRaw(bo.id, bo.last().id, data)
    await world.settle()
    expect((await press.answer()).text).toMatch(/^Already acknowledged by \u2068Bo\u2069/)
    expect((await newest('bob')).state).toBe('acknowledged')
  })

  test('mutes its watch for one or eight hours and unmutes it, in the same message', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node M' })
    const id = await alerted(ann, watch, COMMIT)
    const count = ann.all().length
    const now = world.clock.now().getTime()
    const answer = await mute(ann, 'Mute 8\u00a0h')
    expect(answer.text).toMatch(
      /^\u2068Node M\u2069 is muted until \d\d:\d\d\u00a0UTC\. Alerts are still recorded\.$/,
    )
    expect((await watchOf('alice', watch)).mutedUntil).toEqual(new Date(now + 8 * 3_600_000))
    expect(message(ann, id).text).toMatch(/🔕 until \d\d:\d\d/)
    expect(labelsOf(ann, id).flat()).not.toContain('Mute…')
    expect((await ann.press('Unmute')).text).toBe('No longer muted.')
    expect((await watchOf('alice', watch)).mutedUntil).toBeNull()
    expect(message(ann, id).text).not.toContain('🔕')
    expect(labelsOf(ann, id).flat()).toContain('Mute…')
    expect(ann.all()).toHaveLength(count)
    await mute(ann, 'Mute 1\u00a0h')
    expect((await watchOf('alice', watch)).mutedUntil).toEqual(new Date(now + 3_600_000))
  })

  test('is muted until it recovers, and the recovery is notified', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node E' })
    const id = await alerted(ann, watch, COMMIT)
    expect((await mute(ann, 'Mute until recovered')).text).toBe(
      'Muted until the alert recovers. You will be notified then.',
    )
    expect(message(ann, id).text).toContain('🔕 until recovered')
    expect((await watchOf('alice', watch)).mutedUntil).toBeNull()
    expect((await ann.press('Unmute')).text).toBe('No longer muted.')
    expect(message(ann, id).text).not.toContain('🔕')
    await mute(ann, 'Mute until recovered')
    world.clock.advance(120)
    await alerts.fire(watch, { event: `${COMMIT}.recovered` })
    expect(ann.last().text).toContain('FTSO commits are arriving again')
    expect(message(ann, id).text).toMatch(/^🟢 .*: FTSO commits are arriving again/)
    expect(message(ann, id).text).toMatch(/^FTSO commit .* · recovered$/m)
    const data = packed('alert.mute', {
      id: (await newest('alice')).recoveryOf ?? 0,
      duration: 'rec',
    })
    const press = world.telegram.pressRaw(ann.id, id, data)
    await world.settle()
    expect((await press.answer()).text).toBe('This alert is no longer active.')
  })

  test('opens and closes its help by the same button, one part at a time, and keeps it when it is edited', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node H' })
    const id = await alerted(ann, watch, COMMIT)
    const before = message(ann, id).text
    await ann.press('What to do')
    await ann.press('Why?')
    const why = message(ann, id)
    expect(why.text.length).toBeGreaterThan(before.length)
    expect(why.entities.map(({ type }) => type)).toContain('blockquote')
    expect(labelsOf(ann, id).flat()).toContain('✓ Why?')
    await ann.press('What to do')
    expect(labelsOf(ann, id).flat()).toContain('✓ What to do')
    expect(labelsOf(ann, id).flat()).toContain('Why?')
    expect(message(ann, id).text).not.toBe(why.text)
    await ann.press('✓ What to do')
    expect(message(ann, id).text).toBe(before)
    await ann.press('What to do')
    await ann.press('Causes')
    await ann.press('Acknowledge')
    await alerts.deliver()
    expect(message(ann, id).text).toContain('acknowledged by')
    expect(message(ann, id).text.length).toBeGreaterThan(before.length)
    expect(labelsOf(ann, id).flat()).toContain('✓ Causes')
  })

  test('of a deleted watch can be acknowledged, and muting it says that the watch no longer exists', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Gone soon' })
    world.clock.advance(120)
    await alerts.fire(watch, { event: 'wallet-balance.moved', severity: 'warning' })
    const { id } = ann.last()
    const params = { id: String(watch) }
    await invoke(world.app, deleteWatch, callerOf('alice'), { params })
    expect(await mute(ann, 'Mute 1\u00a0h')).toEqual({
      text: '\u2068Gone soon\u2069 no longer exists.',
      box: true,
    })
    await ann.press('‹ Back')
    expect((await ann.press('Acknowledge')).text).toBe('Acknowledged.')
    expect(message(ann, id).text).toContain('acknowledged by')
  })

  test('that was deleted from the history keeps its text, and a press says that it no longer exists', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node D' })
    const id = await alerted(ann, watch, COMMIT)
    const { text } = message(ann, id)
    const data = packed('alert.ack', { id: 999_999 })
    const press = world.telegram.pressRaw(ann.id, id, data)
    await world.settle()
    expect(await press.answer()).toMatchObject({
      text: 'This item no longer exists, or it belongs to another wallet.',
      showAlert: true,
    })
    expect(message(ann, id).text).toBe(text)
  })

  test('of another wallet cannot be acknowledged', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node F' })
    await alerted(ann, watch, COMMIT)
    const { id } = await newest('alice')
    const carol = await linked('carol')
    const press = world.telegram.pressRaw(carol.id, carol.last().id, packed('alert.ack', { id }))
    await world.settle()
    expect((await press.answer()).text).toBe(
      'This item no longer exists, or it belongs to another wallet.',
    )
    expect((await newest('alice')).state).toBe('firing')
  })

  test('keeps its text and buttons when its watch is opened, in a new message', async () => {
    const ann = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node L' })
    const id = await alerted(ann, watch, COMMIT)
    const { text } = message(ann, id)
    world.telegram.pressRaw(ann.id, id, packed('watch.card', { id: watch }))
    await world.settle()
    expect(ann.last().id).not.toBe(id)
    expect(ann.last().text).toContain('Node L')
    expect(message(ann, id).text).toBe(text)
    expect(labelsOf(ann, id).flat()).toContain('Acknowledge')
  })

  test('opens from its link as a card with the same buttons', async () => {
    const ann = await linked('bob')
    const watch = await world.addWatch('bob', { label: 'Node C' })
    await alerted(ann, watch, COMMIT)
    const { id } = await newest('bob')
    await ann.say(`/start a${id}`)
    const card = ann.last().id
    expect(ann.last().text).toContain('FTSO commit missing')
    expect(ann.labels().at(-1)).toEqual(['‹ Alerts'])
    await ann.press('Acknowledge')
    expect(ann.last().id).toBe(card)
    expect(ann.last().text).toContain('acknowledged by')
    await ann.press('What to do')
    await ann.press('Causes')
    expect(ann.labels().flat()).toContain('✓ Causes')
    await ann.press('Unacknowledge')
    expect(ann.labels().flat()).toContain('✓ Causes')
    await ann.press('✓ Causes')
    expect(ann.labels().flat()).not.toContain('Causes')
  })

  test('shows a chat that may only receive a popup with the refusal, and lets it mute itself', async () => {
    const reader = await linked('carol', ['read'])
    const watch = await world.addWatch('carol', { label: 'Node R' })
    const id = await alerted(reader, watch, COMMIT)
    const { text } = message(reader, id)
    expect(labelsOf(reader, id)).toEqual(RECEIVED)
    // The button of a message from when the chat had the right.
    const { id: alertId } = await newest('carol')
    const press = world.telegram.pressRaw(reader.id, id, packed('alert.ack', { id: alertId }))
    await world.settle()
    expect(await press.answer()).toMatchObject({
      text: 'This chat is not allowed to do that.',
      showAlert: true,
    })
    expect(message(reader, id).text).toBe(text)
    await reader.press('What to do')
    expect(message(reader, id).text.length).toBeGreaterThan(text.length)
    expect(labelsOf(reader, id).flat()).not.toContain('Acknowledge')
    expect((await newest('carol')).state).toBe('firing')
    const muting = world.telegram.pressRaw(reader.id, id, packed('mute.all', { duration: '1h' }))
    await world.settle()
    expect(await muting.answer()).toMatchObject({
      text: expect.stringContaining('This chat is muted until'),
    })
  })
})

describe('several alerts in one message', () => {
  test('are acknowledged together', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node G' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    expect(message(ann, id).text).toContain(' · 1 more alert\n')
    expect((await ann.press('Acknowledge all')).text).toBe('2 alerts acknowledged.')
    expect(labelsOf(ann, id).flat()).not.toContain('Acknowledge all')
    const press = world.telegram.pressRaw(ann.id, id, packed('alert.ackAll'))
    await world.settle()
    expect((await press.answer()).text).toMatch(/^Already acknowledged by \u2068Ann\u2069/)
    expect((await ann.press('Unacknowledge')).text).toBe('No longer acknowledged.')
    expect(labelsOf(ann, id).flat()).toContain('Acknowledge all')
    const second = world.telegram.pressRaw(ann.id, id, packed('alert.unackAll'))
    await world.settle()
    expect((await second.answer()).text).toBe('There is nothing to undo.')
    expect(await statesOf('carol', 2)).toEqual(['firing', 'firing'])
    await mute(ann, 'Mute 1\u00a0h')
    expect((await watchOf('carol', watch)).mutedUntil).not.toBeNull()
    expect((await ann.press('Unmute')).text).toBe('No longer muted.')
    expect((await watchOf('carol', watch)).mutedUntil).toBeNull()
    expect(message(ann, id).text).toContain(' · 1 more alert\n')
  })

  test('are acknowledged with their incident, also on the card of one', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node U' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    const other = await linked('carol', ['read', 'write'], 'Bo')
    const first = await newest('carol')
    await other.say(`/start a${first.id}`)
    await other.press('Acknowledge')
    await alerts.deliver()
    expect(await statesOf('carol', 2)).toEqual(['acknowledged', 'acknowledged'])
    expect(labelsOf(ann, id).flat()).toContain('Unacknowledge')
    const late = world.telegram.pressRaw(ann.id, id, packed('alert.ackAll'))
    await world.settle()
    expect((await late.answer()).text).toContain('Bo')
    expect((await newest('carol')).acknowledgedBy).toBe('Bo')
  })

  test('show the help of the most severe one, which stays open when all are acknowledged', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node W' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    const { text } = message(ann, id)
    await ann.press('What to do')
    expect(message(ann, id).text.startsWith(text)).toBe(true)
    expect(message(ann, id).entities.map(({ type }) => type)).toContain('blockquote')
    expect(labelsOf(ann, id).flat()).toContain('✓ What to do')
    await ann.press('Acknowledge all')
    await alerts.deliver()
    expect(labelsOf(ann, id).flat()).toContain('✓ What to do')
    await ann.press('✓ What to do')
    expect(message(ann, id).entities.map(({ type }) => type)).not.toContain('blockquote')
  })

  test('stay listed after they have ended, each with the text of its recovery', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node V' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    world.clock.advance(120)
    const before = editsOf(id)
    await alerts.fire(watch, { event: `${COMMIT}.recovered` })
    await alerts.deliver()
    expect(editsOf(id) - before).toBe(1)
    expect(message(ann, id).text).toContain('🟢 FTSO commits are arriving again\n')
    expect(message(ann, id).text).toContain('🟠 FTSO reveal')
    world.clock.advance(120)
    await alerts.fire(watch, { event: `${REVEAL}.recovered` })
    expect(message(ann, id).text).toMatch(/^🟢 \u2068Node V\u2069: 2 alerts have ended/)
    expect(message(ann, id).text).toContain('🟢 FTSO reveals are arriving again\n')
  })

  test('are muted until their incident is over, and the next one is notified', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node Q' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    const count = ann.all().length
    expect((await mute(ann, 'Mute until recovered')).text).toBe(
      'Muted until all alerts of this incident recover. You will be notified then.',
    )
    expect(message(ann, id).text).toContain('🔕 until recovered')

    world.clock.advance(120)
    const worse = [COMMIT, REVEAL].map((event) => ({ event, severity: 'critical' }) as const)
    await alerts.fire(watch, ...worse)
    expect(ann.all()).toHaveLength(count)

    world.clock.advance(120)
    await alerts.fire(watch, { event: `${COMMIT}.recovered` })
    world.clock.advance(120)
    await alerts.fire(watch, { event: COMMIT })
    expect(ann.all()).toHaveLength(count)
    expect(message(ann, id).text).toContain('🔕 until recovered')

    world.clock.advance(120)
    await alerts.fire(watch, { event: `${COMMIT}.recovered` }, { event: `${REVEAL}.recovered` })
    world.clock.advance(120)
    await alerts.fire(watch, { event: REVEAL })
    expect(ann.last().text).toContain('FTSO reveal too late')
  })

  test('are muted with their incident, also on the card of one', async () => {
    const ann = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node P' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    const first = await newest('carol')
    await ann.say(`/start a${first.id}`)
    await mute(ann, 'Mute until recovered')
    await alerts.deliver()
    expect(message(ann, id).text).toContain('🔕 until recovered')
    const unmute = packed('alert.mute', { id: first.id, duration: '0' })
    world.telegram.pressRaw(ann.id, id, unmute)
    await world.settle()
    expect(message(ann, id).text).not.toContain('🔕')
    world.clock.advance(120)
    await alerts.fire(watch, { event: REVEAL, severity: 'critical' })
    expect(ann.last().text).toContain('Critical · since')
  })
})

describe('an alert in a group', () => {
  test('shows its help to every member, whom the owner lets acknowledge, and is muted only by administrators who linked the wallet', async () => {
    const [owner = 0, admin = 0, member = 0] = ['Ann', 'Bo', 'Cy'].map(
      (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
    )
    const members = [owner, admin, member]
    const { id: groupId } = world.telegram.group({
      title: 'Node crew',
      members,
      admins: [owner, admin],
    })
    const group = world.chat(groupId, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
    await group.press('Link this chat')
    const watch = await world.addWatch('bob', { label: 'Node A' })
    const id = await alerted(group, watch, COMMIT)
    const { text } = message(group, id)
    expect(await group.press('Mute…', member)).toEqual({ text: LINKERS, box: true })
    await group.press('What to do', member)
    expect(message(group, id).text.length).toBeGreaterThan(text.length)
    await group.press('Acknowledge', member)
    expect(message(group, id).text).toContain('acknowledged by \u2068Cy\u2069')
    expect((await newest('bob')).state).toBe('acknowledged')
    await group.press('Unacknowledge', admin)
    expect((await newest('bob')).state).toBe('firing')
    const { id: heard } = await newest('bob')
    const refused = async (from: number, alertId: number) => {
      const data = packed('alert.ack', { id: alertId })
      const press = world.telegram.pressRaw(groupId, id, data, { from })
      await world.settle()
      expect(await press.answer()).toMatchObject({ text: LINKERS, showAlert: true })
    }
    // Nobody acknowledges of whom Telegram does not say that they are in the group.
    const unknown = { error_code: 400, description: 'Bad Request: PARTICIPANT_ID_INVALID' }
    world.telegram.failNext('getChatMember', unknown)
    await refused(member, heard)
    expect((await newest('bob')).state).toBe('firing')
    // A member acknowledges only what the group was sent.
    const unheard = await world.addWatch('bob', { label: 'Node B' })
    const params = { id: String(unheard) }
    const url = 'https://example.org/hook'
    const hook = { name: 'Pager', channel: 'webhook', url, default: false } as const
    const { id: hookId } = await world.as('bob', createRecipient, { body: hook })
    await world.as('bob', updateWatch, { params, body: { recipientIds: [hookId] } })
    await alerts.fire(unheard, { event: COMMIT })
    await refused(member, (await newest('bob')).id)
    expect((await newest('bob')).state).toBe('firing')
    await world.as('bob', deleteWatch, { params })
    // The owner decides otherwise.
    await group.say('/menu')
    await group.press('Settings')
    expect(group.last().text).toContain('Every member can acknowledge alerts.')
    expect(await group.press('✓ Members acknowledge', member)).toMatchObject({ box: true })
    await group.press('✓ Members acknowledge', owner)
    expect(group.last().text).toContain('Only the administrators who are linked to the wallet')
    const ack = packed('alert.ack', { id: heard })
    for (const other of [member, admin]) {
      const press = world.telegram.pressRaw(groupId, id, ack, { from: other })
      await world.settle()
      expect(await press.answer()).toMatchObject({ text: LINKERS, showAlert: true })
    }
    const press = world.telegram.pressRaw(groupId, id, ack, { from: owner })
    await world.settle()
    await press.answer()
    const { data } = await world.as('bob', listAlerts, { query: {} })
    expect(data.find((alert) => alert.id === heard)?.state).toBe('acknowledged')
  })

  test('has no button that nobody there may press', async () => {
    const { id: owner } = world.telegram.person({
      firstName: 'Ann',
      languageCode: 'en',
      started: true,
    })
    const { id: groupId } = world.telegram.group({
      title: 'Readers',
      members: [owner],
      admins: [owner],
    })
    const group = world.chat(groupId, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice', ['read'])}`)
    await group.press('Link this chat')
    const watch = await world.addWatch('alice', { label: 'Node Q' })
    const id = await alerted(group, watch, COMMIT)
    expect(labelsOf(group, id)).toEqual(RECEIVED)
    await group.press('What to do', owner)
    expect(labelsOf(group, id).flat()).toEqual(['✓ What to do', 'Why?', 'Causes'])
    world.clock.advance(5)
    await alerts.fire(watch, { event: REVEAL })
    expect(labelsOf(group, id)).toEqual([['✓ What to do'], ['Alerts']])
  })
})

describe('the card of an alert', () => {
  const lookAgain = async () => {
    world.clock.advance(20)
    await changeLive(world)
  }

  test('follows the alert to its end, as the sent message does', async () => {
    const ann = await linked('carol')
    const id = await world.addWatch('carol', { label: 'Node' })
    await alerted(ann, id, COMMIT)
    const alert = await newest('carol')
    await ann.say(`/alerts ${alert.incidentId}`)
    const card = ann.last().id
    await ann.press('What to do')
    const opened = message(ann, card).text
    await lookAgain()
    expect(message(ann, card).text).toBe(opened)
    const params = { id: String(alert.id) }
    await invoke(world.app, acknowledge, callerOf('carol'), { params })
    await lookAgain()
    expect(labelsOf(ann, card).flat()).toContain('Unacknowledge')
    await alerts.fire(id, { event: `${COMMIT}.recovered` })
    await lookAgain()
    expect(message(ann, card).text).toMatch(/^🟢/)
    expect(labelsOf(ann, card).flat()).not.toContain('Unacknowledge')
  })

  test('that shows another screen meanwhile follows it no more', async () => {
    const ann = await linked('carol')
    const id = await world.addWatch('carol', { label: 'Node' })
    await alerted(ann, id, COMMIT)
    const alert = await newest('carol')
    await ann.say(`/alerts ${alert.incidentId}`)
    const card = ann.last().id
    await ann.press('‹ Alerts')
    const list = message(ann, card).text
    await alerts.fire(id, { event: `${COMMIT}.recovered` })
    await lookAgain()
    expect(message(ann, card).text).toBe(list)
  })
})
