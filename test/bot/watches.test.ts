import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { getWatch, listWatches } from '#src/operations/rest/watches.ts'
import { unlinkChat, updateChat } from '#src/recipients/chats.ts'
import { saveStates } from '#src/watches/state-store.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { changeLive } from '../support/live.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

type Name = 'alice' | 'bob' | 'carol'

const linked = (name: Name, scopes?: ('read' | 'write')[]) => world.linked(name, scopes)

beforeEach(() => world.clock.advance(90))

async function watchOf(name: Name, id: number) {
  const caller = { wallet: walletOf(name), scopes: ['read'], via: 'http' } as const
  const { output } = await invoke(world.app, getWatch, caller, { params: { id: String(id) } })
  return output
}

/** Buttons of the card of a balance watch that have a handler. */
const CARD = [
  ['Alerts', 'Mute…'],
  ['Rule', 'Recipients'],
  ['‹ Watches', 'More'],
]

/** Records that the watch's target was observed and the watch judged for the first time. */
async function observed(id: number, at: Date): Promise<void> {
  const observation = {
    position: 41_234_567,
    at: at.toISOString(),
    balanceUnits: '12345678000000000000000',
    symbol: 'FLR',
    decimals: 18,
    movement: null,
  }
  await world.app.db.execute(sql`
    update targets set observation = ${JSON.stringify(observation)}::jsonb,
      observed_at = ${at.toISOString()} where id = (select target_id from watches where id = ${id})`)
  await saveStates(world.app.db, [
    { watchId: id, state: { ...STATE, since: at, lastEvidenceAt: at } },
  ])
}

const STATE = {
  signal: 'balance-change',
  state: { balanceUnits: null },
  phase: 'ok',
  streak: null,
  severity: null,
  lastFiredAt: null,
  changes: [],
  cooldownUntil: null,
} as const

async function firing(
  watchId: number,
  signal: string,
  since: Date,
  severity: 'info' | 'warning' | 'critical',
): Promise<void> {
  const state = { ...STATE, signal, state: {}, phase: 'firing', severity, since } as const
  const states = [{ watchId, state: { ...state, lastEvidenceAt: since, lastFiredAt: since } }]
  await saveStates(world.app.db, states)
}

async function over(watchId: number, signal: string): Promise<void> {
  const at = world.app.clock.now()
  const state = { ...STATE, signal, state: {}, since: at, lastEvidenceAt: at, lastFiredAt: at }
  await saveStates(world.app.db, [{ watchId, state }])
}

/** Lets messages follow their subjects once. */
async function lookAgain(): Promise<void> {
  world.clock.advance(20)
  await changeLive(world)
}

async function openCard(chat: TestChat, id: number): Promise<void> {
  await chat.say(`/watches ${id}`)
}

