import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteDraft } from '#bot/core/session-store.ts'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { packed } from '#src/actions/codec.ts'
import { createSubscription } from '#src/operations/rest/subscriptions.ts'
import { deleteWatch, listWatches } from '#src/operations/rest/watches.ts'
import { watchStart } from '#src/telegram/links.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { testClock } from '../support/clock.ts'

let world: BotWorld
let devnet: DevnetWithContracts
let ann: TestChat

const BOB = walletOf('bob')
const NO_TOKEN = '0x1D80c49BbBCd1C0911346656B529DF9E5c2F783d'
/** A label that stands in an isolate. */
const iso = (label: string) => `\u2068${label}\u2069`

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: testClock().now() })
  const { registry, wflr, fxrp } = devnet.contracts
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: registry,
    WFLR_ADDRESS: wflr,
    FXRP_ADDRESS: fxrp,
  })
  await devnet.mine(2, 1)
  await world.giveSlots('alice', 3)
  ann = await world.linked('alice')
})
afterAll(async () => {
  await world.close()
  await devnet.close()
})

async function watches() {
  const { data } = await world.as('alice', listWatches)
  return data
}

beforeEach(async () => {
  // Avoids the flood limit.
  world.clock.advance(90)
  for (const { id } of await watches()) {
    await world.as('alice', deleteWatch, { params: { id: String(id) } })
  }
  await deleteDraft(world.app.db, { chatId: ann.id, personId: ann.id })
})

describe('state that another version of the bot stored', () => {
  test('does not prevent a new form', async () => {
    await ann.say('/new')
    await ann.press('💰 Wallet balance')
    await world.database.sql`
      update telegram_drafts set values = '{"step":"gone"}' where chat_id = ${ann.id}`
    await ann.say('/new')
    await ann.press('📈 Price')
    expect(ann.last().text).toContain('New watch · Price')
  })
  test('of an open question closes that question', async () => {
    await ann.say('/new')
    await ann.press('💰 Wallet balance')
    await ann.press('Other token…')
    await world.database.sql`
      update telegram_questions set about = '[]' where chat_id = ${ann.id}`
    await ann.say('hello')
    const [row] = await world.database.sql`
      select count(*)::int as open from telegram_questions where chat_id = ${ann.id}`
    expect(row?.open).toBe(0)
  })
})

describe('/new', () => {
  test('asks what is to be watched, with every type that can be made', async () => {
    await ann.say('/new')
    expect(ann.last().text).toContain('New watch · free: 3 of 3')
    expect(ann.labels().flat()).toEqual([
      '💰 Wallet balance',
      '🛰️ Data provider',
      '📈 Price',
      '🪪 Eligibility',
      '✍️ Reward signing',
      '‹ Watches',
      '‹ Menu',
    ])
  })

  test('begins with the type that is named', async () => {
    await ann.say('/new wallet')
    expect(ann.last().text).toMatch(/^New watch · Wallet balance · 1\/3/)
    await ann.say('/new price')
    expect(ann.last().text).toMatch(/^New watch · Price · 1\/3/)
    await ann.say('/new nonsense')
    expect(ann.last().text).toContain('What should be watched?')
  })

  test('is refused in a group, with a link to the private chat', async () => {
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id] })
    const group = world.chat(id, ann.id)
    await group.say('/new')
    expect(group.last().text).toBe('Only available in a private chat.')
    expect(group.last().keyboard[0]?.[0]?.url).toContain('?start=new')
  })

  test('opens by a link, with or without a type', async () => {
    await ann.say('/start new')
    expect(ann.last().text).toContain('What should be watched?')
    await ann.say('/start new-feed-move')
    expect(ann.last().text).toMatch(/^New watch · Price · 1\/3/)
  })

  test('opens by a link with an address, at the step after it', async () => {
    const { address } = PEOPLE.bob.account
    await ann.say(`/start ${watchStart('wallet-balance', address)}`)
    expect(ann.last().text).toMatch(/^New watch · Wallet balance · 2\/3/)
    expect(ann.last().text).toContain(address)
    await ann.say(`/start ${watchStart('nonsense', address)}`)
    expect(ann.last().text).toContain('What should be watched?')
  })
})

