import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChat } from '#bot/core/store.ts'
import { packed } from '#src/actions/codec.ts'
import { alertsOfMessage } from '#src/delivery/service.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getWatch } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, menuNames, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME } from '../support/harness.ts'

const LINKERS = 'Only this group’s administrators who are linked to the wallet can do that.'
const ADMINISTRATORS = 'Only this group’s administrators can do that.'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

interface Group extends TestChat {
  readonly owner: number
  readonly admin: number
  readonly member: number
}

/** A group of Ann, who owns it, Bo, who administers it, and Cy; the bot is in it. */
function makeGroup(options: { isForum?: boolean; title?: string } = {}): Group {
  const [owner = 0, admin = 0, member = 0] = ['Ann', 'Bo', 'Cy'].map(
    (firstName) => world.telegram.person({ firstName, languageCode: 'en', started: true }).id,
  )
  const { title = 'Node crew', isForum = false } = options
  const members = [owner, admin, member]
  const { id } = world.telegram.group({ title, members, admins: [owner, admin], isForum })
  return { ...world.chat(id, owner), owner, admin, member }
}

async function linkedGroup(name: 'alice' | 'bob' = 'alice'): Promise<Group> {
  const group = makeGroup()
  await group.say(`/start@${BOT_NAME} ${await world.groupCode(name)}`)
  await group.press('Link this chat')
  return group
}

async function statusOf(id: number): Promise<string> {
  const caller = { wallet: walletOf('alice'), scopes: ['read'], via: 'http' } as const
  const { output } = await invoke(world.app, getWatch, caller, { params: { id: String(id) } })
  return output.status
}

describe('the code of a link for a group', () => {
  test('cannot link the private chat of a member, neither typed nor in a forged button', async () => {
    const group = makeGroup()
    const code = await world.groupCode('carol', ['read', 'write', 'spend'])
    await group.say(`/start@${BOT_NAME} ${code}`)
    const thief = world.chat(group.member)
    await thief.say(`/start ${code}`)
    expect(thief.last().text).toContain('no longer valid')
    // A private code of the thief's own shows a card, whose button can be pressed with forged data.
    await thief.say(`/start ${await world.linkCode('bob')}`)
    const card = thief.last()
    const data = `${card.keyboard.flat()[0]?.callback_data}`.replace(/[\w-]{22}/, code)
    for (const forged of [data, data.replace('link.yes', 'link.no')]) {
      world.telegram.pressRaw(thief.id, card.id, forged)
      await world.settle()
    }
    expect(await listChatLinks(world.app, thief.id)).toEqual([])
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ wallet: walletOf('carol') }])
  })

  test('is refused in another group', async () => {
    const [group, other] = [makeGroup(), makeGroup({ title: 'Other crew' })]
    const code = await world.groupCode('carol')
    await group.say(`/start@${BOT_NAME} ${code}`)
    await other.say(`/start@${BOT_NAME} ${code}`)
    expect(other.last().text).toContain('no longer valid')
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toHaveLength(1)
    expect(await listChatLinks(world.app, other.id)).toEqual([])
  })
})

describe('a group the bot joins', () => {
  test('gets one short hello with the way to link it', async () => {
    const [owner = 0] = ['Ann'].map(
      (firstName) => world.telegram.person({ firstName, languageCode: 'de', started: true }).id,
    )
    const { id } = world.telegram.group({ title: 'Ops <b>', members: [owner], bot: 'left' })
    const group = world.chat(id, owner)
    world.telegram.addBot(id, { from: owner })
    await world.settle()
    expect(group.all()).toHaveLength(1)
    expect(group.last().text).toContain('👋')
    expect(group.last().text).toContain('Ops <b>')
    expect(group.last().keyboard.flat()).toMatchObject([
      { url: `https://t.me/${BOT_NAME}?start=group${id}` },
    ])
    expect(await findChat(world.app.db, id)).toMatchObject({ kind: 'group', locale: 'de' })

    world.telegram.promote(id)
    world.telegram.demote(id)
    await world.settle()
    expect(group.all()).toHaveLength(1)
  })

  test('by a link has its hello replaced by the card', async () => {
    const owner = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id
    const { id } = world.telegram.group({ title: 'Ops', members: [owner], bot: 'left' })
    const group = world.chat(id, owner)
    world.telegram.addBot(id, { from: owner })
    await world.settle()
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    const texts = group.all().map(({ text }) => text)
    expect(texts.filter((text) => text.includes('👋'))).toEqual([])
    expect(group.last().text).toContain('Only an administrator of this group can confirm.')
  })

  test('by a link shows its card, which only an administrator can confirm', async () => {
    const group = makeGroup()
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    expect(group.last().text).toContain('Node crew')
    expect(group.last().text).toContain('group')
    expect(group.last().text).toContain('Only an administrator of this group can confirm.')
    expect(group.last().text).toMatch(/Valid until: \d\d:\d\d\u00a0UTC\n/)
    expect(await group.press('Link this chat', group.member)).toEqual({
      text: ADMINISTRATORS,
      box: true,
    })
    expect(await group.press('Cancel', group.member)).toEqual({ text: ADMINISTRATORS, box: true })
    expect(await listChatLinks(world.app, group.id)).toEqual([])

    await group.press('Link this chat', group.admin)
    expect(await listChatLinks(world.app, group.id)).toMatchObject([
      { wallet: walletOf('alice'), linkedBy: group.admin, name: 'Node crew' },
    ])
    expect(group.last().text).toContain('\u2068Node crew\u2069 is linked to 0xf39F…2266')
    expect(group.last().text).toContain('Managed by: \u2068Bo\u2069\n')
    expect(group.labels()[1]).toContain('Watches')
  })

  test('answers only commands addressed to it', async () => {
    const group = makeGroup()
    await group.say('/watches@somebody_else_bot')
    await group.say('/nonsense')
    await group.say('hello everybody')
    expect(group.all()).toEqual([])
  })
})

