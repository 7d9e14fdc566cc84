/** The way from the greeting of a group to a linked group, through the private chat. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { connectWallet } from '../support/connect-page.ts'
import { BOT_NAME } from '../support/harness.ts'
import { changeLive } from '../support/live.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld({ PUBLIC_URL: 'https://watchdog.example.org' })
})
afterAll(() => world.close())

/** A group that just added the bot, as its owner sees it. */
async function newGroup(
  owner: TestChat,
  { isForum = false, others = [] as readonly number[] } = {},
): Promise<TestChat> {
  const { id } = world.telegram.group({
    title: 'Node crew',
    members: [owner.id, ...others],
    bot: 'left',
    isForum,
  })
  world.telegram.addBot(id, { from: owner.id })
  await world.settle()
  return world.chat(id, owner.id)
}

/** The start parameter of the button *Set up*. */
function payloadOf(group: TestChat): string {
  const url = group.last().keyboard[0]?.[0]?.url ?? ''
  return new URL(url).searchParams.get('start') ?? ''
}

const greetings = (group: TestChat) => group.all().filter(({ text }) => text.includes('👋'))

describe('“Set up” in a group', () => {
  test('asks in the private chat for the rights of that group, and in the group for consent', async () => {
    const ann = await world.linked('alice')
    const group = await newGroup(ann)
    // A link is recognized by its time.
    world.clock.advance(5)
    await ann.say(`/start ${payloadOf(group)}`)
    expect(ann.last().text).toMatch(/^What should \u2068Node crew\u2069 be allowed to do\?\n/)
    expect(ann.labels()).toEqual([
      ['Members acknowledge'],
      ['Only administrators'],
      ['Receive only'],
      ['‹ Recipients'],
    ])
    const [, , members, admins, receive] = ann.last().text.split('\n')
    expect(members).toMatch(/^Members acknowledge: .*only the administrators who are linked/)
    expect(admins).toMatch(/^Only administrators: these administrators alone/)
    expect(receive).toMatch(/^Receive only: nobody there can /)
    await ann.press('Only administrators')
    expect(ann.last().text).toMatch(/^One step left: confirm the link in \u2068Node crew\u2069\./)
    expect(
      ann
        .last()
        .keyboard.flat()
        .filter(({ url }) => url !== undefined),
    ).toEqual([])
    expect(group.all()).toHaveLength(1)
    expect(group.last().text).toContain('Link this chat?')

    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([
      {
        ...{ wallet: walletOf('alice'), name: 'Node crew', scopes: ['read', 'write'] },
        membersAcknowledge: false,
      },
    ])
    expect(greetings(group)).toEqual([])
    expect(group.all()).toHaveLength(1)
    await changeLive(world, { handles: [walletOf('alice')] })
    expect(ann.last().text).toContain('\u2068Node crew\u2069 is linked. Permissions:')
  })

  test('with “Receive only” gives the group no right to manage', async () => {
    const ann = await world.linked('alice')
    const group = await newGroup(ann)
    await ann.say(`/start ${payloadOf(group)}`)
    await ann.press('Receive only')
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ scopes: ['read'] }])
  })

  test('shows the card in the topic in which it was pressed, for the alerts to arrive there', async () => {
    const ann = await world.linked('alice')
    const group = await newGroup(ann, { isForum: true })
    const threadId = world.telegram.topic(group.id, 'Alerts')
    world.telegram.send(group.id, `/start@${BOT_NAME}`, { from: ann.id, threadId })
    await world.settle()
    await ann.say(`/start ${payloadOf(group)}`)
    await ann.press('Receive only')
    expect(group.last()).toMatchObject({ threadId })
    expect(group.last().text).toContain('Alerts go to this topic.')
    await group.press('Link this chat')
    expect(await listChatLinks(world.app, group.id)).toMatchObject([{ threadId }])
  })

  test('connects a wallet first, and goes on with that group', async () => {
    const ann = world.person()
    const group = await newGroup(ann)
    await ann.say(`/start ${payloadOf(group)}`)
    await ann.press('New code')
    await connectWallet(world, ann, 'alice')
    expect(ann.labels()[0]).toEqual(['Set up the group'])
    await ann.press('Set up the group')
    expect(ann.last().text).toMatch(/^What should \u2068Node crew\u2069 be allowed to do\?\n/)
  })

  test('is refused to people who do not administer the group, without its name', async () => {
    const [ann, bo] = [world.person(), await world.linked('bob')]
    const cy = await world.linked('carol')
    const group = await newGroup(ann, { others: [bo.id] })
    for (const other of [bo, cy]) {
      await other.say(`/start ${payloadOf(group)}`)
      expect(other.last().text).toBe(
        '⚠️ Only an administrator of that group can set up alerts there.',
      )
      const data = packed('rec.group', { chat: group.id, topic: undefined, rights: 'all' })
      world.telegram.pressRaw(other.id, other.last().id, data)
      await world.settle()
      expect(other.last().text).not.toContain('Node crew')
    }
    expect(greetings(group)).toHaveLength(1)
    expect(group.all()).toHaveLength(1)
  })

  test('offers the usual link where the bot may not write, or the group has another id now', async () => {
    const ann = await world.linked('alice')
    const group = await newGroup(ann)
    const payload = payloadOf(group)
    world.telegram.mute(group.id)
    await ann.say(`/start ${payload}`)
    await ann.press('Receive only')
    expect(
      ann
        .last()
        .keyboard.flat()
        .some(({ url }) => url?.includes('startgroup=')),
    ).toBe(true)
    world.telegram.migrate(group.id)
    await world.settle()
    await ann.say(`/start ${payload}`)
    expect(ann.last().text).toMatch(/^What should the other chat be allowed to do\?\n/)
  })
})

test('a group is greeted once, however often it is asked to be', async () => {
  const ann = world.person()
  const group = await newGroup(ann)
  for (const command of ['/start', '/menu', '/watches']) {
    await group.say(`${command}@${BOT_NAME}`)
    expect(greetings(group)).toHaveLength(1)
  }
  world.telegram.kick(group.id)
  world.telegram.addBot(group.id, { from: ann.id })
  await world.settle()
  expect(greetings(group)).toHaveLength(1)
})