describe('the list', () => {
  test('of a wallet without watches offers the types to watch', async () => {
    const carol = await linked('carol')
    await carol.say('/watches')
    expect(carol.last().text).toContain('You have no watches yet.')
    expect(carol.labels()).toEqual([
      ['💰 Wallet balance', '🛰️ Data provider'],
      ['📈 Price'],
      ['‹ Menu'],
    ])
    await carol.press('💰 Wallet balance')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    await world.giveSlots('carol', 1)
    await carol.say('/watches')
    await carol.press('💰 Wallet balance')
    expect(carol.last().text).toContain('Whose balance?')
  })

  test('has five watches a page, the worst first, and the first page after the last', async () => {
    const bob = await linked('bob')
    const { app } = world
    await world.giveSlots('bob', 9)
    for (const label of ['G', 'F', 'E', 'D']) await world.addWatch('bob', { label })
    await world.addWatch('bob', { label: 'Paused', status: 'paused' })
    await world.addWatch('bob', { label: 'Waiting', status: 'suspended' })
    const until = new Date(app.clock.now().getTime() + 3_600_000)
    await world.addWatch('bob', { label: 'Quiet', mutedUntil: until })
    const loud = await world.addWatch('bob', { label: 'Loud' })
    const since = app.clock.now()
    await saveStates(app.db, [
      {
        watchId: loud,
        state: {
          signal: 'balance-change',
          state: { balanceUnits: null },
          phase: 'firing',
          since,
          streak: null,
          severity: 'critical',
          lastEvidenceAt: since,
          lastFiredAt: since,
          changes: [],
          cooldownUntil: null,
        },
      },
    ])

    await bob.say('/watches')
    const page = bob.last().id
    expect(bob.last().text).toContain('Watches · 8 of 9')
    expect(bob.labels()).toEqual([
      ['🔴 💰 \u2068Loud\u2069'],
      ['🎟️ 💰 \u2068Waiting\u2069'],
      ['🟢 💰 \u2068D\u2069'],
      ['🟢 💰 \u2068E\u2069'],
      ['🟢 💰 \u2068F\u2069'],
      ['‹', '1 / 2', '›'],
      ['New watch', 'Status'],
      ['‹ Menu'],
    ])
    expect(bob.last().text).toContain('🔴 \u2068Loud\u2069 · Wallet balance · Balance change, 0 s')
    expect(bob.last().text).toContain('🎟️ \u2068Waiting\u2069 · Wallet balance · no slot')
    await bob.press('›')
    expect(bob.last().id).toBe(page)
    expect(bob.labels().slice(0, 3)).toEqual([
      ['🟢 💰 \u2068G\u2069'],
      ['🔕 💰 \u2068Quiet\u2069'],
      ['⏸️ 💰 \u2068Paused\u2069'],
    ])
    expect(bob.last().text).toMatch(/🔕 .*muted until \d\d:\d\d\u00a0UTC/)
    await bob.press('›')
    expect(bob.last().text).toContain('Loud')
    await bob.press('1 / 2')
    expect(bob.last().text).toContain('Loud')
  })

  test('shows the glyph of the type on the buttons of watches with the same name', async () => {
    const carol = await linked('carol')
    await world.giveSlots('carol', 3)
    await world.addWatch('carol', { label: 'Alpha' })
    await world.addWatch('carol', { label: 'Beta' })
    const target = { feed: 'FLR/USD' }
    await world.addWatch('carol', { label: 'Alpha', type: 'feed-move', target })
    await carol.say('/watches')
    expect(carol.labels().flat()).toEqual(
      expect.arrayContaining([
        '🟢 💰 \u2068Alpha\u2069',
        '🟢 📈 \u2068Alpha\u2069',
        '🟢 💰 \u2068Beta\u2069',
      ]),
    )
  })

  test('shows the last page for one beyond it', async () => {
    const bob = await linked('bob')
    await bob.say('/watches')
    world.telegram.pressRaw(bob.id, bob.last().id, packed('watch.list', { page: 9 }))
    await world.settle()
    expect(bob.last().text).toContain('Paused')
  })
})