describe('a watch of a balance', () => {
  test('is created in five taps, and shows its present value', async () => {
    await ann.say('/new')
    const form = ann.last().id
    await ann.press('💰 Wallet balance')
    expect(ann.labels()).toEqual([
      [iso('My wallet')],
      ['✓ FLR', 'WFLR', 'FXRP'],
      ['All assets'],
      ['Other token…'],
      ['‹ Types', '✕ Cancel'],
    ])
    await ann.press(iso('My wallet'))
    expect(ann.last().text).toMatch(/^New watch · Wallet balance · 2\/3/)
    expect(ann.last().text).toMatch(/Balance: 10,000\u00a0FLR \(block \d+\)/)
    expect(ann.labels()).toEqual([
      ['10\u00a0FLR', '100\u00a0FLR'],
      ['1,000\u00a0FLR'],
      ['✓ Any', 'Incoming', 'Outgoing'],
      ['Another rule…'],
      ['‹ Target', '✕ Cancel'],
    ])
    await ann.press('100\u00a0FLR')
    expect(ann.last().text).toMatch(/^New watch · Wallet balance · 3\/3/)
    expect(ann.last().text).toContain(
      'Alert: a change of 100\u00a0FLR or more, in either direction',
    )
    expect(ann.last().text).toContain('Notifies: \u2068this chat\u2069')
    expect(ann.last().text).toContain('Still free: 3')
    await ann.press('Create')
    expect(ann.last().id).toBe(form)
    expect(ann.last().text).toMatch(/^✅ .*My wallet.* is now being watched\./)
    expect(ann.labels()).toEqual([
      ['Send a test alert'],
      ['Open watch', 'New watch'],
      ['‹ Watches'],
    ])
    const [watch, ...others] = await watches()
    expect(others).toEqual([])
    expect(watch).toMatchObject({
      type: 'wallet-balance',
      target: { address: walletOf('alice'), asset: 'FLR' },
      settings: { threshold: '100', direction: 'any' },
      recipientIds: null,
      minSeverity: 'info',
    })
    await ann.press('Open watch')
    expect(ann.last().text).toContain(`#${watch?.id}`)
  })

  test('takes typed answers, and keeps what was entered when one is refused', async () => {
    await ann.say('/new wallet')
    const form = ann.last().id
    await ann.say('no address at all')
    expect(ann.last().id).toBe(form)
    expect(ann.last().text).toMatch(/^⚠️ That is not an address\./)
    await ann.say(`https://explorer.example.org/address/${BOB.toLowerCase()}?tab=txs`)
    expect(ann.last().id).toBe(form)
    expect(ann.last().text).toContain(`Wallet: ${BOB}`)
    await ann.say('0')
    expect(ann.last().text).toMatch(/^⚠️ “\u20680\u2069” is too small\. The minimum is /)
    expect(ann.last().text).toContain(`Wallet: ${BOB}`)
    await ann.say('۱٬۲۵۰٫۵ FLR')
    expect(ann.last().text).toContain('a change of 1,250.5\u00a0FLR or more')
    await ann.press('Name…')
    await ann.say('x'.repeat(41))
    expect(ann.last().text).toMatch(/^⚠️ /)
    await ann.say('Treasury <b>')
    expect(ann.last().text).toContain('Name: \u2068Treasury <b>\u2069')
    await ann.press('Create')
    expect(await watches()).toMatchObject([
      { label: 'Treasury <b>', target: { address: BOB }, settings: { threshold: '1250.5' } },
    ])
    expect(
      ann
        .all()
        .filter(({ keyboard }) => keyboard.length > 0)
        .at(-1)?.id,
    ).toBe(form)
  })

  test('of a token is found by its address, and refused where there is none', async () => {
    await ann.say('/new wallet')
    await ann.press('Other token…')
    expect(ann.last().text).toContain('Which token?')
    await ann.say(NO_TOKEN)
    expect(ann.labels().flat()).toContain('✓ 0x1D80…783d')
    await ann.press(iso('My wallet'))
    expect(ann.last().text).toMatch(/^⚠️ No ERC-20 token \(with symbol and decimals\) was found/)
    await ann.press('Other token…')
    await ann.say(devnet.contracts.serviceToken)
    await ann.press(iso('My wallet'))
    expect(ann.last().text).toMatch(/Wallet: .*\(\u2068\w+\u2069\)/)
    await ann.press('10% ≈ 100,000\u00a0WDG').catch(() => ann.say('5'))
    await ann.press('Create')
    expect(await watches()).toMatchObject([
      { target: { address: walletOf('alice'), asset: devnet.contracts.serviceToken } },
    ])
  })

  test('is said to exist already, with a button that opens it', async () => {
    const id = await world.addWatch('alice', { label: 'Old one' })
    await ann.say('/new wallet')
    await ann.press('\u2068Old one\u2069')
    expect(ann.last().text).toContain('⚠️ You already have a watch for this: \u2068Old one\u2069.')
    await ann.press('Open watch')
    expect(ann.last().text).toContain(`#${id}`)
  })

  test('can be created without its present value while the chain does not answer', async () => {
    const away = await botWorld()
    await away.giveSlots('alice', 1)
    const chat = await away.linked('alice')
    await chat.say('/new wallet')
    expect(chat.last().text).toContain(', or choose:\n\nWhich asset?')
    await chat.press(iso('My wallet'))
    expect(chat.last().text).toContain('The balance cannot be read right now.')
    expect(chat.last().text).toMatch(/[^\n]\n\nIn which direction\?$/)
    await chat.press('100\u00a0FLR')
    await chat.press('Create')
    expect((await away.as('alice', listWatches)).data).toHaveLength(1)
    await away.close()
  })
})

