import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { translate } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createRecipient, listRecipients } from '#src/operations/rest/recipients.ts'
import { updateSubscriptions } from '#src/operations/rest/subscriptions.ts'
import { blockChat, listChatLinks } from '#src/recipients/chats.ts'
import { type BotWorld, botWorld, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { checkScreen } from '../support/buttons.ts'

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const linksOf = (chatId: number) => listChatLinks(world.app, chatId)

async function linked(name: Parameters<typeof walletOf>[0] = 'alice') {
  const ann = world.person()
  await ann.say(`/start ${await world.linkCode(name)}`)
  await ann.press('Link this chat')
  return ann
}

describe('/start', () => {
  test('explains the service to a person without a link, with a button to connect', async () => {
    const ann = world.person()
    await ann.say('/start')
    expect(ann.last().text).toContain('Watchdog watches wallets, price feeds and data providers')
    expect(ann.last().text).toContain('never asks for a private key')
    expect(ann.labels()).toEqual([
      ['Connect wallet'],
      ['I hold FLR', 'I run a provider'],
      ['🌐 English'],
    ])
    expect(ann.last().linkPreview).toEqual({ is_disabled: true })
  })

  test.each(LOCALES)('speaks %s when the person’s app does', async (locale) => {
    const ann = world.person(locale === 'zh' ? 'zh-hans' : locale)
    await ann.say('/start')
    const firstLine = translate(locale, 'bot:start.safety')
    expect(ann.last().text).toContain(firstLine)
    expect(ann.labels().at(-1)?.[0]).toMatch(/^🌐 /)
  })

  test('speaks English to a person of another language', async () => {
    const ann = world.person('pt-br')
    await ann.say('/start')
    expect(ann.last().text).toContain('Watchdog watches')
  })

  test('shows a linked person the states of the watches', async () => {
    const ann = await linked('bob')
    await world.addWatch('bob', { label: 'One' })
    await ann.say('/start')
    expect(ann.last().text).toContain('1 watch, OK')
    await world.addWatch('bob', { label: 'Two', status: 'paused' })
    await ann.say('/start')
    expect(ann.last().text).toContain('🟢 1 OK')
    expect(ann.last().text).toContain('⏸️ 1 paused')
    expect(ann.labels()[1]).toEqual(expect.arrayContaining(['Watches', 'New watch']))
  })

  test('says when the credits are too few for the next renewal, and when the chat is muted', async () => {
    await world.giveSlots('carol', 1)
    const ann = await linked('carol')
    expect(ann.last().text).toContain('💳 0\u00a0USD (0 credits) · 🎟️ Watches: 0 of 1')
    await world.as('carol', updateSubscriptions, { body: { autoRenew: true } })
    await ann.say('/menu')
    expect(ann.last().text).toMatch(
      /💳 0\sUSD \(0 credits\) · renewal on [\w, ]+ costs 0\.50\sUSD \(500 credits\)\n🎟️ Watches: 0 of 1/,
    )
    await ann.say('/mute 1h')
    await ann.say('/menu')
    expect(ann.last().text).toMatch(/\n🔕 This chat: muted until \d\d:\d\d/)
  })

  test('opens a watch of its own wallet by its deep link, and no other', async () => {
    const ann = await linked()
    const own = await world.addWatch('alice', { label: 'Mine' })
    const other = await world.addWatch('carol', { label: 'Hers' })
    await ann.say(`/start w${own}`)
    expect(ann.last().text).toContain('Mine')
    await ann.say(`/start w${other}`)
    expect(ann.last().text).toBe('This item no longer exists, or it belongs to another wallet.')
    const stranger = world.person()
    await stranger.say(`/start w${own}`)
    expect(stranger.last().text).toContain('This link only works in a linked chat.')
    expect(stranger.last().text).not.toContain('Mine')
  })
})

describe('the example alert', () => {
  const stored = () =>
    world.app.db.execute(sql`
      select (select count(*) from alerts) as alerts, (select count(*) from deliveries) as deliveries,
        (select count(*) from watches) as watches, (select count(*) from recipients) as recipients`)

  test('looks and acts like a real one, is marked as an example, and stores nothing', async () => {
    const before = await stored()
    const ann = world.person()
    await ann.say('/start')
    const { id } = ann.last()
    await ann.press('I run a provider')
    expect(ann.last().id).toBe(id)
    expect(ann.last().text).toMatch(/^🧪 Example: /)
    expect(ann.last().text).toContain(
      '🟠 \u2068Node A\u2069: FTSO commit missing in 2 consecutive rounds',
    )
    expect(ann.last().text).toMatch(/Warning · since [\d:]+\sUTC · [56] min\n/)
    expect(ann.labels()).toEqual([
      ['Acknowledge', 'What to do'],
      ['Mute…', 'Details'],
      ['Connect wallet'],
      ['‹ Back'],
    ])
    expect((await ann.press('Acknowledge')).text).toContain('Acknowledged.')
    expect(ann.last().text).toMatch(/acknowledged by \u2068Ann\u2069, \d\d:\d\d/)
    await ann.press('What to do')
    expect(ann.labels().slice(0, 3)).toEqual([
      ['Unacknowledge', '✓ What to do'],
      ['Connect wallet'],
      ['‹ Back'],
    ])
    expect(ann.labels().flat()).toContain('Unacknowledge')
    expect(ann.last().text).toContain('read its log')
    await ann.press('✓ What to do')
    await ann.press('Mute…')
    const toast = await ann.press('Mute 1\u00a0h')
    expect(toast.text).toMatch(/Node A.* is muted until \d\d:\d\d/)
    expect(ann.last().text).toContain('🔕 until')
    await ann.press('Unmute')
    await ann.press('Unacknowledge')
    expect(ann.last().text).not.toMatch(/acknowledged|🔕|read its log/)
    await ann.press('‹ Back')
    expect(ann.last()).toMatchObject({ id, text: expect.stringContaining('Watchdog watches') })
    expect(await stored()).toEqual(before)
  })

  test('has a watch with a name in the reader’s language', async () => {
    const ben = world.person('de')
    await ben.say('/start')
    await ben.press('Ich halte FLR')
    expect(ben.last().text).toContain('Ersparnisse')
  })

  test('for a holder of FLR is a transfer with the same buttons', async () => {
    const ann = world.person()
    await ann.say('/start')
    await ann.press('I hold FLR')
    expect(ann.last().text).toContain('🟠 \u2068Savings\u2069 sent 12,500\u00a0FLR')
    expect(ann.last().text).toContain('Savings')
    // A transfer is not open until it recovers.
    expect((await ann.press('Acknowledge')).text).toBe('Acknowledged.')
    expect(ann.last().text).toMatch(/sent 12,500\u00a0FLR.*acknowledged by \u2068Ann/s)
    await ann.press('Mute…')
    const toast = await ann.press('Mute 1\u00a0h')
    expect(toast.text).toMatch(/Savings.* is muted until/)
    await ann.press('What to do')
    expect(ann.labels().flat()).toEqual(expect.arrayContaining(['Unacknowledge', '✓ What to do']))
  })

  test('has rounds that match its times, a few minutes ago', async () => {
    const ann = world.person()
    await ann.say('/start')
    await ann.press('I run a provider')
    const { text } = ann.last()
    const head = /since (\d\d:\d\d):\d\d/.exec(text)?.[1]
    const [, body, first = ''] =
      /since (?:[^:]+, )?(\d\d:\d\d)\sUTC \(round (\d+)\)/.exec(text) ?? []
    expect(body).toBe(head)
    expect(text).not.toContain('Round:')
    // The present round of Flare.
    const startsAt = (1_658_430_000 + Number(first) * 90) * 1000
    expect(new Date(startsAt).toISOString().slice(11, 16)).toBe(head)
    const ageMs = world.clock.now().getTime() - startsAt
    expect(ageMs).toBeGreaterThanOrEqual(300_000)
    expect(ageMs).toBeLessThan(390_000)
  })

  test('keeps its times when its buttons are pressed two hours later', async () => {
    const ann = world.person()
    await ann.say('/start')
    await ann.press('I run a provider')
    const since = /since [\d:]+/.exec(ann.last().text)?.[0]
    world.clock.advance(7200)
    await ann.press('What to do')
    expect(ann.last().text).toContain(since)
  })

  test.each(LOCALES)('fits its message in %s', async (locale) => {
    const ann = world.person(locale === 'zh' ? 'zh-hans' : locale)
    await ann.say('/start')
    await ann.press(translate(locale, 'bot:button.example.provider'))
    checkScreen(ann.last())
    await ann.press(translate(locale, 'messages:button.action'))
    checkScreen(ann.last())
    expect(ann.last().text).toContain('\n\n')
  })
})

describe('a link', () => {
  test('shows wallet, chat, rights and expiry, and links the chat when confirmed', async () => {
    const ann = world.person()
    const code = await world.linkCode('alice')
    await ann.say(`/start ${code}`)
    expect(ann.last().text).toContain(walletOf('alice'))
    expect(ann.last().text).toContain('Ann')
    expect(ann.last().text).toContain('private')
    expect(ann.last().text).toContain('receive alerts, manage watches')
    const end = new Date(world.clock.now().getTime() + 15 * 60_000).toISOString().slice(11, 16)
    expect(ann.last().text).toContain(`Valid until: ${end}\u00a0UTC`)
    expect(ann.labels()).toEqual([['Link this chat', 'Cancel']])
    expect(await linksOf(ann.id)).toEqual([])

    const card = ann.last().id
    await ann.press('Link this chat')
    expect(ann.last().id).toBe(card)
    expect(ann.last().text).toContain('✅ This chat is linked.')
    expect(await linksOf(ann.id)).toMatchObject([
      { wallet: walletOf('alice'), scopes: ['read', 'write'], linkedBy: ann.id, name: 'Ann' },
    ])
  })

  test('names the rights of the chat', async () => {
    const ann = world.person()
    await ann.say(`/start ${await world.linkCode('alice', ['read'])}`)
    expect(ann.last().text).toContain('Allows: receive alerts\n')
    await ann.say(`/start ${await world.linkCode('alice', ['read', 'write', 'spend'])}`)
    expect(ann.last().text).toContain('manage watches, spend credits')
  })

  test('links nothing when it is canceled, and is no longer valid afterwards', async () => {
    const ann = world.person()
    const code = await world.linkCode('alice')
    await ann.say(`/start ${code}`)
    await ann.press('Cancel')
    expect(ann.last().text).toBe('Canceled. Nothing was linked.')
    expect(ann.labels()).toEqual([['Connect wallet'], ['‹ Menu']])
    await ann.say(`/start ${code}`)
    expect(ann.last().text).toContain('This link is no longer valid.')
    expect(await linksOf(ann.id)).toEqual([])
  })

  test('works once, and for 15 minutes', async () => {
    const ann = world.person()
    const ben = world.person('en', 'Ben')
    const code = await world.linkCode('alice')
    await ann.say(`/start ${code}`)
    await ben.say(`/start ${code}`)
    await ann.press('Link this chat')
    await ben.press('Link this chat')
    expect(ben.last().text).toContain('This link is no longer valid.')
    expect(await linksOf(ben.id)).toEqual([])

    const late = await world.linkCode('alice')
    await ben.say(`/start ${late}`)
    world.clock.advance(15 * 60)
    await ben.press('Link this chat')
    expect(ben.last().text).toContain('This link is no longer valid.')
    await ben.say('/start AAAAAAAAAAAAAAAAAAAAAA')
    expect(ben.last().text).toContain('This link is no longer valid.')
  })

  test('creates one recipient when its button is pressed twice', async () => {
    const ann = world.person()
    const code = await world.linkCode('alice')
    await ann.say(`/start ${code}`)
    const { id } = ann.last()
    world.telegram.press(ann.id, id, packed('link.yes', { code }))
    world.telegram.press(ann.id, id, packed('link.yes', { code }))
    await world.settle()
    expect(await linksOf(ann.id)).toHaveLength(1)
    expect(ann.last()).toMatchObject({
      id,
      text: expect.stringContaining('✅ This chat is linked.'),
    })
  })

  test('changes the rights of a chat that is linked already', async () => {
    const ann = await linked()
    await ann.say(`/start ${await world.linkCode('alice', ['read'])}`)
    await ann.press('Link this chat')
    expect(ann.last().text).toContain(
      'This chat is already linked. Permissions now: receive alerts.',
    )
    expect(await linksOf(ann.id)).toMatchObject([{ scopes: ['read'] }])
  })

  test('adds a second wallet, which becomes the chosen one', async () => {
    const ann = await linked()
    await ann.say(`/start ${await world.linkCode('carol')}`)
    await ann.press('Link this chat')
    await ann.say('/start')
    expect(ann.last().text).toContain(walletOf('carol').slice(0, 6))
    expect(await linksOf(ann.id)).toHaveLength(2)
  })

  test('stays valid when the wallet has 20 recipients already, and says that above the card', async () => {
    const { data } = await world.as('bob', listRecipients, { query: { limit: '50' } })
    for (let count = data.length; count < 20; count += 1) {
      const body = {
        name: `Hook ${count}`,
        channel: 'webhook',
        url: `https://example.org/${count}`,
      }
      await world.as('bob', createRecipient, { body })
    }
    const last = world.person()
    await last.say(`/start ${await world.linkCode('bob')}`)
    await last.press('Link this chat')
    expect(last.last().text).toMatch(/^⚠️ A wallet can have at most 20 recipients/)
    expect(last.last().text).toContain('Link this chat?')
    expect(last.labels()[0]).toEqual(['Retry'])
    const code = last.last().entities.find(({ type }) => type === 'code')
    const shown = last.last().text.slice(code?.offset, (code?.offset ?? 0) + (code?.length ?? 0))
    expect(shown).toBe(walletOf('bob'))
    await last.press('Retry')
    expect(last.last().text.match(/⚠️/g)).toHaveLength(1)
    expect(last.labels().flat()).toEqual(['Retry', 'Link this chat', 'Cancel'])
  })

  test('shows the hostile name of a chat as text, and links it', async () => {
    const ann = world.person('en', '<b>&"\'_*[]()~ <3\u202e')
    await ann.say(`/start ${await world.linkCode('alice')}`)
    expect(ann.last().text).toContain('<b>&"\'_*[]()~ <3')
    await ann.press('Link this chat')
    expect(await linksOf(ann.id)).toHaveLength(1)
  })
})

/** A chat that blocked the bot, missed an alert and returned. */
async function returned(name: Parameters<typeof walletOf>[0]) {
  const ann = await linked(name)
  world.telegram.block(ann.id)
  await world.settle()
  const id = await world.addWatch(name, { label: 'Kept' })
  await alertsIn(world).notice(id, { event: 'wallet-balance.moved' })
  world.telegram.unblock(ann.id)
  await world.settle()
  return ann
}

describe('a chat that blocks the bot', () => {
  test('is a blocked recipient, and an active one when it unblocks the bot', async () => {
    const ann = await linked()
    world.telegram.block(ann.id)
    await world.settle()
    expect(await linksOf(ann.id)).toMatchObject([{ status: 'blocked' }])
    world.telegram.unblock(ann.id)
    await world.settle()
    expect(await linksOf(ann.id)).toMatchObject([{ status: 'active' }])
    expect(ann.last().text).toContain('This chat receives alerts again.')
    expect(ann.labels().flat()).not.toContain('Discard')
  })

  test('is asked about the alerts that were retained meanwhile when it unblocks the bot', async () => {
    const ann = await returned('carol')
    const asked = ann.last()
    expect(asked.text).toBe('This chat receives alerts again. 1 alert was kept. Send it now?')
    expect(ann.labels()).toEqual([['Send 1', 'Discard']])
    // Telegram’s button “Restart” sends the command, too.
    await ann.say('/start')
    expect(ann.last().text).toBe('1 alert was kept. Send it now?')
    expect(ann.labels()).toEqual([['Send 1', 'Discard']])
    expect(ann.all().map(({ id }) => id)).not.toContain(asked.id)
    await ann.press('Discard')
    expect(ann.last().text).toContain('1 alert discarded.')
  })

  test('keeps the buttons of that question when it returns by a link that shows another card', async () => {
    const ann = await returned('alice')
    const asked = ann.last()
    const askedRow = () =>
      ann
        .all()
        .find(({ id }) => id === asked.id)
        ?.keyboard[0]?.map(({ text }) => text)
    await ann.say('/start group')
    expect(ann.last().text).toContain('What should the other chat be allowed to do?')
    expect(askedRow()).toEqual(['Send 1', 'Discard'])
    await ann.say('/watches')
    expect(askedRow()).toEqual(['Send 1', 'Discard'])
    await ann.press('Send 1')
    const texts = ann.all().map(({ text }) => text)
    expect(texts.filter((text) => text.includes('Send it now?'))).toEqual([])
  })

  test('is asked before another card when only its command shows that it returned', async () => {
    const ann = await linked('alice')
    const id = await world.addWatch('alice', { label: 'Kept, too' })
    await blockChat(world.app, ann.id, world.clock.now())
    await alertsIn(world).notice(id, { event: 'wallet-balance.moved' })
    await ann.say('/start group')
    const [asked, card] = ann.all().slice(-2)
    expect(asked?.text).toContain('1 alert was kept. Send it now?')
    expect(asked?.keyboard[0]?.map(({ text }) => text)).toEqual(['Send 1', 'Discard'])
    expect(card?.text).toContain('What should the other chat be allowed to do?')
  })

  test('while it is answered becomes a blocked recipient without an error', async () => {
    const ann = await linked()
    world.telegram.failNext('sendMessage', {
      error_code: 403,
      description: 'Forbidden: bot was blocked by the user',
    })
    await ann.say('/watches')
    expect(await linksOf(ann.id)).toMatchObject([{ status: 'blocked' }])
    await ann.say('/start')
    expect(await linksOf(ann.id)).toMatchObject([{ status: 'active' }])
  })
})
