import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { deleteWatch, getWatch } from '#src/operations/rest/watches.ts'
import { listChatLinks, unlinkChat } from '#src/recipients/chats.ts'
import { recordDeliverySuccesses } from '#src/recipients/outcome-store.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { runOutsideTransaction } from '../support/transaction-guard.ts'

let world: BotWorld
let ann: TestChat
let id: number

beforeAll(async () => {
  world = await botWorld()
  ann = await world.linked('alice')
})
afterAll(() => world.close())

beforeEach(async () => {
  world.clock.advance(90)
  id = await world.addWatch('alice', { label: 'Treasury' })
  await ann.say(`/watches ${id}`)
})

async function watch() {
  return world.as('alice', getWatch, { params: { id: String(id) } })
}

async function threshold() {
  return (await watch()).settings
}

describe('the editor', () => {
  test('explains a value, shows it, and suggests others', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    expect(ann.last().text).toContain('✏️ Threshold · \u2068Treasury\u2069')
    expect(ann.last().text).toContain(
      'You get an alert when the balance changes by at least this much',
    )
    expect(ann.last().text).toContain('Now: 100')
    expect(ann.labels()).toEqual([
      ['10\u00a0FLR', '✓ 100\u00a0FLR'],
      ['1,000\u00a0FLR'],
      ['Try other values'],
      ['‹ \u2068Treasury\u2069'],
    ])
    await ann.press('1,000\u00a0FLR')
    expect(ann.last().text).toContain('✓ Threshold: 1,000\u00a0FLR')
    expect(ann.last().text).toContain('Alert: a change of 1,000\u00a0FLR or more')
    expect(await threshold()).toMatchObject({ threshold: '1000' })
    await ann.say(`/watches ${id}`)
    expect(ann.last().text).not.toContain('✓ Threshold')
  })

  test('of a choice has its options, and refuses a typed text', async () => {
    await ann.press('Rule')
    await ann.press('Direction')
    expect(ann.labels()[0]).toEqual(['✓ Any', 'Incoming', 'Outgoing'])
    await ann.say('up')
    expect(ann.last().text).toMatch(/^⚠️ Use the buttons to choose\./)
    await ann.press('Incoming')
    expect(await threshold()).toMatchObject({ direction: 'up' })
  })

  test('sets the lowest severity of a watch', async () => {
    await ann.press('More')
    await ann.press('Minimum severity')
    await ann.press('Warning')
    expect(await watch()).toMatchObject({ minSeverity: 'warning' })
  })

  test('renames a watch, and can restore its default name', async () => {
    await ann.press('More')
    await ann.press('Name')
    expect(ann.last().text).toContain('Now: \u2068Treasury\u2069')
    await ann.say('  Cold <wallet>  ')
    expect(ann.last().text).toContain('🟢 \u2068Cold <wallet>\u2069')
    await ann.press('More')
    await ann.press('Name')
    await ann.say('line\nbreak')
    expect(ann.last().text).toMatch(/^⚠️ Line breaks, control characters/)
    // A filler that Telegram lets pass.
    await ann.say('\uffa0')
    expect(ann.last().text).toMatch(/^⚠️ Enter at least one visible character\./)
    await ann.press(packed('watch.set', { id, field: 'lab', value: 'own' }))
    expect((await watch()).label).toBe('FLR · 0x7099…79C8')
  })
})

