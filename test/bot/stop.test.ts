import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChat } from '#bot/core/store.ts'
import { packed } from '#src/actions/codec.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { listAlerts } from '#src/operations/rest/alerts.ts'
import { listWatches } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

let world: BotWorld
let alerts: ReturnType<typeof alertsIn>

beforeAll(async () => {
  world = await botWorld()
  alerts = alertsIn(world)
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

async function link(chat: TestChat, name: Name, scopes: readonly Scope[] = ['read', 'write']) {
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
  return chat
}

/** Every row of the database as text; not the numbers of updates, which go after three days. */
async function everything(): Promise<string[]> {
  const { sql } = world.database
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name <> 'telegram_updates'`
  const rows = await Promise.all(
    tables.map(({ name }) => sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`),
  )
  return rows.flat().map(({ row }) => row)
}

describe('leaving', () => {
  test('warns in the last chat of a wallet, and offers to mute the chat instead', async () => {
    const chat = await link(world.person(), 'alice')
    await world.addWatch('alice', { label: 'Node' })
    await chat.say('/stop')
    expect(chat.last().text).toContain('Wallet 0xf39F…2266: 1 watch')
    expect(chat.last().text).toContain('⚠️ This chat is the only recipient for 0xf39F…2266')
    const other = await link(world.person(), 'alice')
    await other.say('/stop')
    expect(other.last().text).not.toContain('⚠️')
    await other.press('Mute 8\u00a0h instead')
    expect(other.last().text).toContain('Nothing arrives here until')
    expect(await listChatLinks(world.app, other.id)).toHaveLength(1)
  })

  test('ends all messages to the chat, and keeps watches and history', async () => {
    const chat = await link(world.person(), 'bob')
    const watch = await world.addWatch('bob', { label: 'Node' })
    await chat.say('/stop')
    await chat.press('‹ Keep')
    expect(await listChatLinks(world.app, chat.id)).toHaveLength(1)
    await chat.say('/stop')
    await chat.press('Unlink this chat')
    expect(chat.last().text).toContain('This chat is no longer linked to 0x7099…79C8.')
    expect(chat.labels()).toEqual([['Connect wallet']])
    expect(await listChatLinks(world.app, chat.id)).toEqual([])
    const count = chat.all().length
    await alerts.fire(watch, { event: 'fsp.ftso-commit' })
    expect(chat.all()).toHaveLength(count)
    const caller = { wallet: walletOf('bob'), scopes: ['read'], via: 'http' } as const
    expect((await invoke(world.app, listWatches, caller, {})).output.data).toHaveLength(1)
    await chat.say('/stop')
    expect(chat.last().text).toContain('This chat is not linked')
  })

  test('unlinks one of several wallets at a time', async () => {
    const chat = await link(await link(world.person(), 'alice'), 'carol')
    await chat.say('/stop')
    expect(
      chat
        .labels()
        .flat()
        .filter((label) => label.startsWith('Unlink ')),
    ).toHaveLength(2)
    await chat.press('Unlink 0x3C44…93BC')
    expect((await listChatLinks(world.app, chat.id)).map(({ wallet }) => wallet)).toEqual([
      walletOf('alice'),
    ])
    expect(chat.labels()).toEqual([['‹ Menu']])
  })

  test('is refused for a link that is not this chat’s', async () => {
    const chat = await link(world.person(), 'alice')
    const other = await link(world.person(), 'carol')
    const [foreign] = await listChatLinks(world.app, other.id)
    await chat.say('/stop')
    const data = packed('stop.unlink', { id: foreign?.recipientId ?? 0 })
    world.telegram.pressRaw(chat.id, chat.last().id, data)
    await world.settle()
    expect(await listChatLinks(world.app, other.id)).toHaveLength(1)
    expect(chat.last().text).toContain('Stop alerts here?')
  })
})

