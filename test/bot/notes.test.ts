import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { detectEntities } from '#sandbox/telegram/entities.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { acknowledge, listAlerts } from '#src/operations/rest/alerts.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

/** Notes about alerts, which people write by replying to the message of the alert, and programs with an acknowledgement. */

const COMMIT = 'fsp.ftso-commit'
const REVEAL = 'fsp.ftso-reveal'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

async function linked(who = 'Ann') {
  const chat = world.person('en', who)
  await chat.say(`/start ${await world.linkCode('alice')}`)
  await chat.press('Link this chat')
  return chat
}

const caller = () =>
  ({ wallet: walletOf('alice'), scopes: ['read', 'write'], via: 'http' }) as const

async function newest() {
  const { output } = await invoke(world.app, listAlerts, caller(), { query: { limit: '1' } })
  const [alert] = output.data
  if (alert === undefined) throw new Error('there is no alert')
  return alert
}

async function alerted(chat: TestChat, watchId: number, ...events: readonly string[]) {
  world.clock.advance(120)
  await alerts.fire(watchId, ...events.map((event) => ({ event })))
  return chat.last().id
}

/** Replies to a message as a person. */
async function reply(chatId: number, replyTo: number, text: string, from?: number) {
  world.telegram.send(chatId, text, { replyTo, ...(from !== undefined && { from }) })
  await world.settle()
}

const textOf = (chat: TestChat, id: number) =>
  chat.all().find((message) => message.id === id)?.text ?? ''

describe('in a private chat', () => {
  test('a reply to an alert is its note, in every chat that shows it, until it is unacknowledged', async () => {
    const ann = await linked('Chloé')
    const bo = await linked('Bo')
    const watch = await world.addWatch('alice', { label: 'Node A' })
    const id = await alerted(ann, watch, COMMIT)
    const other = bo.last().id
    await ann.press('Acknowledge')
    await reply(ann.id, id, '  restarting   the node\n')
    expect(ann.last().text).toBe('Note saved: “\u2068restarting the node\u2069”')
    expect(textOf(ann, id)).toMatch(
      /acknowledged by \u2068Chloé\u2069, \d\d:\d\d · note: “\u2068restarting the node\u2069”/,
    )
    await alerts.deliver()
    expect(textOf(bo, other)).toContain('restarting the node')
    expect(await newest()).toMatchObject({ note: 'restarting the node', notedBy: 'Chloé' })
    // Another person's note replaces it, and names its author.
    await reply(bo.id, other, 'disk is full')
    await alerts.deliver()
    expect(textOf(ann, id)).toContain('note by \u2068Bo\u2069: “\u2068disk is full\u2069”')
    await ann.say('/alerts')
    expect(ann.last().text).toContain('“\u2068disk is full\u2069”')
    await ann.press('Unacknowledge')
    expect(textOf(ann, id)).not.toContain('disk is full')
    expect(await newest()).toMatchObject({ note: null, notedBy: null })
  })

  test('a note about a message of several alerts is that of each', async () => {
    const ann = await linked()
    const watch = await world.addWatch('alice', { label: 'Node B' })
    const id = await alerted(ann, watch, COMMIT, REVEAL)
    await reply(ann.id, id, 'both known')
    const rows = await world.database.sql`select note from alerts where watch_id = ${watch}`
    expect(rows.map(({ note }) => note)).toEqual(['both known', 'both known'])
    expect(textOf(ann, id)).toContain('both known')
  })

  test('too long and misplaced replies change nothing and say why', async () => {
    const ann = await linked()
    const watch = await world.addWatch('alice', { label: 'Node C' })
    const id = await alerted(ann, watch, COMMIT)
    const reader = world.person('en', 'Rea')
    await reader.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await reader.press('Link this chat')
    const another = await world.addWatch('alice', { label: 'Node C2' })
    const seen = await alerted(reader, another, COMMIT)
    await reply(reader.id, seen, 'I only read')
    expect(reader.last().text).toContain('takes no note')
    await reply(ann.id, id, '👩‍👩‍👧‍👦'.repeat(201))
    expect(ann.last().text).toContain('at most 200 characters')
    expect((await newest()).note).toBeNull()
    await reply(ann.id, id, '👩‍👩‍👧‍👦'.repeat(200))
    const kept = await world.database.sql`select note from alerts where watch_id = ${watch}`
    expect(kept[0]?.['note']).toBe('👩‍👩‍👧‍👦'.repeat(200))
    // A reply to a screen of the bot is no note.
    await ann.say('/help')
    await reply(ann.id, ann.last().id, 'thanks')
    expect(ann.last().text).not.toContain('Note saved')
  })

  test.each([
    'see https://evil.example/x and @evil',
    '<b>bold</b> & <a href="https://evil.example">link</a>',
    'run /stop #free $USDC claim@evil.com +49 301 2345678',
    '\u202eevil\u2066 \u200fabc',
  ])('no client finds anything to press in a note: %j', async (note) => {
    const ann = await linked()
    const watch = await world.addWatch('alice', { label: 'Node D' })
    const id = await alerted(ann, watch, COMMIT)
    await reply(ann.id, id, note)
    const [, line = ''] = /note[^“]*“(.*)”/.exec(textOf(ann, id)) ?? []
    expect(line).not.toBe('')
    expect(detectEntities(line)).toEqual([])
    expect(line).not.toMatch(/[\u202a-\u202e\u200f]/)
    const { entities = [] } = ann.all().find((message) => message.id === id) ?? {}
    const place = textOf(ann, id).indexOf(line)
    const inside = entities.filter(
      ({ offset, length }) => offset >= place && offset + length <= place + line.length,
    )
    expect(inside).toEqual([])
  })
})