describe('a watch of a price', () => {
  test('is found by its feed’s name in any spelling, and an unknown name suggests others', async () => {
    await ann.say('/new price')
    for (const unknown of ['FLRUSDX', 'flr usdx']) {
      await ann.say(unknown)
      expect(ann.last().text.startsWith(`⚠️ No feed is called “${iso(unknown)}”.`)).toBe(true)
      expect(ann.labels().flat()).toContain(iso('FLR/USD'))
    }
    for (const text of ['flr', 'flr-usd', 'FLR USD']) {
      await ann.say(text)
      expect(ann.last().text).toMatch(/Feed: \u2068FLR\/USD\u2069/)
      await ann.press('‹ Target')
    }
    await ann.say('FLRUSD')
    expect(ann.last().text).toMatch(/Feed: \u2068FLR\/USD\u2069/)
    expect(ann.labels()).toEqual([
      ['Low', '✓ Normal', 'High'],
      ['Percentage: 5%', 'Window: 1 h'],
      ['Direction: Any'],
      ['Another rule…'],
      ['Next'],
      ['‹ Target', '✕ Cancel'],
    ])
    expect(ann.last().text).toContain('How sensitive should the alert be?\nLow · 10% · 1 day')
    await ann.press('High')
    expect(ann.labels().slice(0, 2)).toEqual([
      ['Low', 'Normal', '✓ High'],
      ['Percentage: 2%', 'Window: 15 min'],
    ])
    await ann.press('Window: 15 min')
    expect(ann.last().text).toContain('Over what period?\nSend a duration, such as 90m')
    expect(ann.labels().flat()).toEqual(expect.arrayContaining(['✓ 15 min', '7 days']))
    await ann.say('90m')
    expect(ann.labels()[0]).toEqual(['Low', 'Normal', 'High'])
    expect(ann.labels().flat()).toContain('Window: 1 h, 30 min')
    await ann.press('Percentage: 2%')
    expect(ann.last().text).toContain('Send a percentage, such as 5 or 2.5, or choose:')
    await ann.say('১২.৫')
    await ann.press('Percentage: 12.5%')
    expect(ann.last().text).toContain('How far must the price move?')
    expect(ann.labels().flat()).toContain('✓ 12.5%')
    await ann.press('2%')
    await ann.press('Direction: Any')
    await ann.press('Down')
    await ann.press('Next')
    expect(ann.last().text).toContain('Alert: a fall of 2% or more (within 1 hour, 30 minutes).')
    expect(ann.last().text).toContain('one alert per window, even if the price moves further.')
    await ann.press('Create')
    expect(await watches()).toMatchObject([
      {
        type: 'feed-move',
        target: { feed: 'FLR/USD' },
        settings: { percent: 2, windowSeconds: 5400, direction: 'down' },
      },
    ])
  })

  test('does not edit its message when the value that is chosen already is pressed', async () => {
    const edit = () => world.telegram.lastCall('editMessageText')
    await ann.say('/new price')
    await ann.say('FLRUSD')
    const before = edit()?.sequence
    expect(await ann.press('✓ Normal')).toMatchObject({ box: false })
    expect(edit()?.sequence).toBe(before)
    await ann.press('Low')
    expect(ann.labels()[0]).toEqual(['✓ Low', 'Normal', 'High'])
    await ann.press('Window: 1 day')
    // The question is answered with the value that it had.
    await ann.press('✓ 1 day')
    expect(ann.labels()[0]).toEqual(['✓ Low', 'Normal', 'High'])
    expect(edit()?.refused).toBeUndefined()
  })

  test('shows the price at the time of its creation', async () => {
    await ann.say('/new')
    await ann.press('📈 Price')
    await ann.say('FLR/USD')
    expect(ann.last().text).toContain('Price: ')
    await ann.press('Next')
    await devnet.contracts.setFeed('FLR/USD', 32_100n, 6)
    await devnet.mine(2, 1)
    await ann.press('Create')
    expect(ann.last().text).toContain('Price: 0.0321')
  })

  test('is chosen out of all feeds, page by page', async () => {
    await ann.say('/new price')
    const all = ann
      .labels()
      .flat()
      .find((label) => label.startsWith('All '))
    if (all === undefined) throw new Error('the feeds are not listed')
    await ann.press(all)
    expect(ann.labels().flat()).toContain(iso('XRP/USD'))
    await ann.press('‹ Target')
    expect(ann.labels().flat()).toContain(all)
  })
})

