import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { home } from '#bot/features/start/home-view.ts'
import { WALLETS_PER_PAGE, walletsScreen } from '#bot/features/wallets/view.ts'
import { packed } from '#src/actions/codec.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { deleteWatch, getWatch } from '#src/operations/rest/watches.ts'
import { linkChat, listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { BOT_NAME } from '../support/harness.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const short = (name: Parameters<typeof walletOf>[0]) => shortAddress(walletOf(name))

async function link(
  chat: TestChat,
  name: Parameters<typeof walletOf>[0],
  scopes: Parameters<BotWorld['linkCode']>[1] = ['read', 'write'],
): Promise<void> {
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
}

test('a chat of one wallet shows that one, and how to add another', async () => {
  const ann = await world.linked('alice')
  await ann.say('/settings')
  await ann.press('Wallets')
  expect(ann.last().text).toBe(`Wallets\n✓ ${short('alice')} · 0 watches · can manage`)
  expect(ann.labels()).toEqual([['Add a wallet', 'Unlink…'], ['‹ Menu']])
})

test('a chat of several shows the rights to each, and its screens are about the chosen one', async () => {
  const ann = world.person()
  await link(ann, 'bob', ['read'])
  await link(ann, 'alice', ['read', 'write', 'spend'])
  await world.addWatch('bob', { label: 'Of Bob' })
  await ann.say('/menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('alice')}`)
  await ann.say('wallets')
  expect(ann.last().text.split('\n')).toEqual(
    expect.arrayContaining([
      `✓ ${short('alice')} · 0 watches · can manage and spend`,
      `${short('bob')} · 1 watch · receive only`,
    ]),
  )
  expect(ann.labels()[0]).toEqual([`✓ ${short('alice')}`, short('bob')])

  await ann.press(short('bob'))
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
  expect(ann.last().text).toContain('This chat can only receive alerts.')
  await ann.say('/watches')
  expect(ann.last().text).toContain('Of Bob')
  await ann.say('wallets')
  expect(ann.labels()[0]).toEqual([short('alice'), `✓ ${short('bob')}`])
  await ann.press('‹ Menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
})

test('the chosen wallet is kept over a restart', async () => {
  const ann = world.person()
  await link(ann, 'bob')
  await link(ann, 'alice')
  await ann.say('wallets')
  await ann.press(short('bob'))
  await world.restart()
  await ann.say('/menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
})

test('a wallet that was unlinked meanwhile, or belongs to another chat, cannot be chosen', async () => {
  const ann = await world.linked('alice')
  const ben = await world.linked('bob')
  const [foreign] = await listChatLinks(world.app, ben.id)
  await ann.say('/menu')
  const data = packed('wallet.use', { id: foreign?.recipientId ?? 0 })
  world.telegram.pressRaw(ann.id, ann.last().id, data)
  await world.settle()
  expect(ann.last().text).toMatch(/^Wallets\n/)
  expect(ann.last().text).not.toContain(short('bob'))
})

test('any of many can be chosen from pages, which begin at the chosen one', async () => {
  const ann = world.person()
  const first = walletOf('alice')
  await link(ann, 'alice')
  const [known] = await listChatLinks(world.app, ann.id)
  const scopes = ['read', 'write'] as const
  for (let index = 1; index <= 16; index++) {
    const wallet = getAddress(`0x${index.toString(16).padStart(40, '0')}`)
    const chat = { id: ann.id, title: 'Ann' }
    await linkChat(world.app, {
      chat,
      by: { id: ann.id },
      locale: 'en',
      wallet,
      scopes,
      name: null,
      at: world.clock.now(),
    })
  }
  expect(known?.wallet).toBe(first)
  await ann.say('wallets')
  expect(ann.labels()).toEqual([
    [`✓ ${short('alice')}`],
    ['‹', '3 / 3', '›'],
    ['Add a wallet', 'Unlink…'],
    ['‹ Menu'],
  ])
  expect(ann.last().text).toContain(`✓ ${short('alice')} · 0 watches`)
  await ann.press('›')
  expect(ann.labels().flat()).toContain('1 / 3')
  expect(
    ann
      .labels()
      .flat()
      .filter((label) => label.startsWith('0x')),
  ).toHaveLength(8)
  await ann.press('›')
  await ann.press('0x0000…0002')
  expect(ann.last().text).toContain('Watchdog · 0x0000…0002')
  await ann.say('wallets')
  expect(ann.labels().flat()).toEqual(expect.arrayContaining(['✓ 0x0000…0002', '2 / 3']))
})

test('a manager of a group of several wallets chooses the one of its screens, which show no rights', async () => {
  const owner = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true }).id
  const member = world.telegram.person({ firstName: 'Cy', languageCode: 'en', started: true }).id
  const { id } = world.telegram.group({
    title: 'Node crew',
    members: [owner, member],
    admins: [owner],
  })
  const crew = world.chat(id, owner)
  for (const name of ['bob', 'alice'] as const) {
    await crew.say(`/start@${BOT_NAME} ${await world.groupCode(name)}`)
    await crew.press('Link this chat')
  }
  const ofBob = await world.addWatch('bob', { label: 'Of the group' })
  expect(crew.last().text).toContain(`is linked to ${short('alice')} and ${short('bob')}`)
  expect((await crew.press('Settings', member)).box).toBe(true)
  await crew.press('Settings')
  await crew.press(short('alice'))
  expect(crew.last().text.split('\n')).toContain(`✓ ${short('alice')} · 0 watches`)
  expect(crew.last().text).not.toContain('manage')
  expect(crew.labels()).toEqual([[`✓ ${short('alice')}`, short('bob')], ['Unlink…'], ['‹ Menu']])
  await crew.press(short('bob'))
  expect(crew.last().text).toContain(`Watchdog · ${short('bob')}`)
  await crew.press('Watches')
  expect(crew.last().text).toContain('Of the group')
  await world.as('bob', deleteWatch, { params: { id: String(ofBob) } })
})

test.each(LOCALES)('a page of wallets fits one screen in %s', (locale) => {
  for (const isGroup of [false, true]) {
    const reader = { t: translator(locale), timezone: 'UTC', isGroup, bot: 'bot' }
    const wallets = Array.from({ length: WALLETS_PER_PAGE }, (_, index) => ({
      recipientId: 2_000_000_000 + index,
      address: walletOf('alice'),
      scopes: ['read', 'write', 'spend'] as const,
      watches: 20,
      isChosen: index === 0,
    }))
    const { rows } = walletsScreen(reader, wallets, { page: 2, pages: 99 })
    expect(rows.length).toBeLessThanOrEqual(8)
  }
})

test.each(LOCALES)('the menu fits one screen in %s with every line it can have', async (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'bot' }
  const wallet = {
    address: walletOf('alice'),
    funds: { balanceCredits: 1_000_000, slots: { used: 20, total: 20, free: 0, waiting: 0 } },
    canWrite: true,
    mutedUntil: new Date('2026-11-20T20:00:00Z'),
    renewal: { at: new Date('2026-12-20T12:00:00Z'), credits: 10_000_000 },
    trial: {
      days: 14,
      terms: { version: '2026-11', url: 'https://watchdog.example.org/terms' },
      termsCode: '0123abcd',
    },
  }
  const now = new Date('2026-11-20T12:00:00Z')
  const id = await world.addWatch('carol', { label: 'Treasury' })
  const watch = await world.as('carol', getWatch, { params: { id: String(id) } })
  for (const watches of [[], [watch]]) {
    const { html, rows } = home(reader, wallet, watches, { now })
    expect(rows.flat().length).toBeLessThanOrEqual(6)
    expect(html).toContain('🔕')
  }
})
