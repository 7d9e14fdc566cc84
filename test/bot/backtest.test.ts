import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteDraft } from '#bot/core/session-store.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { packed, unpacked } from '#src/actions/codec.ts'
import { findFeed } from '#src/chain/feeds/feed-names.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { getWatch, listWatches } from '#src/operations/rest/watches.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { testClock } from '../support/clock.ts'
import { changeLive } from '../support/live.ts'

/** What a watch would have sent, in the wizard and beside the values of a setting. */

let world: BotWorld
let devnet: DevnetWithContracts
let ann: TestChat

const XRP = { type: 'feed-move', target: { feed: 'XRP/USD' } }
const SETTINGS = { percent: 5, windowSeconds: 3600, direction: 'any' }
const WEEK = '🟢🟠🟢🟢🔴🟢🟢 Last 7 days: 2 incidents (1 warning · 1 critical)'

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: testClock().now() })
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
  })
  // As in the last of the stored prices.
  await devnet.contracts.setFeed('XRP/USD', 169_600n, 5)
  await devnet.mine(2, 1)
  await world.giveSlots('alice', 5)
  ann = await world.linked('alice')
  await storePrices()
})
afterAll(async () => {
  await world.close()
  await devnet.close()
})

beforeEach(async () => {
  // Avoids the flood limit, and lets the limit of backtests begin anew.
  world.clock.advance(90)
  await world.sql`delete from telegram_live_messages`
  await deleteDraft(world.app.db, { chatId: ann.id, personId: ann.id })
})

/** A price every five minutes of a week, which rises by 6 % on the second day and by 60 % on the fifth. */
async function storePrices(): Promise<void> {
  const list = await world.app.chain.feedList()
  const feed = list && findFeed(list, 'XRP/USD')?.id
  const now = world.clock.now()
  await world.sql`
    insert into feed_points (feed, at, block, value, decimals, grade)
    select ${feed ?? ''}, at, extract(epoch from at)::bigint / 300, case when at < ${now}::timestamptz - interval '5 days 12 hours' then 100000
      when at < ${now}::timestamptz - interval '2 days 12 hours' then 106000 else 169600 end, 5, 1
    from generate_series(${now}::timestamptz - interval '7 days', ${now}::timestamptz + interval '1 hour',
      interval '5 minutes') at`
}

const show = (app = world.app) => changeLive({ ...world, app })
const waiting = () => world.sql`select kind from telegram_live_messages`
const callsOf = (method: string) =>
  world.telegram.calls.filter((call) => call.method === method).length

async function lastStep() {
  await ann.say('/new price')
  await ann.say('XRP/USD')
  await ann.press('Next')
  expect(ann.last().text).toContain('3/3')
  return ann.last()
}