describe('in a group', () => {
  test('only the person who acknowledged writes notes; other replies are talk', async () => {
    const [owner = 0, member = 0] = ['Ann', 'Cy'].map(
      (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
    )
    const { id: groupId } = world.telegram.group({
      ...{ title: 'Node crew', members: [owner, member], admins: [owner] },
    })
    const group = world.chat(groupId, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    const watch = await world.addWatch('alice', { label: 'Node E' })
    const id = await alerted(group, watch, COMMIT)
    const count = group.all().length
    await reply(groupId, id, 'what is that?', member)
    expect((await newest()).note).toBeNull()
    await group.press('Acknowledge', member)
    await reply(groupId, id, 'is it bad?', owner)
    expect((await newest()).note).toBeNull()
    await reply(groupId, id, 'on it', member)
    expect(await newest()).toMatchObject({ note: 'on it', notedBy: 'Cy' })
    expect(textOf(group, id)).toContain('acknowledged by \u2068Cy\u2069')
    expect(textOf(group, id)).toContain('note: “\u2068on it\u2069”')
    expect(group.all()).toHaveLength(count)
  })
})

describe('over REST', () => {
  test('an acknowledgement takes a note, which a later one replaces or keeps', async () => {
    const ann = await linked()
    const watch = await world.addWatch('alice', { label: 'Node F' })
    const message = await alerted(ann, watch, COMMIT)
    const { id } = await newest()
    const send = async (body: unknown) =>
      (await invoke(world.app, acknowledge, caller(), { params: { id: String(id) }, body })).output
    expect(await send({ note: 'rebooting' })).toMatchObject({ note: 'rebooting' })
    expect(await send({})).toMatchObject({ note: 'rebooting' })
    expect(await send({ note: 'rebooted' })).toMatchObject({ note: 'rebooted' })
    await alerts.deliver()
    expect(textOf(ann, message)).toContain('rebooted')
    for (const note of ['', ' ', 'x'.repeat(201), 'two\nlines', 'a\u202eb', 7]) {
      await expect(send({ note })).rejects.toMatchObject({ code: 'validation_failed' })
    }
    expect(await send({ acknowledged: false })).toMatchObject({ note: null })
  })
})

test('“Delete my data” removes the notes of the person, and leaves those of others', async () => {
  const ann = await linked('Dora')
  const bo = await linked('Emil')
  const watch = await world.addWatch('alice', { label: 'Node G' })
  const first = await alerted(ann, watch, COMMIT)
  await reply(ann.id, first, 'from Dora')
  const second = await alerted(bo, await world.addWatch('alice', { label: 'Node H' }), COMMIT)
  await reply(bo.id, second, 'from Emil')
  await ann.say('/stop')
  await ann.press('Delete my data…')
  await ann.press('Delete my data')
  const rows = await world.database.sql`
    select note, noted_by as by from alerts where note is not null and noted_by in ('Dora', 'Emil')`
  expect(rows).toEqual([{ note: 'from Emil', by: 'Emil' }])
})
