import { afterAll, beforeAll, expect, test } from 'vitest'
import { HELP_PAGES } from '#bot/features/help/view.ts'
import { packed } from '#src/actions/codec.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { type BotWorld, botWorld, menuNames, type TestChat } from '../support/bot.ts'
import { checkScreen } from '../support/buttons.ts'
import { BOT_NAME } from '../support/harness.ts'

const PAGE_MAX = 1200

let world: BotWorld

beforeAll(async () => {
  world = await botWorld({ PUBLIC_URL: 'https://watchdog.example.org' })
})
afterAll(() => world.close())

/** Opens a page of the help on the newest message, which another page may show. */
async function open(chat: TestChat, topic: (typeof HELP_PAGES)[number]): Promise<void> {
  const press = world.telegram.pressRaw(chat.id, chat.last().id, packed('help', { topic }))
  await world.settle()
  await press.answer()
}

test('/help says what this is, with its topics two a row, and each leads back', async () => {
  const ann = world.person()
  await ann.say('/help')
  const { id } = ann.last()
  expect(ann.last().text).toContain('How it works')
  expect(ann.last().text).toContain('never asks for a private key')
  expect(ann.labels()).toEqual([
    ['First steps', 'Watch types'],
    ['Reading alerts', 'Credits, slots'],
    ['Groups', 'Webhooks, API'],
    ['Privacy', 'Commands'],
    ['Guide', '‹ Menu'],
  ])
  for (const label of ann.labels().slice(0, -1).flat()) {
    await ann.press(label)
    expect(ann.last()).toMatchObject({ id, text: expect.stringMatching(`^${label}\n`) })
    expect(ann.last().text).toContain('never asks for a private key')
    await ann.press('‹ Help')
  }
  await ann.press('‹ Menu')
  expect(ann.last().text).toContain('Watchdog watches')
})

test.each(LOCALES)('every page in %s is short, and its topics stand two a row', async (locale) => {
  const ann = world.person(locale === 'zh' ? 'zh-hans' : locale)
  await ann.say('/help')
  checkScreen(ann.last())
  expect(ann.labels().map((row) => row.length)).toEqual([2, 2, 2, 2, 2])
  for (const page of HELP_PAGES) {
    await open(ann, page)
    expect(ann.last().text.split('\n')[0]).toContain(translate(locale, `bot:button.help.${page}`))
    expect([...ann.last().text].length).toBeLessThanOrEqual(PAGE_MAX)
    checkScreen(ann.last())
  }
})

test('its commands are every command there is, and nothing else', async () => {
  const ann = world.person()
  await ann.say('/help')
  await ann.press('Commands')
  expect(ann.last().text).toContain('/watches: Your watches')
  expect(ann.last().text.match(/^\/\w+/gm)).toEqual(menuNames('private').map((name) => `/${name}`))
})

test('each page ends in the button that does what it explains, as far as the chat may', async () => {
  const acts = {
    first: ['New watch'],
    types: ['New watch'],
    alerts: ['Example alert'],
    credits: ['Top up', 'Slots'],
    groups: ['Add to a group'],
    api: ['Documentation', 'Recipients'],
    privacy: ['Delete my data…'],
    commands: [],
  }
  const all = async (chat: TestChat) => {
    const found: Record<string, readonly string[]> = {}
    await chat.say('/help')
    for (const page of HELP_PAGES) {
      await open(chat, page)
      found[page] = chat.labels().flat().slice(0, -1)
    }
    return found
  }
  expect(await all(await world.linked('alice'))).toEqual(acts)
  const none = { first: [], types: [], credits: [], groups: [], api: ['Documentation'] }
  expect(await all(await world.linked('bob', ['read']))).toEqual({ ...acts, ...none })
  const connect = ['Connect wallet']
  const stranger = { ...none, first: connect, types: connect, credits: connect, groups: connect }
  expect(await all(world.person())).toEqual({ ...acts, ...stranger })
})

test('a deep link opens it, in a chat that is not linked too', async () => {
  for (const chat of [world.person(), await world.linked('alice')]) {
    await chat.say('/start help')
    expect(chat.last().text).toContain('How it works')
  }
})

/** A group with the bot, in which its owner speaks. */
function groupIn({ telegram, chat }: Pick<BotWorld, 'telegram' | 'chat'>): TestChat {
  const person = { firstName: 'Ann', languageCode: 'en', started: true }
  const { id: owner } = telegram.person(person)
  const { id } = telegram.group({ title: 'Node crew', members: [owner], admins: [owner] })
  return chat(id, owner)
}

test.each([
  ['mailto:desk@example.org', 'Questions? Contact: desk@example.org'],
  ['https://example.org/help', 'Questions? Contact: https://example.org/help'],
])('in a group it ends with where people reach the operator: %s', async (address, line) => {
  const supported = await botWorld({ SUPPORT_URL: address })
  const group = groupIn(supported)
  await group.say(`/help@${BOT_NAME}`)
  expect(group.last().text.split('\n').at(-1)).toBe(line)
  await supported.close()
})

test('in a group it says nothing of a contact if the operator names none', async () => {
  const group = groupIn(world)
  await group.say(`/help@${BOT_NAME}`)
  expect(group.last().text.split('\n').at(-1)).toContain('never asks for a private key')
  expect(group.last().text).not.toContain('Contact')
})

test('in a group it is one text with the group’s commands and the way into a private chat', async () => {
  const group = groupIn(world)
  await group.say(`/help@${BOT_NAME}`)
  expect(group.last().text.match(/^\/\w+/gm)).toEqual(
    menuNames('administrators').map((name) => `/${name}`),
  )
  const url = `https://t.me/${BOT_NAME}?start=help`
  expect(group.last().keyboard).toMatchObject([[{ text: 'Open in a private chat', url }]])
})