describe('the last step of the wizard', () => {
  test('is shown at once, and gets the line of the last seven days when the backtest is ready', async () => {
    const step = await lastStep()
    expect(step.text).not.toContain('Last 7 days')
    await show()
    expect(ann.last()).toMatchObject({ id: step.id, keyboard: step.keyboard })
    expect(ann.last().text).toBe(`${step.text}\n${WEEK}`)
    expect(await waiting()).toEqual([])
    await ann.press('Create')
    expect(ann.last().text).toContain('is now being watched')
  })

  test('shows the backtest of the values that are chosen now', async () => {
    const step = await lastStep()
    await show()
    await ann.press('‹ Rule')
    await ann.press('Low')
    await ann.press('Next')
    await show()
    expect(ann.last().id).toBe(step.id)
    expect(ann.last().text).toContain('🟢🟢🟢🟢🔴🟢🟢 Last 7 days: 1 incident (1 critical)')
  })

  test('says when no data is stored, and when the data is incomplete', async () => {
    await ann.say('/new price')
    await ann.say('FLR/USD')
    await ann.press('Next')
    await show()
    expect(ann.last().text).toContain('🕘 Last 7 days: no data stored')
    await ann.say('/new wallet')
    await ann.press('\u2068My wallet\u2069')
    await ann.press('100\u00a0FLR')
    await show()
    expect(ann.last().text).toMatch(/⚪🟢 Last 7 days \(data for 1 of 7\): no alerts$/)
  })

  test('marks days between two prices as unknown, and says how many are known', async () => {
    const list = await world.app.chain.feedList()
    const feed = list && findFeed(list, 'BTC/USD')?.id
    const now = world.clock.now()
    await world.sql`
      insert into feed_points (feed, at, block, value, decimals, grade)
      select ${feed ?? ''}, at, extract(epoch from at)::bigint / 300, 9000000, 2, 1
      from unnest(array[${now}::timestamptz - interval '6 days 12 hours', ${now}::timestamptz - interval '1 hour']) at`
    await ann.say('/new price')
    await ann.say('BTC/USD')
    await ann.press('Next')
    await show()
    expect(ann.last().text).toMatch(/🟢⚪⚪⚪⚪⚪🟢 Last 7 days \(data for 2 of 7\): no alerts$/)
  })

  test('says so when the backtest is refused', async () => {
    await lastStep()
    const run = () => Promise.reject(new AppError('upstream', 'dependency_unavailable'))
    const busy = { ...world.app, backtests: { run } }
    await show(busy)
    expect(ann.last().text).toContain('🕘 Last 7 days: not available right now')
    expect(ann.labels()[0]).toEqual(['Create'])
  })

  test('says so when the chain does not answer', async () => {
    const away = await botWorld()
    await away.giveSlots('alice', 1)
    const chat = await away.linked('alice')
    await chat.say('/new wallet')
    await chat.press('\u2068My wallet\u2069')
    await chat.press('100\u00a0FLR')
    await changeLive(away)
    expect(chat.last().text).toContain('🕘 Last 7 days: not available right now')
    await chat.press('Create')
    expect((await away.as('alice', listWatches)).data).toHaveLength(1)
    await away.close()
  })

  test('gets no line after the person has gone on to another screen', async () => {
    await lastStep()
    await ann.press('Name…')
    const asked = ann.last()
    await show()
    expect(ann.last()).toEqual(asked)
    await ann.say('Ripple')
    await ann.press('Create')
    const made = ann.last()
    const edits = callsOf('editMessageText')
    await show()
    expect(ann.last()).toEqual(made)
    expect(callsOf('editMessageText')).toBe(edits)
  })

  test('is not overwritten by a backtest that ends after the press', async () => {
    await lastStep()
    const slow = { ...world.app, backtests: heldBacktests() }
    const shown = show(slow)
    await slow.backtests.begun
    await ann.press('Create')
    const made = ann.last()
    slow.backtests.goOn()
    await shown
    expect(ann.last()).toEqual(made)
    expect(await waiting()).toEqual([])
  })

  test('gets its line later when Telegram refuses the edit with 429', async () => {
    const step = await lastStep()
    world.telegram.failNext('editMessageText', {
      error_code: 429,
      description: 'Too Many Requests: retry after 7',
      parameters: { retry_after: 7 },
    })
    await show()
    expect(ann.last()).toEqual(step)
    expect(await waiting()).toEqual([{ kind: 'backtest-draft' }])
    world.clock.advance(8)
    await show()
    expect(ann.last().text).toContain(WEEK)
  })

  test('says after two minutes that the backtest is not available', async () => {
    const step = await lastStep()
    world.clock.advance(121)
    await show()
    expect(ann.last()).toMatchObject({ id: step.id, keyboard: step.keyboard })
    expect(ann.last().text).toBe(`${step.text}\n🕘 Last 7 days: not available right now`)
    expect(await waiting()).toEqual([])
  })

  test.each(LOCALES)('has its line in %s', async (locale) => {
    await ann.say(`/language ${locale}`)
    await ann.say('/new feed-move')
    await ann.say('XRP/USD')
    const buttons = ann.last().keyboard.flat()
    const next = buttons.find(({ callback_data: data = '' }) => unpacked(data)?.verb === 'new.next')
    await ann.press(next?.callback_data ?? '')
    await show()
    const line = ann.last().text.split('\n').at(-1) ?? ''
    expect(line.startsWith('🟢🟠🟢🟢🔴🟢🟢 ')).toBe(true)
    expect(line).toMatch(/7/)
    expect(line).not.toMatch(/backtest|\{\{/)
    await ann.say('/language en')
  })
})

/** Backtests that wait until they are let go on. */
function heldBacktests() {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const run: BotWorld['app']['backtests']['run'] = async (...args) => {
    begun.resolve()
    await gate.promise
    return world.app.backtests.run(...args)
  }
  return { run, begun: begun.promise, goOn: () => gate.resolve() }
}

describe('“Try other values”', () => {
  async function editor(field: string, settings: object = SETTINGS) {
    const id = await world.addWatch('alice', { label: 'Ripple', ...XRP, settings })
    await ann.say(`/watches ${id}`)
    const press = packed('watch.edit', { id, field })
    const isOnCard = ann
      .last()
      .keyboard.flat()
      .some(({ callback_data }) => callback_data === press)
    if (!isOnCard) await ann.press(field === 'sev' ? 'More' : 'Rule')
    await ann.press(press)
    return id
  }

  test('shows every value as unknown when the results come too late, also after a failed edit', async () => {
    await editor('pct')
    await ann.press('Try other values')
    const edits = callsOf('editMessageText')
    world.clock.advance(121)
    world.telegram.failNext('editMessageText', { error_code: 502, description: 'Bad Gateway' })
    const refuse = () => Promise.reject(new Error('nothing is computed any more'))
    const late = { ...world.app, backtests: { run: refuse } }
    await show(late)
    expect(ann.last().text).toContain('⏳')
    world.clock.advance(61)
    await show(late)
    expect(callsOf('editMessageText')).toBe(edits + 2)
    expect(ann.last().text).not.toContain('⏳')
    expect(ann.last().text.split('\n').slice(3)).toEqual(
      ['1%', '2%', '✓ 5%', '10%', '20%'].map((value) => `🕘 ${value}: unknown`),
    )
    expect(await waiting()).toEqual([])
  })

  test('shows what each value would have sent, and a press chooses one', async () => {
    const id = await editor('pct')
    const { id: message } = ann.last()
    await ann.press('Try other values')
    expect(ann.last().text).toMatch(
      /^✏️ Percentage · .*\n\nAlerts in the last 7 days with each value:\n⏳ This takes a few seconds\.$/,
    )
    await show()
    expect(ann.last().id).toBe(message)
    expect(ann.last().text.split('\n').slice(3)).toEqual([
      '🟢🔴🟢🟢🔴🟢🟢 1%: 2 incidents (2 critical)',
      '🟢🔴🟢🟢🔴🟢🟢 2%: 2 incidents (2 critical)',
      '🟢🟠🟢🟢🔴🟢🟢 ✓ 5%: 2 incidents (1 warning · 1 critical)',
      '🟢🟢🟢🟢🔴🟢🟢 10%: 1 incident (1 critical)',
      '🟢🟢🟢🟢🔴🟢🟢 20%: 1 incident (1 critical)',
      '',
      'Each mark is one day, oldest first. ⚪: no data.',
    ])
    expect(ann.labels()).toEqual([['1%', '2%', '✓ 5%'], ['10%', '20%'], ['‹ \u2068Ripple\u2069']])
    await ann.press('10%')
    expect(ann.last().text).toContain('✓ Percentage: 10%')
    const watch = await world.as('alice', getWatch, { params: { id: String(id) } })
    expect(watch.settings).toMatchObject({ percent: 10 })
  })

  test('includes the present value when it is not among the suggested ones', async () => {
    await editor('pct', { ...SETTINGS, percent: 70 })
    await ann.press('Try other values')
    await show()
    expect(ann.last().text).toContain('🟢🟢🟢🟢🟢🟢🟢 ✓ 70%: no alerts\n')
  })

  test('is not offered for the lowest severity, which decides about recipients only', async () => {
    await editor('sev')
    expect(ann.labels().flat()).not.toContain('Try other values')
  })

  test('shows a value without data as unknown', async () => {
    const id = await world.addWatch('alice', {
      label: 'Flare',
      type: 'feed-move',
      target: { feed: 'FLR/USD' },
      settings: SETTINGS,
    })
    await ann.say(`/watches ${id}`)
    await ann.press('Rule')
    await ann.press('Percentage')
    await ann.press('Try other values')
    await show()
    expect(ann.last().text).toContain('🕘 ✓ 5%: unknown')
  })

  test('of a watch that is deleted meanwhile leaves the screen as it is', async () => {
    const id = await editor('pct')
    await ann.press('Try other values')
    const before = ann.last()
    await world.sql`delete from watches where id = ${id}`
    await show()
    expect(ann.last()).toEqual(before)
    expect(await waiting()).toEqual([])
  })

  test('works in a group', async () => {
    const { id: groupId } = world.telegram.group({ title: 'Crew', members: [ann.id] })
    const group = world.chat(groupId, ann.id)
    await group.say(`/start ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    const id = await world.addWatch('alice', { label: 'Ripple', ...XRP, settings: SETTINGS })
    await group.say('/watches')
    await group.press(
      group
        .last()
        .keyboard.flat()
        .find(({ text }) => text.includes('Ripple'))?.text ?? '',
    )
    expect(id).toBeGreaterThan(0)
    await group.press('Rule')
    await group.press('Percentage')
    await group.press('Try other values')
    await show()
    expect(group.last().text).toContain('✓ 5%: 2 incidents (1 warning · 1 critical)')
  })

  test('is no longer tried a day after its time-out', async () => {
    await editor('pct')
    await ann.press('Try other values')
    world.clock.advance(86_400 + 121)
    await show()
    expect(ann.last().text).toContain('⏳')
    expect(await waiting()).toEqual([])
  })
})