describe('the card', () => {
  test('says what is watched and when an alert comes', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    expect(alice.last().text).toContain('🟢 \u2068Treasury\u2069')
    expect(alice.last().text).toContain(`Wallet balance · #${id} · not checked yet`)
    expect(alice.last().text).toContain(`Wallet: ${walletOf('bob')} (\u2068FLR\u2069)`)
    expect(alice.last().text).toContain(
      'Alert: a change of 100\u00a0FLR or more, in either direction',
    )
    expect(alice.last().text).toContain('Notifies: \u2068this chat')
    expect(alice.labels()).toEqual(CARD)
  })

  test('shows the last observation, and since when there is no data', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await observed(id, world.app.clock.now())
    await openCard(alice, id)
    expect(alice.last().text).toContain('Balance: 12,345.68\u00a0FLR (block 41234567)')
    expect(alice.last().text).toContain('Baseline read:')
    expect(alice.last().text).not.toContain('behind')
    world.clock.advance(180)
    await openCard(alice, id)
    expect(alice.last().text).toMatch(/⚪ No data since /)
    expect(alice.last().text).toContain('Balance: 12,345.68\u00a0FLR (block 41234567)')
    world.clock.advance(-180)
  })

  test('says since when it fires, and with which severity', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', {
      label: 'Credits',
      type: 'credits-balance',
      target: {},
      settings: { limit: 500 },
    })
    const since = new Date(world.app.clock.now().getTime() - 12 * 60_000)
    await firing(id, 'credits-threshold', since, 'warning')
    await openCard(alice, id)
    expect(alice.last().text).toMatch(/^🟠 \u2068Credits\u2069 · for 12 min/)
    expect(alice.last().text).toMatch(/🟠 Warning since \d\d:\d\d/)
    expect(alice.last().text).toContain('Alert: below 0.50\u00a0USD (500 credits)')
    expect(alice.labels()[1]).toEqual(['Rule', 'Recipients'])
    await alice.press('Rule')
    expect(alice.labels().flat()).toEqual(['Limit', '‹ \u2068Credits\u2069'])
  })

  test('of a firing watch follows it by itself, until nothing fires any more', async () => {
    const alice = await linked('alice')
    const limit = { type: 'credits-balance', target: {}, settings: { limit: 500 } }
    const id = await world.addWatch('alice', { label: 'Credits', ...limit })
    const since = world.app.clock.now()
    await firing(id, 'credits-threshold', since, 'warning')
    await openCard(alice, id)
    const card = alice.last()
    await lookAgain()
    expect(alice.last().text).toBe(card.text)
    await firing(id, 'credits-threshold', since, 'critical')
    await lookAgain()
    expect(alice.last().text).toMatch(/^🔴 \u2068Credits\u2069/)
    await over(id, 'credits-threshold')
    await lookAgain()
    expect(alice.last()).toMatchObject({ id: card.id, keyboard: card.keyboard })
    expect(alice.last().text).toMatch(/^🟢 \u2068Credits\u2069$/m)
    await firing(id, 'credits-threshold', since, 'critical')
    await lookAgain()
    expect(alice.last().text).not.toContain('🔴')
  })

  test('that shows another screen meanwhile follows its watch no more', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Other' })
    await firing(id, 'balance-change', world.app.clock.now(), 'warning')
    await openCard(alice, id)
    await alice.press('More')
    const { text } = alice.last()
    await over(id, 'balance-change')
    await lookAgain()
    expect(alice.last().text).toBe(text)
  })

  test('in a chat that only receives has its buttons when it turns, and no others', async () => {
    const bob = await linked('bob', ['read'])
    const id = await world.addWatch('bob', { label: 'Read' })
    await firing(id, 'balance-change', world.app.clock.now(), 'warning')
    await openCard(bob, id)
    const { keyboard } = bob.last()
    await over(id, 'balance-change')
    await lookAgain()
    expect(bob.last().text).toMatch(/^🟢/)
    expect(bob.last().keyboard).toEqual(keyboard)
  })

  test('names a token by its contract', async () => {
    const alice = await linked('alice')
    const asset = '0x1D80c49BbBCd1C0911346656B529DF9E5c2F783d'
    const id = await world.addWatch('alice', { label: 'Wrapped', asset, direction: 'down' })
    await openCard(alice, id)
    expect(alice.last().text).toContain('(\u20680x1D80…783d\u2069)')
    expect(alice.last().text).toContain('Alert: a decrease of 100\u00a00x1D80…783d or more')
  })

  test('pauses and resumes the watch in place', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const card = alice.last().id
    await alice.press('More')
    await alice.press('Pause')
    expect((await watchOf('alice', id)).status).toBe('paused')
    expect(alice.last().id).toBe(card)
    expect(alice.last().text).toContain('⏸️ Paused by you. It keeps its slot.')
    expect(alice.last().text).toContain('✓ Watch paused.')
    expect(alice.labels()[0]).toEqual(['Alerts', 'Resume'])
    await alice.press('Resume')
    expect((await watchOf('alice', id)).status).toBe('active')
    expect(alice.last().text).toContain('✓ Watch resumed.')
    await openCard(alice, id)
    expect(alice.last().text).not.toContain('✓')
  })

  test('answers a press in a toast, without a message, when Telegram says that it is not modified', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const before = alice.all().length
    const again = world.telegram.pressRaw(alice.id, alice.last().id, packed('watch.card', { id }))
    await world.settle()
    expect((await again.answer()).text).toBe('Already up to date.')
    expect(world.telegram.lastCall('editMessageText')?.refused?.description).toContain(
      'not modified',
    )
    expect(alice.all()).toHaveLength(before)
  })

  test('deletes the watch after one question that names it', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'A name of more than sixteen letters' })
    await openCard(alice, id)
    await alice.press('More')
    await alice.press('Delete…')
    expect(alice.last().text).toContain('Delete \u2068A name of more than sixteen letters\u2069?')
    expect(alice.last().keyboard).toMatchObject([
      [{ text: 'Delete \u2068A name of more t…\u2069', style: 'danger' }],
      [{ text: '‹ Keep' }],
    ])
    await alice.press('‹ Keep')
    expect(alice.labels()).toEqual(CARD)
    await alice.press('More')
    await alice.press('Delete…')
    await alice.press(packed('watch.deleteYes', { id }))
    expect(alice.last().text).toContain(
      '✓ \u2068A name of more than sixteen letters\u2069 is deleted.',
    )
    await expect(watchOf('alice', id)).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('says on every press that the watch no longer exists', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Short-lived' })
    for (const verb of ['watch.card', 'watch.pause', 'watch.resume', 'watch.delete'] as const) {
      await openCard(alice, id)
      world.telegram.pressRaw(alice.id, alice.last().id, packed(verb, { id: id + 1_000_000 }))
      await world.settle()
      expect(alice.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
      expect(alice.labels()).toEqual([['Watches', 'Alerts'], ['‹ Menu']])
    }
  })

  test('shows one deletion when Delete is pressed twice, and once more later', async () => {
    const carol = await linked('carol')
    const id = await world.addWatch('carol', { label: 'Twice' })
    await openCard(carol, id)
    await carol.press('More')
    await carol.press('Delete…')
    const data = packed('watch.deleteYes', { id })
    const { id: question } = carol.last()
    world.telegram.press(carol.id, question, data)
    world.telegram.press(carol.id, question, data)
    await world.settle()
    const { text } = carol.last()
    expect(text).toContain('✓ \u2068Twice\u2069 is deleted.')
    await expect(watchOf('carol', id)).rejects.toMatchObject({ kind: 'not_found' })
    world.telegram.pressRaw(carol.id, question, data)
    await world.settle()
    expect(carol.last()).toMatchObject({ id: question, text })
  })

  test('of another wallet is not found', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('carol', { label: 'Not yours' })
    await openCard(alice, id)
    expect(alice.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    const message = alice.last().id
    world.telegram.pressRaw(alice.id, message, packed('watch.deleteYes', { id }))
    await world.settle()
    expect((await watchOf('carol', id)).label).toBe('Not yours')
  })

  test('of each wallet of the chat opens, whichever is chosen', async () => {
    const groupChat = await linked('alice')
    await groupChat.say(`/start ${await world.linkCode('carol')}`)
    await groupChat.press('Link this chat')
    const id = await world.addWatch('alice', { label: 'First wallet' })
    await openCard(groupChat, id)
    expect(groupChat.last().text).toContain('First wallet')
    await groupChat.press('More')
    await groupChat.press('Pause')
    expect((await watchOf('alice', id)).status).toBe('paused')
  })

  test('has no buttons for changes in a chat that only receives, and a forged press is refused', async () => {
    const reader = await linked('carol', ['read'])
    const id = await world.addWatch('carol', { label: 'Look only' })
    await openCard(reader, id)
    expect(reader.last().text).toContain('This chat can only receive alerts.')
    expect(reader.last().text).not.toContain('Notifies')
    expect(reader.labels()).toEqual([['‹ Watches']])
    world.telegram.pressRaw(reader.id, reader.last().id, packed('watch.pause', { id }))
    await world.settle()
    expect(reader.last().text).toMatch(/^⚠️ This chat is not allowed to do that\./)
    expect(reader.last().text).toContain('Look only')
    expect((await watchOf('carol', id)).status).toBe('active')
    world.telegram.pressRaw(reader.id, reader.last().id, packed('watch.deleteYes', { id }))
    await world.settle()
    expect((await watchOf('carol', id)).label).toBe('Look only')
  })

  test('with a hostile name stays readable', async () => {
    const carol = await linked('carol')
    const label = '<b>&"\'_*[]()~`</a> عربي <3'
    const id = await world.addWatch('carol', { label })
    await openCard(carol, id)
    expect(carol.last().text).toContain(label)
    await carol.press('More')
    await carol.press('Delete…')
    await carol.press('‹ Keep')
    await carol.say('/watches')
    await carol.press('›')
    expect(carol.last().text).toContain(label)
  })

  test('is sent again when its message was deleted', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    const { id: messageId } = alice.last()
    world.telegram.failNext('editMessageText', {
      error_code: 400,
      description: 'Bad Request: message to edit not found',
    })
    await alice.press('More')
    await alice.press('Pause')
    expect(alice.last().id).not.toBe(messageId)
    expect(alice.last().text).toContain('✓ Watch paused.')
  })

  test('is shown without markup when Telegram refuses the markup', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    world.telegram.failNext('sendMessage', {
      error_code: 400,
      description: "Bad Request: can't parse entities: Unsupported start tag",
    })
    await openCard(alice, id)
    expect(alice.last().text).toContain('Treasury')
    expect(alice.last().entities.filter(({ type }) => type === 'bold')).toEqual([])
    expect(alice.labels()).toEqual(CARD)
  })
})