/** The data of the nth button with a label. */
async function dataOf(label: string, index: number): Promise<string> {
  const found = ann
    .last()
    .keyboard.flat()
    .filter(({ text }) => text === label)
  return found[index]?.callback_data ?? ''
}

test('a watch of the own credits is not offered: the service says for nothing that they run low', async () => {
  await ann.say('/new credit')
  expect(ann.last().text).toContain('What should be watched?')
  expect(ann.last().text).not.toContain('Credits')
})

describe('a watch of a provider', () => {
  test('can have the usual signals, all signals, or single ones', async () => {
    await ann.say('/new provider-fsp')
    // While the chain cannot be read, it is unknown whether the wallet is a provider's.
    expect(ann.labels().flat()).not.toContain(iso('My wallet'))
    await ann.say(PEOPLE.alice.account.address)
    expect(ann.last().text).toContain('Signals: 19 of 25 on')
    const rows = [['19 usual', 'All 25'], ['21 can be critical'], ['Choose…']]
    const ticked = (wanted: string) =>
      rows.map((row) => row.map((label) => (label === wanted ? `✓ ${label}` : label)))
    expect(ann.labels().slice(0, 3)).toEqual(ticked('19 usual'))
    await ann.press('✓ 19 usual')
    expect(world.telegram.lastCall('editMessageText')?.refused).toBeUndefined()
    await ann.press('21 can be critical')
    expect(ann.last().text).toContain('Signals: 21 of 25 on')
    expect(ann.labels().slice(0, 3)).toEqual(ticked('21 can be critical'))
    await ann.press('All 25')
    expect(ann.labels().slice(0, 3)).toEqual(ticked('All 25'))
    expect(ann.last().text).toContain('Signals: 25 of 25 on')
    await ann.press('Choose…')
    expect(ann.last().text).toContain('✓ Commit: ')
    await ann.press('✓ Commit')
    expect(ann.last().text).toContain('○ Commit: ')
    await ann.press('›')
    expect(ann.last().text).toContain('FDC\nThe provider’s part in the Flare Data Connector')
    await ann.press('Next')
    expect(ann.last().text).toContain('Signals: 24 of 25 on')
    await ann.press('Create')
    const [watch] = await watches()
    expect(watch?.signals.filter(({ enabled }) => !enabled)).toMatchObject([{ id: 'ftso-commit' }])
  })
})

