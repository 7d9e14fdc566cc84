import { afterAll, beforeAll, expect, test } from 'vitest'
import { packed } from '#bot/callback-data.ts'
import { home } from '#bot/views/home.ts'
import { walletsScreen } from '#bot/views/wallets.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { getWatch } from '#src/operations/watches.ts'
import { chatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type Chatting, walletOf } from '../support/bot.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const short = (name: Parameters<typeof walletOf>[0]) => shortAddress(walletOf(name))

async function link(
  chat: Chatting,
  name: Parameters<typeof walletOf>[0],
  scopes: Parameters<BotWorld['linkCode']>[1] = ['read', 'write'],
): Promise<void> {
  await chat.say(`/start ${await world.linkCode(name, scopes)}`)
  await chat.press('Link this chat')
}

test('a chat of one wallet sees that one, and the ways to another', async () => {
  const ann = await world.linked('alice')
  await ann.say('/menu')
  await ann.press('Wallets')
  expect(ann.last().text).toBe(`Wallets\n✓ ${short('alice')} · 0 watches · can manage`)
  expect(ann.labels()).toEqual([['Connect another', 'Unlink…'], ['‹ Menu']])
})

test('a chat of several sees what each may, and goes on with the one it chooses', async () => {
  const ann = world.person()
  await link(ann, 'bob', ['read'])
  await link(ann, 'alice', ['read', 'write', 'spend'])
  await world.addWatch('bob', { label: 'Of Bob' })
  await ann.say('/menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('alice')}`)
  await ann.press(short('alice'))
  expect(ann.last().text.split('\n')).toEqual(
    expect.arrayContaining([
      `✓ ${short('alice')} · 0 watches · can manage and spend`,
      `${short('bob')} · 1 watch · only receives`,
    ]),
  )
  expect(ann.labels()[0]).toEqual([`✓ ${short('alice')}`, short('bob')])

  await ann.press(short('bob'))
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
  expect(ann.last().text).toContain('This chat only receives.')
  await ann.say('/watches')
  expect(ann.last().text).toContain('Of Bob')
  await ann.say('/menu')
  await ann.press(short('bob'))
  expect(ann.labels()[0]).toEqual([short('alice'), `✓ ${short('bob')}`])
  await ann.press('‹ Menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
})

test('what is chosen outlives a restart', async () => {
  const ann = world.person()
  await link(ann, 'bob')
  await link(ann, 'alice')
  await ann.press(short('alice'))
  await ann.press(short('bob'))
  await world.restart()
  await ann.say('/menu')
  expect(ann.last().text).toContain(`Watchdog · ${short('bob')}`)
})

test('a wallet that was unlinked meanwhile, or is somebody else’s, cannot be chosen', async () => {
  const ann = await world.linked('alice')
  const ben = await world.linked('bob')
  const [foreign] = await chatLinks(world.app, ben.id)
  await ann.say('/menu')
  const data = packed('wallet.use', { id: foreign?.recipientId ?? 0 })
  world.telegram.pressRaw(ann.id, ann.last().id, data)
  await world.settle()
  expect(ann.last().text).toMatch(/^Wallets\n/)
  expect(ann.last().text).not.toContain(short('bob'))
})

test.each(LOCALES)('many wallets fit one screen in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'bot' }
  const wallets = Array.from({ length: 30 }, (_, index) => ({
    recipientId: 2_000_000_000 + index,
    address: walletOf('alice'),
    scopes: ['read', 'write', 'spend'] as const,
    watches: 20,
    isChosen: index === 0,
  }))
  const { html, rows } = walletsScreen(reader, wallets)
  expect(rows.length).toBeLessThanOrEqual(8)
  expect(html).toContain('20')
})

test.each(LOCALES)('the home fits one screen in %s, whatever it has to say', async (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'bot' }
  const wallet = {
    address: walletOf('alice'),
    funds: { balanceCredits: 1_000_000, slots: { used: 20, total: 20, free: 0, waiting: 0 } },
    canWrite: true,
    mutedUntil: new Date('2026-11-20T20:00:00Z'),
    renewal: { at: new Date('2026-12-20T12:00:00Z'), credits: 10_000_000 },
  }
  const kept = [['bot:button.sendKept', 'bot:button.dropKept'] as const].map((row) =>
    row.map((key) => ({ label: reader.t(key, { count: 1000 }), data: packed('home') })),
  )
  const now = new Date('2026-11-20T12:00:00Z')
  const id = await world.addWatch('carol', { label: 'Treasury' })
  const watch = await world.as('carol', getWatch, { params: { id: String(id) } })
  for (const isOneOfSeveral of [true, false]) {
    for (const watches of [[], [watch]]) {
      const { html, rows } = home(reader, { ...wallet, isOneOfSeveral }, watches, {
        now,
        rows: kept,
      })
      expect(rows.length).toBeLessThanOrEqual(8)
      expect(html).toContain('🔕')
    }
  }
})