describe('a typed value', () => {
  test.each([
    ['en', '1,250.5'],
    ['de', '1.250,5'],
    ['fr', '1\u202f250,5'],
    ['bn', '১,২৫০.৫'],
    ['zh', '１２５０.５'],
    ['hi', '१२५०.५'],
    ['ar', '١٬٢٥٠٫٥'],
  ] as const)('is understood as %s writes it', async (locale, text) => {
    await ann.say(`/language ${locale}`)
    await ann.say(`/watches ${id}`)
    await ann.press('Rule')
    await ann.press(packed('watch.edit', { id, field: 'thr' }))
    await ann.say(text)
    expect(await threshold()).toMatchObject({ threshold: '1250.5' })
    await ann.say('/language en')
  })

  test('is shown with every decimal that was typed, in the editor and on the card', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('1.000012345678901234')
    expect(ann.last().text).toContain('✓ Threshold: 1.000012345678901234\u00a0FLR')
    expect(ann.last().text).toContain('Alert: a change of 1.000012345678901234\u00a0FLR or more')
    await ann.press('Rule')
    await ann.press('Threshold')
    expect(ann.last().text).toContain('Now: 1.000012345678901234')
  })

  test('replaces the question in its message, and is deleted itself', async () => {
    const card = ann.last().id
    await ann.press('Rule')
    await ann.press('Threshold')
    world.telegram.send(ann.id, '250')
    await world.settle()
    expect(ann.last().id).toBe(card)
    expect(ann.last().text).toContain('✓ Threshold: 250\u00a0FLR')
    expect(world.telegram.messages(ann.id).filter(({ text }) => text === '250')).toEqual([])
  })

  test('is answered in a new message below an alert that came meanwhile', async () => {
    const card = ann.last().id
    await ann.press('Rule')
    await ann.press('Threshold')
    world.clock.advance(5)
    const { recipients } = await peopleOf()
    const at = world.app.clock.now()
    await recordDeliverySuccesses(
      world.app.db,
      recipients.map((recipientId) => ({
        recipientId,
        successAt: at,
        failureAt: null,
        failingSince: null,
        reason: null,
        disable: null,
      })),
      'all',
    )
    await ann.say('250')
    expect(ann.last().id).toBeGreaterThan(card)
    expect(ann.all().some((message) => message.id === card)).toBe(false)
    expect(ann.last().text).toContain('✓ Threshold: 250\u00a0FLR')
  })

  test('that is refused is asked for again with the allowed values, and with /cancel after three refusals', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    for (const [text, refusal] of [
      ['abc', /^⚠️ “\u2068abc\u2069” is not a number\. Send one from 0\.000001.* such as 100/],
      ['0', /^⚠️ “\u20680\u2069” is too small\. The minimum is 0\.000001/],
      ['9'.repeat(20), /^⚠️ .* is too large\. The maximum is 1,000,000,000,000,000/],
    ] as const) {
      expect(ann.last().text).not.toContain('/cancel')
      await ann.say(text)
      expect(ann.last().text).toMatch(refusal)
      expect(ann.last().text).toContain('Now: 100')
    }
    expect(ann.last().text).toContain('Send /cancel to leave.')
    await ann.say(`0.${'1'.repeat(19)}`)
    expect(ann.last().text).toMatch(/^⚠️ Send at most 18 decimals/)
    await ann.say('5')
    expect(await threshold()).toMatchObject({ threshold: '5' })
  })

  test.each([
    '100 WFLR',
    '5 min',
    '20 €',
  ])('with a unit that has no known worth is refused: %s', async (text) => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say(text)
    expect(ann.last().text).toContain(`“\u2068${text}\u2069” is not an amount in FLR.`)
    expect(ann.labels().flat().join()).not.toContain('Use ')
    await ann.say('15k FLR')
    expect(await threshold()).toMatchObject({ threshold: '15000' })
  })

  test('of a percentage is no price', async () => {
    const price = await world.addWatch('alice', {
      label: 'Price',
      type: 'feed-move',
      target: { feed: 'FLR/USD' },
      settings: { percent: 5, windowSeconds: 3600 },
    })
    await ann.say(`/watches ${price}`)
    await ann.press('Rule')
    await ann.press(packed('watch.edit', { id: price, field: 'pct' }))
    await ann.say('0.03 USD')
    expect(ann.last().text).toContain('is not a percentage. Send one, such as 5%.')
    await ann.say('2.5 percent')
    const { settings } = await world.as('alice', getWatch, { params: { id: String(price) } })
    expect(settings).toMatchObject({ percent: 2.5 })
    await world.as('alice', deleteWatch, { params: { id: String(price) } })
  })

  test('cannot be a picture', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    world.telegram.sendMedia(ann.id, 'photo')
    await world.settle()
    expect(ann.last().text).toMatch(/^⚠️ Send text, or use the buttons\./)
    await ann.say('7')
    expect(await threshold()).toMatchObject({ threshold: '7' })
  })

  test('with a hostile text is echoed as text', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('<b>&"\' \u202e 5 of \u2069 them <3')
    expect(ann.last().text).toContain('<b>&"\' ')
    expect(world.telegram.calls.filter(({ refused }) => refused !== undefined)).toEqual([])
  })
})

async function peopleOf() {
  const links = await listChatLinks(world.app, ann.id)
  return { recipients: links.map(({ recipientId }) => recipientId) }
}

describe('a number that follows a saved value', () => {
  test('changes it again, whether it was typed or pressed', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('300')
    const card = ann.last().id
    await ann.say('400')
    expect(ann.last().text).toContain('✓ Threshold: 400\u00a0FLR')
    expect(ann.last().id).toBe(card)
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.press('10\u00a0FLR')
    world.clock.advance(119)
    await ann.say('250 FLR')
    expect(await threshold()).toMatchObject({ threshold: '250' })
  })

  test('is asked for again when it does not fit', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('300')
    await ann.say('0')
    expect(ann.last().text).toMatch(/^⚠️ /)
    await ann.say('310')
    expect(await threshold()).toMatchObject({ threshold: '310' })
  })

  test('means nothing after two minutes, another text, a command or another screen', async () => {
    for (const between of [
      async () => world.clock.advance(121),
      () => ann.say('thanks'),
      () => ann.say('/menu'),
      async () => {
        world.telegram.pressRaw(ann.id, ann.last().id, packed('home'))
        await world.settle()
      },
    ]) {
      await ann.say(`/watches ${id}`)
      await ann.press('Rule')
      await ann.press('Threshold')
      await ann.say('300')
      await between()
      await ann.say('400')
      expect(ann.last().text).toMatch(/^(?:Not|Still not) understood/)
      expect(await threshold()).toMatchObject({ threshold: '300' })
      world.clock.advance(90)
    }
  })
})