describe('deleting one’s data', () => {
  test('leaves nothing of the person in the database, and the watches and alerts of the wallet', async () => {
    const chat = await link(world.person('en', 'Zacharias'), 'bob')
    const watch = await world.addWatch('bob', { label: 'Node' })
    world.clock.advance(120)
    await alerts.fire(watch, { event: 'fsp.ftso-commit' })
    await chat.press('Acknowledge')
    await chat.say('/stop')
    await chat.press('Delete my data…')
    expect(chat.last().text).toContain(
      'Deleted: this chat and its links, your Telegram id and name',
    )
    await chat.press('‹ Keep')
    await chat.press('Delete my data…')
    await chat.press('Delete my data')
    expect(chat.last().text).toContain('Your Telegram data is deleted.')
    expect(await findChat(world.app.db, chat.id)).toBeUndefined()
    expect(await listChatLinks(world.app, chat.id)).toEqual([])
    const left = (await everything()).filter(
      (row) => row.includes('Zacharias') || row.includes(String(chat.id)),
    )
    expect(left).toEqual([])
    const caller = { wallet: walletOf('bob'), scopes: ['read'], via: 'http' } as const
    const [alert] = (await invoke(world.app, listAlerts, caller, {})).output.data
    expect(alert).toMatchObject({ state: 'acknowledged' })
    await chat.say('/start')
    expect(chat.last().text).toContain('Watchdog watches wallets')
  })

  test('leaves nothing of a member of a group who has acknowledged, and the names of others', async () => {
    const people = ['Zenobia', 'Ann'].map((firstName) =>
      world.telegram.person({ firstName, languageCode: 'en', started: true }),
    )
    const [member = 0, owner = 0] = people.map(({ id }) => id)
    const { id } = world.telegram.group({
      title: 'Crew',
      members: [owner, member],
      admins: [owner],
    })
    const group = world.chat(id, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('carol')}`)
    await group.press('Link this chat')
    const messages: number[] = []
    for (const from of [member, owner]) {
      const watch = await world.addWatch('carol', { label: `Node of ${from}` })
      world.clock.advance(120)
      await alerts.fire(watch, { event: 'fsp.ftso-commit' })
      messages.push(group.last().id)
      await group.press('Acknowledge', from)
      world.clock.advance(120)
      await alerts.fire(watch, { event: 'fsp.ftso-commit.recovered' })
    }
    const own = world.chat(member, member)
    await own.say('/stop')
    await own.press('Delete my data…')
    await own.press('Delete my data')
    await alerts.deliver()
    const left = await everything()
    expect(left.filter((row) => row.includes('Zenobia'))).toEqual([])
    // The recovery of the other alert still says who had acknowledged it.
    expect(left.some((row) => row.includes('takenBy') && row.includes('Ann'))).toBe(true)
    const texts = messages.map((sent) => group.all().find((one) => one.id === sent)?.text)
    expect(texts[0]).not.toContain('Zenobia')
    expect(texts[1]).toContain('Ann')
  })

  test('is possible without a link', async () => {
    const chat = world.person()
    await chat.say('/start')
    await chat.say('/stop')
    await chat.press('Delete my data…')
    await chat.press('Delete my data')
    expect(await findChat(world.app.db, chat.id)).toBeUndefined()
  })
})

describe('in a group', () => {
  test('only administrators who linked the wallet unlink it, and data cannot be deleted there', async () => {
    const [owner = 0, member = 0] = ['Ann', 'Cy'].map(
      (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
    )
    const { id } = world.telegram.group({
      title: 'Crew',
      members: [owner, member],
      admins: [owner],
    })
    const group = world.chat(id, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    const cy = world.chat(id, member)
    await cy.say('/stop')
    expect(cy.last().keyboard).toEqual([])
    expect(cy.last().text).toContain(
      'Only this group’s administrators who are linked to the wallet can do that.',
    )
    await group.say('/stop')
    expect(group.labels().flat()).not.toContain('Delete my data…')
    const press = world.telegram.pressRaw(id, group.last().id, packed('stop.dataYes'), {
      from: owner,
    })
    await world.settle()
    await press.answer()
    expect(await listChatLinks(world.app, id)).toHaveLength(1)
    await group.press('Unlink this chat')
    expect(await listChatLinks(world.app, id)).toEqual([])
  })
})

describe('topics', () => {
  test('alerts go to a new topic, to General, or to the topic where /here was sent', async () => {
    const owner = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id
    const { id } = world.telegram.group({
      title: 'Forum',
      members: [owner],
      admins: [owner],
      isForum: true,
    })
    const group = world.chat(id, owner)
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    const thread = async () => (await listChatLinks(world.app, id))[0]?.threadId
    await group.press('Settings')
    await group.press('Topic')
    expect(group.last().text).toContain('Alerts go to the General topic.')
    expect((await group.press('A new topic')).text).toContain('needs the right to manage topics')
    world.telegram.promote(id)
    await group.press('A new topic')
    expect(await thread()).toEqual(expect.any(Number))
    expect(group.last().text).toContain('✓ Alerts go to the new topic “\u2068Watchdog\u2069”.')
    await group.press('General')
    expect(await thread()).toBeNull()
    const topic = world.telegram.topic(id, 'Alerts')
    world.telegram.send(id, `/here@${BOT_NAME}`, { from: owner, threadId: topic })
    await world.settle()
    expect(group.last().text).toBe('Alerts go to this topic from now on.')
    expect(await thread()).toBe(topic)
  })
})