describe('the recipients of a new watch', () => {
  test('cannot be unticked all: unticking the last one explains why it stays', async () => {
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.press('10\u00a0FLR')
    await ann.press('Recipients')
    const { text, box } = await ann.press(`✓ ${iso('this chat')}`)
    expect(text).toContain('A watch needs at least one recipient.')
    expect(box).toBe(true)
    expect(ann.labels().flat()).toContain(`✓ ${iso('this chat')}`)
  })

  test('are the defaults until others are ticked', async () => {
    const other = await world.linked('alice')
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.press('10\u00a0FLR')
    await ann.press('Recipients')
    expect(ann.last().text).toContain('Who should get the alerts?')
    const toggles = ann
      .labels()
      .flat()
      .filter((label) => label.startsWith('✓'))
    expect(toggles.length).toBeGreaterThanOrEqual(2)
    await ann.press('✓ \u2068this chat\u2069')
    await ann.press('Done')
    expect(ann.last().text).not.toContain('this chat')
    await ann.press('Recipients')
    const done = await dataOf('Done', 0)
    const gone = done.replace('new.next', 'new.who').concat(':zzzz')
    const press = world.telegram.pressRaw(ann.id, ann.last().id, gone)
    await world.settle()
    expect((await press.answer()).text).toContain('no longer exists')
    await ann.press('Done')
    await ann.press('Create')
    const [watch] = await watches()
    expect(watch?.recipientIds?.length).toBe(toggles.length - 1)
    await other.say('/stop')
  })
})

describe('a threshold in another unit', () => {
  test.each([
    ['50 USD', '50\u00a0USD ≈ 2,500\u00a0FLR', 'Use 2,500\u00a0FLR', '2500'],
    ['$1k', '1,000\u00a0USD ≈ 50,000\u00a0FLR', 'Use 50,000\u00a0FLR', '50000'],
    ['5 %', '5% ≈ 500\u00a0FLR', 'Use 500\u00a0FLR', '500'],
  ])('is refused, with a button for what it is worth: %s', async (text, line, button, value) => {
    await devnet.contracts.setFeed('FLR/USD', 20_000n, 6)
    await devnet.mine(2, 1)
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.say(text)
    expect(ann.last().text).toContain(`${iso(text)}” is not an amount in FLR. Send one,`)
    expect(ann.last().text).toContain(line)
    await ann.press(button)
    await ann.press('Create')
    expect(await watches()).toMatchObject([{ settings: { threshold: value } }])
  })
})

describe('a form', () => {
  test('continues after a restart at every step', async () => {
    await ann.say('/new wallet')
    await world.restart()
    await ann.say(BOB)
    await world.restart()
    await ann.say('25')
    await world.restart()
    await ann.press('Create')
    expect(await watches()).toMatchObject([{ settings: { threshold: '25' } }])
  })

  test('is left by another command and can be resumed for a day', async () => {
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.say('/watches')
    await ann.say('250')
    expect(ann.last().text).toMatch(/^Not understood/)
    await ann.say('/new')
    await ann.press('Resume: Wallet balance')
    expect(ann.last().text).toContain(`Wallet: ${BOB}`)
    await ann.say('250')
    expect(ann.last().text).toContain('a change of 250\u00a0FLR or more')
    world.clock.advance(25 * 3600)
    await ann.press('Create')
    expect(ann.last().text).toContain('What should be watched?')
    expect(await watches()).toEqual([])
  })

  test('stays open when an unknown command is sent', async () => {
    await ann.say('/new price')
    const form = ann.last().id
    for (const [text, shown = text] of [['/ flr'], ['/flr', '/\u2060flr'], ['/']] as const) {
      await ann.say(text)
      expect(ann.last().id).toBe(form)
      expect(ann.last().text).toContain(`⚠️ “${iso(shown)}” is not a command. See /help.`)
      expect(ann.last().text).toContain('Which price?')
    }
    await ann.say('flr')
    expect(ann.last().text).toMatch(/Feed: \u2068FLR\/USD\u2069/)
  })

  test('is discarded by Cancel and by /cancel', async () => {
    await ann.say('/new wallet')
    await ann.press('✕ Cancel')
    expect(ann.last().text).toBe('Nothing was created.')
    await ann.say('/new wallet')
    await ann.say('/cancel')
    expect(ann.last().text).toBe('Nothing was created.')
    await ann.say('/cancel')
    expect(ann.last().text).toBe('There is nothing to cancel.')
  })

  test('that was replaced shows the one that is open when it is pressed', async () => {
    await ann.say('/new wallet')
    const old = ann.last()
    const data = old.keyboard[0]?.[0]?.callback_data ?? ''
    await ann.say('/new price')
    const press = world.telegram.pressRaw(ann.id, old.id, data)
    await world.settle()
    expect((await press.answer()).text).toBe('A newer form has replaced this one.')
    expect(ann.all().find(({ id }) => id === old.id)?.text).toContain('Price')
  })

  test('creates one watch, however often Create is pressed', async () => {
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.press('10\u00a0FLR')
    const { id, keyboard } = ann.last()
    const data = keyboard[0]?.[0]?.callback_data ?? ''
    world.telegram.press(ann.id, id, data)
    world.telegram.press(ann.id, id, data)
    await world.settle()
    world.telegram.pressRaw(ann.id, id, data)
    await world.settle()
    expect(ann.last().text).toContain('is now being watched.')
    expect(await watches()).toHaveLength(1)
  })

  test('goes back step by step and keeps what was chosen', async () => {
    await ann.say('/new wallet')
    await ann.say(BOB)
    await ann.press('Outgoing')
    await ann.press('10\u00a0FLR')
    await ann.press('‹ Rule')
    expect(ann.labels().flat()).toContain('✓ Outgoing')
    expect(ann.labels().flat()).toContain('✓ 10\u00a0FLR')
    await ann.press('‹ Target')
    await ann.press('‹ Types')
    expect(ann.last().text).toContain('What should be watched?')
  })

  test('refuses a value from a forged button', async () => {
    await ann.say('/new wallet')
    await ann.say(BOB)
    const [rev] = /[^:]+$/.exec(ann.last().keyboard.at(-1)?.[0]?.callback_data ?? '') ?? []
    const data = packed('new.set', {
      rev: Number.parseInt(rev ?? '', 36),
      field: 'thr',
      value: '-5',
    })
    world.telegram.pressRaw(ann.id, ann.last().id, data)
    await world.settle()
    expect(ann.last().text).toMatch(/· 2\/3/)
  })
})