describe('More', () => {
  test('has what is rarely needed, and deletion', async () => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    await alice.press('More')
    expect(alice.last().text).toContain('Created: ')
    expect(alice.labels().flat()).toEqual([
      ...['Name', 'Pause', 'Test', 'Minimum severity', 'Delete…', '‹ \u2068Treasury\u2069'],
    ])
  })

  test('says which suspended watch gets the slot of a deleted one', async () => {
    const dave = await linked('bob')
    for (const { id } of (await world.as('bob', listWatches)).data) {
      await world.app.db.execute(sql`delete from watches where id = ${id}`)
    }
    await world.giveSlots('bob', 1)
    const first = await world.addWatch('bob', { label: 'First' })
    await world.addWatch('bob', { label: 'Second', status: 'suspended' })
    await dave.say(`/watches ${first}`)
    await dave.press('More')
    await dave.press('Delete…')
    await dave.press(packed('watch.deleteYes', { id: first }))
    expect(dave.last().text).toContain('The longest-waiting watch has resumed: \u2068Second\u2069.')
  })
})

describe('a mute', () => {
  test.each([
    ['1\u00a0h', 1],
    ['8\u00a0h', 8],
    ['24\u00a0h', 24],
    ['7 days', 168],
  ])('of %s has that end, and can be ended before', async (label, hours) => {
    const alice = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    await alice.press('Mute…')
    expect(alice.last().text).toContain('Webhooks still receive them.')
    await alice.press(label)
    expect(alice.last().text).toContain('✓ Muted until')
    const until = world.app.clock.now().getTime() + hours * 3_600_000
    expect((await watchOf('alice', id)).mutedUntil?.getTime()).toBe(until)
    await alice.press('Unmute')
    expect(alice.last().text).toContain('✓ No longer muted.')
    expect((await watchOf('alice', id)).mutedUntil).toBeNull()
  })

  test('until 08:00 is in the time zone of the chat', async () => {
    const alice = await linked('alice')
    await updateChat(world.app, { chatId: alice.id, timezone: 'Asia/Dhaka' })
    const id = await world.addWatch('alice', { label: 'Treasury' })
    await openCard(alice, id)
    await alice.press('Mute…')
    await alice.press('Until 08:00')
    const { mutedUntil } = await watchOf('alice', id)
    expect(mutedUntil?.toISOString()).toMatch(/T02:00:00\.000Z$/)
    expect(alice.last().text).toContain('08:00')
  })
})

test('a press in a chat that was unlinked meanwhile says that it is not linked', async () => {
  const alice = await linked('alice')
  await alice.say('/watches')
  await unlinkChat(world.app, { chatId: alice.id })
  world.telegram.pressRaw(alice.id, alice.last().id, packed('watch.list', { page: 1 }))
  await world.settle()
  expect(alice.last().text).toBe('This chat is no longer linked.')
  await alice.say('/watches')
  expect(alice.last().text).toContain('Watchdog watches wallets')
})