describe('the open question', () => {
  test('is kept over a restart', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await world.restart()
    await ann.say('33')
    expect(await threshold()).toMatchObject({ threshold: '33' })
  })

  test('is closed by a press on its message and by any command', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.press('‹ \u2068Treasury\u2069')
    await ann.say('33')
    expect(ann.last().text).toMatch(/^Not understood/)
    await ann.say(`/watches ${id}`)
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('/help')
    await ann.say('33')
    expect(ann.last().text).toMatch(/^Not understood/)
    expect(await threshold()).toMatchObject({ threshold: '100' })
  })

  test('stays open when a button of another message is pressed', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    const other = world.telegram.pressRaw(ann.id, 999_999, '1:none')
    await world.settle()
    await other.answer()
    await ann.say('44')
    expect(await threshold()).toMatchObject({ threshold: '44' })
  })

  test('is closed by /cancel, which shows the card', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await ann.say('/cancel')
    expect(ann.last().text).toContain('🟢 \u2068Treasury\u2069')
    await ann.say('/cancel')
    expect(ann.last().text).toBe('There is nothing to cancel.')
  })

  test('expires after a day', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    world.clock.advance(24 * 3600 + 1)
    await ann.say('33')
    expect(ann.last().text).toMatch(/^Not understood/)
  })

  test('about a watch that was deleted meanwhile is answered with that', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    await world.as('alice', deleteWatch, { params: { id: String(id) } })
    await ann.say('33')
    expect(ann.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
  })

  test('of a chat that was unlinked meanwhile changes nothing', async () => {
    const bo = await world.linked('bob')
    const own = await world.addWatch('bob', { label: 'Own' })
    await bo.say(`/watches ${own}`)
    await bo.press('Rule')
    await bo.press('Threshold')
    await unlinkChat(world.app, { chatId: bo.id })
    await bo.say('33')
    expect(bo.last().text).not.toContain('✓')
  })

  test('belongs to one chat alone', async () => {
    const bo = await world.linked('alice')
    await bo.say(`/watches ${id}`)
    await bo.press('Rule')
    await bo.press('Threshold')
    await ann.say('33')
    expect(ann.last().text).toMatch(/^Not understood/)
    await bo.say('34')
    expect(await threshold()).toMatchObject({ threshold: '34' })
  })
})

describe('a change', () => {
  test('that lost to a concurrent change shows the current watch', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    // The other change waits for the row lock of this one.
    const data = packed('watch.set', { id, field: 'thr', value: '10' })
    let rename: Promise<unknown> = Promise.resolve()
    await world.app.db.transaction(async (tx) => {
      await tx.execute(sql`select id from watches where id = ${id} for update`)
      const press = world.telegram.press(ann.id, ann.last().id, data)
      rename = runOutsideTransaction(() => world.settle())
      await tx.execute(sql`select pg_sleep(0.3)`)
      await tx.execute(
        sql`update watches set version = version + 1, label = 'New' where id = ${id}`,
      )
      expect(press.queryId).not.toBe('')
    })
    await rename
    expect(ann.last().text).toContain(
      '⚠️ This item was changed a moment ago. Check the current version.',
    )
    expect(ann.last().text).toContain('\u2068New\u2069')
    expect(await threshold()).toMatchObject({ threshold: '100' })
  })

  test('from a forged button is checked like any other', async () => {
    for (const value of ['-5', '1e9', '0', 'abc']) {
      world.telegram.pressRaw(
        ann.id,
        ann.last().id,
        packed('watch.set', { id, field: 'thr', value }),
      )
      await world.settle()
      expect(ann.last().text).toMatch(/^⚠️ /)
    }
    world.telegram.pressRaw(ann.id, ann.last().id, packed('watch.edit', { id, field: 'zzz' }))
    await world.settle()
    expect(ann.last().text).toContain('\u2068Treasury\u2069')
    expect(await threshold()).toMatchObject({ threshold: '100' })
  })

  test('pressed twice is made and shown', async () => {
    await ann.press('Rule')
    await ann.press('Threshold')
    const { id: messageId } = ann.last()
    const data = packed('watch.set', { id, field: 'thr', value: '10' })
    world.telegram.press(ann.id, messageId, data)
    world.telegram.press(ann.id, messageId, data)
    await world.settle()
    expect(ann.last().text).toContain('✓ Threshold: 10\u00a0FLR')
  })
})

describe('in a group', () => {
  test('values are chosen, and typed in the private chat', async () => {
    const { id: groupId } = world.telegram.group({
      title: 'Crew',
      members: [ann.id],
      admins: [ann.id],
    })
    const group = world.chat(groupId, ann.id)
    await group.say(`/start ${await world.groupCode('alice')}`)
    await group.press('Link this chat')
    await group.say(`/watches ${id}`)
    await group.press('Rule')
    await group.press('Threshold')
    const typed = group
      .last()
      .keyboard.flat()
      .find(({ text }) => text === 'Type a value')
    expect(typed?.url).toContain(`?start=w${id}`)
    await group.say('/watches@somebody_else_bot')
    await group.press('10 FLR'.replace(' ', '\u00a0'))
    expect(await threshold()).toMatchObject({ threshold: '10' })
  })
})