describe('without a free slot', () => {
  test('says how to get one, and "Continue" resumes the form once there is one', async () => {
    const carol = await world.linked('carol', ['read', 'write', 'spend'])
    await carol.say('/new')
    expect(carol.last().text).toContain('You have no watches yet.')
    expect(carol.last().text).toContain('One watch, 30 days: 0.50\u00a0USD (500 credits).')
    expect(carol.last().text).toContain('Smallest payment: 10\u00a0USD (10,000 credits).')
    // Without a watch there is no button to delete one.
    expect(carol.labels()).toEqual([['Start the free trial'], ['Pay'], ['‹ Menu']])

    await carol.say('/watches')
    await carol.press('📈 Price')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    expect((await carol.press('Continue')).text).toBe('🎟️ You have no watches yet.')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    // From the terms, from the quote and from the choice of the asset.
    await carol.press('Pay')
    await carol.press('‹ Back')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    await carol.press('Pay')
    await carol.press('Accept and continue')
    expect(carol.labels().at(-1)).toEqual(['‹ Back'])
    await carol.press('‹ Back')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    await carol.press('Pay')
    expect(carol.labels().at(-1)).toEqual(['‹ Back'])
    await carol.press('‹ Back')
    expect(carol.last().text).toContain('30 days: 0.50\u00a0USD')
    await world.giveSlots('carol', 1)
    await carol.press('Continue')
    expect(carol.last().text).toMatch(/^New watch · Price · 1\/3/)
    await carol.say('/new wallet')
    await carol.say(BOB)
    await carol.press('10\u00a0FLR')
    await carol.press('Create')
    expect(carol.last().text).toContain('is now being watched.')
    await carol.say('/new')
    expect(carol.last().text).toContain('All your watches are in use · 1 of 1')
    expect(carol.labels().flat()).toContain('Delete a watch')
    await world
      .as('carol', createSubscription, { body: { quantity: 1, periods: 1 } })
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'insufficient_credits' }))
  })
})

test('a chat that only receives cannot create a watch', async () => {
  const reader = await world.linked('bob', ['read'])
  await world.giveSlots('bob', 1)
  await reader.say('/start new-wallet-balance')
  await reader.say(BOB)
  await reader.press('10\u00a0FLR')
  await reader.press('Create')
  expect(reader.last().text).toMatch(/^⚠️ This chat is not allowed to do that\./)
})