describe('in a linked group', () => {
  test('members see the list and cards without buttons', async () => {
    const group = await linkedGroup()
    const id = await world.addWatch('alice', { label: 'Treasury' })
    const cy = world.chat(group.id, group.member)
    await cy.say('/watches')
    expect(cy.last().text).toContain('Treasury')
    expect(cy.last().keyboard).toEqual([])
    await cy.say(`/watches ${id}`)
    expect(cy.last().text).toContain('Alert: a change of 100')
    expect(cy.last().keyboard).toEqual([])
    expect(cy.last().text).not.toContain('only receives')
    await cy.say('/help')
    expect(cy.last().text).toContain('You can pause, resume and delete watches here.')
    expect(cy.last().text.match(/^\/\w+/gm)).toEqual(menuNames('group').map((name) => `/${name}`))
    const url = `https://t.me/${BOT_NAME}?start=help`
    expect(cy.last().keyboard).toMatchObject([[{ url }]])
  })

  test('that only receives has help without the management of watches, and /mute mutes it', async () => {
    const group = makeGroup()
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice', ['read'])}`)
    await group.press('Link this chat')
    await group.say('/help')
    expect(group.last().text).toContain('This chat only receives alerts; watches are changed in')
    expect(group.last().text).not.toContain('You can pause')
    expect(group.last().text).toContain('/watches')
    await group.say('/mute 1h')
    expect(group.last().text).toContain('This chat: muted until')
  })

  test('only the administrator who linked it manages it', async () => {
    const group = await linkedGroup()
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await group.say(`/watches ${id}`)
    expect(group.labels()[0]).toEqual(['Alerts', 'Mute…'])
    await group.press('More')
    expect(group.last().text).not.toContain('Tells:')
    for (const other of [group.member, group.admin]) {
      expect(await group.press('Pause', other)).toEqual({ text: LINKERS, box: true })
    }
    expect(await statusOf(id)).toBe('active')
    await group.press('Pause', group.owner)
    expect(await statusOf(id)).toBe('paused')
  })

  test('an administrator with a private chat linked to the same wallet manages too', async () => {
    const group = await linkedGroup()
    const id = await world.addWatch('alice', { label: 'Treasury' })
    const bo = world.chat(group.admin)
    await bo.say(`/start ${await world.linkCode('alice')}`)
    await bo.press('Link this chat')
    await group.say(`/watches ${id}`)
    await group.press('More', group.admin)
    await group.press('Pause', group.admin)
    expect(await statusOf(id)).toBe('paused')
  })

  test('an administrator whose private chat only reads cannot change anything in the group', async () => {
    const group = await linkedGroup()
    const id = await world.addWatch('alice', { label: 'Treasury' })
    const bo = world.chat(group.admin)
    await bo.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await bo.press('Link this chat')
    await group.say(`/watches ${id}`)
    await group.press('More', group.admin)
    await group.press('Pause', group.admin)
    expect(await statusOf(id)).toBe('active')
  })

  test('a person who linked the wallet and is no longer an administrator manages nothing', async () => {
    const group = makeGroup()
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat', group.admin)
    const id = await world.addWatch('alice', { label: 'Treasury' })
    const bo = world.chat(group.id, group.admin)
    await bo.say(`/watches ${id}`)
    await bo.press('More')
    world.telegram.demote(group.id, group.admin)
    expect(await bo.press('Pause')).toEqual({ text: LINKERS, box: true })
    await bo.say(`/watches ${id}`)
    expect(bo.last().keyboard).toEqual([])
    expect(await statusOf(id)).toBe('active')
  })

  test('a person whom Telegram does not know as a member manages nothing', async () => {
    const group = await linkedGroup()
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await group.say(`/watches ${id}`)
    await group.press('More')
    world.telegram.failNext('getChatMember', {
      error_code: 400,
      description: 'Bad Request: PARTICIPANT_ID_INVALID',
    })
    expect(await group.press('Pause')).toEqual({ text: LINKERS, box: true })
  })

  test('an anonymous administrator can read, and is asked to write under a name', async () => {
    const group = await linkedGroup()
    await world.addWatch('alice', { label: 'Treasury' })
    for (const [command, shown] of [
      ['/watches', 'Treasury'],
      ['/menu', 'is linked to'],
      ['/start', 'is linked to'],
    ] as const) {
      const text = `${command}@${BOT_NAME}`
      world.telegram.send(group.id, text, { from: group.owner, anonymous: true })
      await world.settle()
      expect(group.last().text).toContain(shown)
      expect(group.last().text).toContain('Send this under your own name')
      expect(group.last().keyboard).toEqual([])
    }
  })

  test('only administrators choose the language of the group', async () => {
    const group = await linkedGroup()
    const bo = world.chat(group.id, group.admin)
    await group.say('/menu')
    await group.press('Settings')
    await group.press('🌐 English')
    expect(await bo.press('Deutsch', group.member)).toEqual({ text: ADMINISTRATORS, box: true })
    await bo.press('Deutsch')
    expect(bo.labels().flat()).toContain('✓ Deutsch')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ locale: 'de' }])
    expect(world.telegram.commandsFor(group.id, group.member)).toContainEqual({
      command: 'watches',
      description: 'Ihre Überwachungen',
    })
    const names = (person: number) =>
      world.telegram.commandsFor(group.id, person).map(({ command }) => command)
    expect(names(group.member)).toEqual(menuNames('group'))
    expect(names(group.admin)).toEqual(menuNames('administrators'))
  })

  test('an administrator cannot change the watches of a wallet that another person linked', async () => {
    const group = await linkedGroup()
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('bob')}`)
    await group.press('Link this chat', group.admin)
    const id = await world.addWatch('alice', { label: 'Treasury' })
    const bo = world.chat(group.id, group.admin)
    await bo.say('/watches')
    world.telegram.pressRaw(group.id, group.last().id, packed('watch.pause', { id }), {
      from: group.admin,
    })
    await world.settle()
    expect(await statusOf(id)).toBe('active')
    expect(world.telegram.answers.at(-1)).toMatchObject({ text: LINKERS, showAlert: true })
  })

  test('alerts stop when the bot is removed, and resume when a person who linked the wallet asks for them', async () => {
    const group = await linkedGroup()
    const stands = async () =>
      (await listChatLinks(world.app, group.id)).map(({ status }) => status)
    world.telegram.kick(group.id)
    await world.settle()
    expect(await stands()).toEqual(['blocked'])
    world.telegram.addBot(group.id, { from: group.member })
    await world.settle()
    const question = /^⚠️ Alerts for 0xf39F…2266 have been off here since the bot was removed\./
    expect(group.last().text).toMatch(question)
    expect(group.labels()).toEqual([['Get alerts here again'], ['Settings']])
    for (const other of [group.member, group.admin]) {
      expect(await group.press('Get alerts here again', other)).toEqual({
        text: LINKERS,
        box: true,
      })
    }
    for (const command of ['/start', '/menu']) {
      await world.chat(group.id, group.member).say(`${command}@${BOT_NAME}`)
      expect(group.last().text).toMatch(question)
    }
    expect(await stands()).toEqual(['blocked'])

    await group.press('Get alerts here again')
    expect(await stands()).toEqual(['active'])
    expect(group.last().text).toContain('This chat receives alerts again.')
    expect(group.last().text).toContain('is linked to 0xf39F…2266')
    expect(group.labels()[1]).toContain('Watches')
  })

  test('alerts resume in the topic where a person who linked the wallet sends /here', async () => {
    const group = makeGroup({ isForum: true })
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    world.telegram.kick(group.id)
    world.telegram.addBot(group.id)
    await world.settle()
    const threadId = world.telegram.topic(group.id, 'Alerts')
    world.telegram.send(group.id, `/here@${BOT_NAME}`, { from: group.owner, threadId })
    await world.settle()
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ status: 'active', threadId }])
  })

  test('/here in a group without topics says so and changes nothing', async () => {
    const group = await linkedGroup('bob')
    const before = await listChatLinks(world.app, group.id)
    await group.say(`/here@${BOT_NAME}`)
    expect(group.last().text).toBe('This group has no topics.')
    expect(await listChatLinks(world.app, group.id)).toEqual(before)
  })

  test('the owner is notified that the bot was removed, and how to switch alerts on again', async () => {
    const group = await linkedGroup()
    const [link] = await listChatLinks(world.app, group.id)
    world.telegram.kick(group.id)
    await world.settle()
    const ann = await world.linked('alice')
    await ann.say(`/start r${link?.recipientId}`)
    expect(ann.last().text).toContain(
      'The bot was removed from the group. Once the bot has been added again, an administrator of the group can',
    )
  })

  test('a group that becomes a supergroup stays linked and keeps its language', async () => {
    const group = await linkedGroup()
    await group.say('/menu')
    await group.press('Settings')
    await group.press('🌐 English')
    await group.press('Français')
    const { id } = world.telegram.migrate(group.id)
    await world.settle()
    expect(await listChatLinks(world.app, group.id)).toEqual([])
    expect(await listChatLinks(world.app, id)).toMatchObject([{ wallet: walletOf('alice') }])
    expect(await findChat(world.app.db, id)).toMatchObject({ kind: 'supergroup', locale: 'fr' })
    expect(await findChat(world.app.db, group.id)).toBeUndefined()
  })

  test('that becomes a supergroup forgets the ids of its former messages', async () => {
    const group = await linkedGroup('bob')
    const watchId = await world.addWatch('bob', { label: 'Treasury' })
    const alerts = alertsIn(world)
    await alerts.fire(watchId, { event: 'wallet-balance.moved' })
    const old = String(group.last().id)
    const [recipient] = await listChatLinks(world.app, group.id)
    const ids = [recipient?.recipientId ?? 0]
    expect(await alertsOfMessage(world.app.db, ids, old)).toHaveLength(1)
    const { id } = world.telegram.migrate(group.id)
    await world.settle()
    expect(await listChatLinks(world.app, id)).toHaveLength(1)
    expect(await alertsOfMessage(world.app.db, ids, old)).toEqual([])
  })
})

describe('in a forum', () => {
  test('a link opened in a topic brings alerts and answers there', async () => {
    const group = makeGroup({ isForum: true })
    const threadId = world.telegram.topic(group.id, 'Alerts')
    world.telegram.send(group.id, `/start@${BOT_NAME} ${await world.groupCode('alice')}`, {
      from: group.owner,
      threadId,
    })
    await world.settle()
    expect(group.last()).toMatchObject({ threadId, isTopic: true })
    expect(group.last().text).toContain('Alerts go to this topic.')
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ threadId }])
    expect(group.last().text).toContain('Alerts go to this topic.')
    await group.say('/start')
    expect(group.last().text).toContain('Alerts go to another topic.')
  })

  test('a link opened in General names no topic', async () => {
    const group = makeGroup({ isForum: true })
    await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
    expect(group.last().text).toContain(
      'Alerts go to the General topic. To move them, send /here in another',
    )
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ threadId: null }])
  })

  test('a reply to a message outside of a forum is not taken for a topic', async () => {
    const group = makeGroup()
    const { id } = world.telegram.migrate(group.id)
    await world.settle()
    const moved = world.chat(id, group.owner)
    const first = world.telegram.send(id, 'a message', { from: group.owner })
    world.telegram.send(id, `/start@${BOT_NAME} ${await world.groupCode('carol')}`, {
      from: group.owner,
      replyTo: first.message.id,
    })
    await world.settle()
    await moved.press('Link this chat')
    expect(await listChatLinks(world.app, id)).toMatchObject([{ threadId: null }])
  })

  test('an answer goes to General when its topic was closed meanwhile', async () => {
    const group = makeGroup({ isForum: true })
    const threadId = world.telegram.topic(group.id, 'Alerts')
    world.telegram.send(group.id, `/help@${BOT_NAME}`, { from: group.owner, threadId })
    world.telegram.closeTopic(group.id, threadId)
    await world.settle()
    expect(group.last()).toMatchObject({ threadId: undefined })
    expect(group.last().text).toContain('How it works')
  })

  test('a group that mutes the bot is answered again after it has unmuted it', async () => {
    const group = makeGroup()
    world.telegram.mute(group.id)
    await group.say(`/help@${BOT_NAME}`)
    expect(group.all()).toEqual([])
    world.telegram.promote(group.id)
    await group.say(`/help@${BOT_NAME}`)
    expect(group.last().text).toContain('How it works')
  })
})
