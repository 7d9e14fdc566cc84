import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { configureChannel } from '#src/operations/rest/channels.ts'
import {
  createRecipient,
  deleteRecipient,
  listRecipients,
  testRecipient,
  updateRecipient,
} from '#src/operations/rest/recipients.ts'
import { deleteWatch, getWatch, updateWatch } from '#src/operations/rest/watches.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { changeLive } from '../support/live.ts'

let world: BotWorld
let receiver: Receiver
let ann: TestChat
let id: number
const iso = (label: string) => `\u2068${label}\u2069`

beforeAll(async () => {
  world = await botWorld()
  receiver = await startReceiver({ clock: world.clock })
  ann = await world.linked('alice')
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

beforeEach(async () => {
  world.clock.advance(90)
  id = await world.addWatch('alice', { label: 'Treasury' })
})

async function named() {
  const { recipientIds } = await world.as('alice', getWatch, { params: { id: String(id) } })
  return recipientIds
}

/** Stores the last observation of a watch's target. */
async function observed(watchId: number, seen: Record<string, string | number | null>) {
  const observation = { position: 1, at: world.clock.now().toISOString(), ...seen }
  await world.sql`
    update targets set observation = ${world.sql.json(observation)}
    where id = (select target_id from watches where id = ${watchId})`
}

async function hook(name: string, over: object = {}) {
  const body = { name, channel: 'webhook', url: receiver.url(), ...over }
  return (await world.as('alice', createRecipient, { body })).id
}

describe('the recipients of a watch', () => {
  test('are the wallet’s defaults until one is ticked, and again after the last is unticked', async () => {
    const pager = await hook('Pager <hook>')
    await ann.say(`/watches ${id}`)
    await ann.press('Recipients')
    expect(ann.last().text).toContain('○ \u2068Pager <hook>\u2069')
    // Whoever is notified has a tick, also where it is by default.
    expect(ann.last().text).toContain('✓ this chat')
    expect(ann.last().text).toContain(
      'This watch uses the wallet’s default recipients: \u2068this chat\u2069.',
    )
    expect(ann.labels().flat()).not.toContain('Use defaults')
    await ann.press(`○ ${iso('Pager <hook>')}`)
    expect(await named()).toEqual(expect.arrayContaining([pager]))
    expect(await named()).toHaveLength(2)
    expect(ann.last().text).toContain('✓ this chat')
    expect(ann.labels().flat()).toContain('Use defaults')
    await ann.press(`✓ ${iso('this chat')}`)
    expect(await named()).toEqual([pager])
    await ann.press(`✓ ${iso('Pager <hook>')}`)
    expect(await named()).toBeNull()
    expect(ann.last().text).toContain('⚠️ Only the wallet’s default recipients are notified now.')
    await ann.press(`○ ${iso('Pager <hook>')}`)
    await ann.press('Use defaults')
    expect(await named()).toBeNull()
    await ann.press(`‹ ${iso('Treasury')}`)
    expect(ann.last().text).toContain('Notifies: \u2068this chat\u2069')
  })

  test('that are off are marked, can be ticked, and do not count as notified', async () => {
    const off = await hook('Old hook')
    const params = { id: String(off) }
    await world.as('alice', updateRecipient, { params, body: { status: 'disabled' } })
    await ann.say(`/watches ${id}`)
    await ann.press('Recipients')
    expect(ann.last().text).toContain('○ ⚠️ \u2068Old hook\u2069: switched off')
    await ann.press(`○ ⚠️ ${iso('Old hook')}`)
    await ann.press(`✓ ${iso('this chat')}`)
    await ann.press(`‹ ${iso('Treasury')}`)
    expect(ann.last().text).toContain('⚠️ No one is notified: no active recipient.')
    expect(ann.labels()[1]).toEqual(['Rule', 'Choose'])
    await ann.press('Choose')
    expect(ann.last().text).toContain('✓ ⚠️')
  })

  test('stay as they are when a person presses one that was deleted meanwhile', async () => {
    const gone = await hook('Gone')
    await ann.say(`/watches ${id}`)
    await ann.press('Recipients')
    await world.as('alice', deleteRecipient, { params: { id: String(gone) } })
    await ann.press(`○ ${iso('Gone')}`)
    expect(await named()).toBeNull()
    expect(ann.last().text).toContain('✓ this chat')
    expect(ann.labels().flat()).not.toContain(`○ ${iso('Gone')}`)
  })

  test('include the wallet’s own channels among the defaults', async () => {
    await world.as('bob', configureChannel, {
      params: { key: 'webhook' },
      body: { url: receiver.url() },
    })
    const bo = await world.linked('bob')
    const own = await world.addWatch('bob', { label: 'Own' })
    await bo.say(`/watches ${own}`)
    expect(bo.last().text).toMatch(
      /Notifies: \u2068this chat\u2069 and \u2068127\.\u20600\.\u20600\.\u20601/,
    )
  })

  test('are eight a page', async () => {
    for (let count = 1; count <= 9; count += 1) await hook(`Hook ${count}`)
    await ann.say(`/watches ${id}`)
    await ann.press('Recipients')
    expect(ann.labels().flat()).toContain('1 / 2')
    await ann.press('›')
    expect(ann.labels().flat()).toContain('2 / 2')
    await ann.press(`○ ${iso('Hook 9')}`)
    expect(ann.labels().flat()).toContain('2 / 2')
    expect(await named()).toHaveLength(2)
  })
})

describe('a test', () => {
  test('has the target, threshold and last value of its watch, like the next alert', async () => {
    const pager = await hook('Pager')
    const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    id = await world.addWatch('alice', {
      label: 'Payouts',
      target: { address, asset: 'FLR' },
      settings: { threshold: '250', direction: 'any' },
      recipientIds: [pager],
    })
    // A newer watch of the same recipient is not the one that is tested.
    await world.addWatch('alice', { label: 'Newer', recipientIds: [pager] })
    await observed(id, {
      ...{ balanceUnits: '4000500000000000000000', symbol: 'FLR', decimals: 18, movement: null },
    })
    await ann.say(`/watches ${id}`)
    await ann.press('More')
    await ann.press('Test')
    expect(receiver.deliveries.at(-1)?.json).toMatchObject({
      watchId: id,
      label: 'Payouts',
      event: 'wallet-balance.moved',
      data: {
        ...{ test: true, address, asset: 'FLR', threshold: '250' },
        previousAmount: '4250500000000000000000',
        currentAmount: '4000500000000000000000',
        ...{ counterparty: null, transactionHash: null, usd: null },
      },
      rendered: { title: expect.stringMatching(/^250.FLR left the wallet · test$/) },
    })
  })

  test('goes to every recipient of the watch, and reports each result', async () => {
    receiver.clear()
    const good = await hook('Good')
    const bad = await hook('Bad')
    const off = await hook('Off')
    await world.as('alice', updateRecipient, {
      params: { id: String(off) },
      body: { status: 'disabled' },
    })
    id = await world.addWatch('alice', { label: 'Treasury', recipientIds: [good, bad, off] })
    await ann.say(`/watches ${id}`)
    receiver.answerNext(500)
    await ann.press('More')
    await ann.press('Test')
    await ann.press('All recipients')
    expect(ann.last().text).toMatch(/🧪 Test · \u2068Treasury\u2069/)
    expect(ann.last().text).toMatch(/✓ \u2068(Good|Bad)\u2069: 2\d\d in \d+\u00a0ms/)
    expect(ann.last().text).toMatch(/✕ \u2068(Good|Bad)\u2069: 500 after \d+\u00a0ms/)
    expect(ann.last().text).toContain('✕ \u2068Off\u2069: switched off')
    expect(receiver.deliveries).toHaveLength(2)
    expect(ann.labels()).toEqual([['Again', 'Recipients'], [`‹ ${iso('Treasury')}`]])
  })

  describe('to this chat', () => {
    const look = async () => {
      world.clock.advance(2)
      await changeLive(world)
    }
    const shown = (messageId: number) => ann.all().find((message) => message.id === messageId)?.text

    async function tested(reach?: string): Promise<number> {
      await ann.say(`/watches ${id}`)
      await ann.press('More')
      await ann.press('Test')
      if (reach !== undefined) await ann.press(reach)
      const message = ann.last()
      expect(message.text).toContain('⏳ \u2068this chat\u2069: on its way')
      return message.id
    }

    test('is shown as on its way until it has arrived', async () => {
      const messageId = await tested()
      await look()
      expect(shown(messageId)).toContain('on its way')
      await alertsIn(world).deliver()
      expect(ann.last().text).toContain('🧪')
      await look()
      expect(shown(messageId)).toMatch(/✓ \u2068this chat\u2069: arrived after [\d,]+\u00a0ms/)
      expect(await world.sql`select 1 from telegram_live_messages where kind = 'test'`).toEqual([])
    })

    test('that was given up is reported beside the result of another recipient', async () => {
      const bad = await hook('Bad')
      const { recipientId = 0 } = (await listChatLinks(world.app, ann.id))[0] ?? {}
      id = await world.addWatch('alice', { label: 'Treasury', recipientIds: [recipientId, bad] })
      receiver.answerNext(500)
      const messageId = await tested('All recipients')
      await endDeliveries(world.app.db, sql`test`, sql`status = 'failed'`)
      await look()
      expect(shown(messageId)).toContain('✕ \u2068this chat\u2069: not delivered')
      expect(shown(messageId)).toContain('✕ \u2068Bad\u2069: not delivered · 500')
    })

    test('only is one of two choices, and is repeated as such', async () => {
      const other = await hook('Other')
      const { recipientId = 0 } = (await listChatLinks(world.app, ann.id))[0] ?? {}
      id = await world.addWatch('alice', { label: 'Treasury', recipientIds: [recipientId, other] })
      receiver.clear()
      await ann.say(`/watches ${id}`)
      await ann.press('More')
      await ann.press('Test')
      expect(ann.last().text).toContain('Notifies: \u2068this chat\u2069 and \u2068Other\u2069')
      expect(ann.labels()).toEqual([
        ['This chat only'],
        ['All recipients'],
        [`‹ ${iso('Treasury')}`],
      ])
      await ann.press('This chat only')
      const { id: messageId, text } = ann.last()
      expect(text).toContain('⏳ \u2068this chat\u2069: on its way')
      expect(text).not.toContain('Other')
      await alertsIn(world).deliver()
      await look()
      expect(shown(messageId)).toMatch(/✓ \u2068this chat\u2069: arrived after/)
      expect(shown(messageId)).not.toContain('Other')
      await ann.press('Again')
      expect((await ann.press('Again')).text).toMatch(
        /^⏳ \u2068this chat\u2069: a test was sent a moment ago; the next one is possible at [\d:]+\sUTC$/,
      )
      expect(receiver.deliveries).toEqual([])
      const body = { recipientIds: [other] }
      await world.as('alice', updateWatch, { params: { id: String(id) }, body })
      await ann.press('Again')
      const keyboard = ann
        .all()
        .find((message) => message.id === messageId)
        ?.keyboard.flat()
      expect(keyboard?.map((button) => button.text)).toEqual([
        'All recipients',
        `‹ ${iso('Treasury')}`,
      ])
    })

    test('has the buttons of an alert, which say what they would do and for whom, and open its help', async () => {
      await tested()
      await alertsIn(world).deliver()
      const before = ann.last()
      expect(before.text).toMatch(/^🧪 Test · 🟠 /)
      expect(await ann.press('Acknowledge')).toEqual({
        text: 'This is a test. On a real alert, this stops its reminders for all recipients, who see who acknowledged it.',
        box: true,
      })
      await ann.press('Mute…')
      expect((await ann.press('Mute 1\u00a0h')).text).toContain(
        'this mutes its watch in all chats and mailboxes for that time',
      )
      await ann.press('‹ Back')
      expect(ann.last()).toMatchObject({ text: before.text, keyboard: before.keyboard })
      await ann.press('What to do')
      expect(ann.last().id).toBe(before.id)
      expect(ann.last().text.length).toBeGreaterThan(before.text.length)
      await ann.press('Why?')
      expect(ann.labels().flat()).toContain('✓ Why?')
      await ann.press('✓ Why?')
      expect(ann.last().text).toBe(before.text)
    })

    test('that did not arrive says why', async () => {
      const messageId = await tested()
      await endDeliveries(world.app.db, sql`test`, sql`status = 'failed', last_error = 'blocked'`)
      await look()
      expect(shown(messageId)).toContain(
        '✕ \u2068this chat\u2069: not delivered · The bot was blocked in the chat.',
      )
    })

    test('is no longer followed once its message shows another screen or its watch was deleted', async () => {
      const messageId = await tested()
      await ann.press(`‹ ${iso('Treasury')}`)
      const card = shown(messageId)
      await look()
      expect(shown(messageId)).toBe(card)
      world.clock.advance(60)
      await tested()
      await world.as('alice', deleteWatch, { params: { id: String(id) } })
      await look()
      expect(await world.sql`select 1 from telegram_live_messages where kind = 'test'`).toEqual([])
    })
  })

  test('is sent at most ten times an hour to one destination', async () => {
    const many = await hook('Many')
    id = await world.addWatch('alice', { label: 'Treasury', recipientIds: [many] })
    await ann.say(`/watches ${id}`)
    await ann.press('More')
    await ann.press('Test')
    for (let count = 2; count <= 10; count += 1) await ann.press('Again')
    const before = receiver.deliveries.length
    await ann.press('Again')
    expect(ann.last().text).toMatch(
      /✕ \u2068Many\u2069: limit of 10 tests per hour reached; next at \d\d:\d\d/,
    )
    expect(receiver.deliveries).toHaveLength(before)
    await expect(
      world.as('alice', testRecipient, { params: { id: String(many) } }),
    ).rejects.toMatchObject({ code: 'rate_limited' })
    world.clock.advance(3601)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
    try {
      await ann.press('Again')
    } finally {
      vi.useRealTimers()
    }
    expect(ann.last().text).toContain('✓ \u2068Many\u2069')
  })
})

test('a watch escalates after a time to recipients that are chosen in a second step', async () => {
  const params = { id: String(id) }
  const read = () => world.as('alice', getWatch, { params })
  await world.as('alice', createRecipient, {
    body: {
      name: 'Second',
      channel: 'webhook',
      url: 'https://hooks.example.org/Second',
      default: false,
    },
  })
  await ann.say(`/watches ${id}`)
  await ann.press('Recipients')
  await ann.press('Escalation: off')
  expect(ann.last().text).toContain('⏫ Escalation · ')
  await ann.press('15 min')
  expect(ann.last().text).toContain('⚠️ Select at least one recipient.')
  expect(ann.labels()[0]).toEqual(['Off', '5 min', '✓ 15 min'])
  await ann.press('Whom to notify…')
  const toggle =
    ann
      .labels()
      .flat()
      .find((label) => label.startsWith('○')) ?? ''
  await ann.press(toggle)
  await ann.press('‹ Back')
  expect(ann.last().text).not.toContain('⚠️ Select at least one recipient.')
  expect(await read()).toMatchObject({ escalateAfterMinutes: 15, escalateTo: [expect.any(Number)] })
  await ann.press('‹ Recipients')
  expect(ann.labels().flat()).toContain('Escalation: 15 min')
  await ann.press('Escalation: 15 min')
  await ann.press('Off')
  expect(await read()).toMatchObject({ escalateAfterMinutes: null })
})

test('an escalation offers nobody who hears at once, and can let one hear later', async () => {
  const params = { id: String(id) }
  const read = () => world.as('alice', getWatch, { params })
  const { data } = await world.as('alice', listRecipients, { query: { limit: '250' } })
  const escalated = () =>
    ann
      .labels()
      .flat()
      .filter((label) => /^[○✓] /.test(label) && !/(Off|min|h)$/.test(label))
  const open = async () => {
    await ann.say(`/watches ${id}`)
    await ann.press('Recipients')
    await ann.press(
      ann
        .labels()
        .flat()
        .find((label) => label.startsWith('Escalation')) ?? '',
    )
  }
  const all = data.map((recipient) => recipient.id)
  await world.as('alice', updateWatch, { params, body: { recipientIds: all, escalateTo: [] } })
  await open()
  expect(ann.last().text).toContain('Everyone is notified immediately.')
  expect(escalated()).toEqual([])
  const later = ann
    .labels()
    .flat()
    .find((label) => label.startsWith('Later: '))
  await ann.press(later ?? '')
  const { escalateTo, notifies, recipientIds, escalateAfterMinutes } = await read()
  expect(escalateAfterMinutes).toBe(15)
  expect(escalateTo).toHaveLength(1)
  expect(notifies).not.toContain(escalateTo[0])
  expect(recipientIds).toEqual(all.filter((other) => other !== escalateTo[0]))
  await ann.press('Whom to notify…')
  expect(escalated()).toHaveLength(1)
  expect(escalated()[0]).toMatch(/^✓ /)
})
