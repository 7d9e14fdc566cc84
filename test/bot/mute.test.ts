import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

const COMMIT = 'fsp.ftso-commit'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

async function linked(name: Name, scopes: readonly Scope[] = ['read', 'write']) {
  const chat = world.person()
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
  return chat
}

/** Minutes for which the chat is muted. */
async function mutedMinutes(chat: TestChat): Promise<number> {
  const [link] = await listChatLinks(world.app, chat.id)
  const until = link?.mutedUntil ?? world.clock.now()
  return Math.round((until.getTime() - world.clock.now().getTime()) / 60_000)
}

describe('muting a chat', () => {
  test('stops all messages to it, critical alerts too, until it ends', async () => {
    const chat = await linked('alice')
    const watch = await world.addWatch('alice', { label: 'Node' })
    await chat.say('/mute')
    expect(chat.last().text).toContain('This chat: not muted')
    await chat.press('Chat: 1\u00a0h')
    expect(chat.last().text).toMatch(
      /✓ Nothing arrives here until \d\d:\d\d\u00a0UTC, not even critical/,
    )
    expect(chat.last().text).toMatch(/This chat: muted until \d\d:\d\d/)
    expect(await mutedMinutes(chat)).toBe(60)
    const count = chat.all().length
    await alerts.fire(watch, { event: COMMIT, severity: 'critical' })
    expect(chat.all()).toHaveLength(count)
    await chat.press('Unmute this chat')
    expect(chat.last().text).toContain('✓ This chat is no longer muted.')
    expect(await mutedMinutes(chat)).toBe(0)
  })

  test('takes a duration with the command, of a day at most', async () => {
    const chat = await linked('bob')
    await chat.say('/mute 8h')
    expect(await mutedMinutes(chat)).toBe(480)
    await chat.say('/mute 90m')
    expect(await mutedMinutes(chat)).toBe(90)
    await chat.say('/mute 3 days')
    expect(chat.last().text).toMatch(/^⚠️ Send a duration/)
    await chat.say('/mute soon')
    expect(chat.last().text).toMatch(/^⚠️ Send a duration/)
    expect(await mutedMinutes(chat)).toBe(90)
    world.telegram.pressRaw(chat.id, chat.last().id, packed('mute.all', { duration: '8am' }))
    await world.settle()
    expect(await mutedMinutes(chat)).toBeLessThanOrEqual(1440)
    world.telegram.pressRaw(chat.id, chat.last().id, packed('mute.all', { duration: '7d' }))
    await world.settle()
    expect(await mutedMinutes(chat)).toBe(1440)
  })

  test('is allowed in a chat that only receives', async () => {
    const reader = await linked('carol', ['read'])
    await reader.say('/mute 1h')
    expect(await mutedMinutes(reader)).toBe(60)
  })

  test('by a button below an alert is answered in a toast and leaves the alert unchanged', async () => {
    const chat = await linked('carol')
    const watch = await world.addWatch('carol', { label: 'Node' })
    await alerts.fire(watch, { event: COMMIT })
    const { id, text } = chat.last()
    const press = world.telegram.pressRaw(chat.id, id, packed('mute.all', { duration: '1h' }))
    await world.settle()
    expect((await press.answer()).text).toContain('critical alerts included')
    expect(chat.last()).toMatchObject({ id, text })
    expect(await mutedMinutes(chat)).toBe(60)
  })
})

test('muted watches are listed, and unmuted by one press', async () => {
  const chat = await linked('bob')
  const until = new Date(world.clock.now().getTime() + 3_600_000)
  const watch = await world.addWatch('bob', { label: 'FLR price', mutedUntil: until })
  const node = await world.addWatch('bob', { label: 'Node A' })
  await alerts.fire(node, { event: COMMIT })
  await chat.press('Mute…')
  await chat.press('Mute until recovered')
  await chat.say('/mute')
  expect(chat.last().text).toMatch(/\u2068FLR price\u2069 until \d\d:\d\d/)
  expect(chat.last().text).toContain('\u2068Node A\u2069: FTSO commit missing')
  expect(chat.last().text).toContain('until it recovers')
  const ends = chat
    .labels()
    .flat()
    .filter((label) => label.startsWith('Unmute '))
  expect(ends).toHaveLength(2)
  for (const label of ends) await chat.press(label)
  expect(chat.last().text).not.toContain('until it recovers')
  const caller = { wallet: walletOf('bob'), scopes: ['read'], via: 'http' } as const
  const { output } = await invoke(world.app, getWatch, caller, { params: { id: String(watch) } })
  expect(output.mutedUntil).toBeNull()
})

test('in a group only linked administrators mute', async () => {
  const [owner = 0, member = 0] = ['Ann', 'Cy'].map(
    (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
  )
  const { id } = world.telegram.group({ title: 'Crew', members: [owner, member], admins: [owner] })
  const group = world.chat(id, owner)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
  await group.press('Link this chat')
  const cy = world.chat(id, member)
  await cy.say('/mute 8h')
  expect(cy.last().keyboard).toEqual([])
  expect(await mutedMinutes(group)).toBe(0)
  await group.say('/mute')
  await group.press('Chat: 8\u00a0h')
  expect(await mutedMinutes(group)).toBe(480)
})
