import { formatUnits } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { listLive } from '#bot/core/live-store.ts'
import { privateState } from '#bot/core/middleware/identify.ts'
import { findOpenQuestion, storeQuestion } from '#bot/core/session.ts'
import { findChat } from '#bot/core/store.ts'
import { readDraft, WIZARD_QUESTION } from '#bot/features/new/draft.ts'
import { awaitStep } from '#bot/features/topup/resumed-step.ts'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { packed } from '#src/actions/codec.ts'
import { createChallenge } from '#src/auth/service.ts'
import { formatAmount } from '#src/i18n/format.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { draftLinkedPurchase } from '#src/operations/pages/links.ts'
import { getAccount } from '#src/operations/rest/account.ts'
import { listSubscriptions, updateSubscriptions } from '#src/operations/rest/subscriptions.ts'
import { confirmTopup, createTopup } from '#src/operations/rest/topups.ts'
import { deleteWatch, listWatches } from '#src/operations/rest/watches.ts'
import {
  claimConnectCode,
  connectScopes,
  peekConnectCode,
  refuseConnectCode,
} from '#src/recipients/connect.ts'
import type { TestChat } from '../support/bot.ts'
import { type MoneyWorld, moneyWorld } from '../support/bot-money.ts'
import { deleteDeliveries } from '../support/deliveries.ts'
import { BOT_NAME } from '../support/harness.ts'
import { notifyOutcomes } from '../support/live.ts'

/** Buying credits in the chat, paid on a real chain. */

let world: MoneyWorld

beforeAll(async () => {
  world = await moneyWorld()
  await world.accept('alice')
})
afterAll(() => world.close())
afterEach(() => world.pass(700))

/** The text with every kind of space replaced by a plain one. */
const plain = ({ text }: Pick<ChatMessage, 'text'>) => text.replace(/\s+/g, ' ')
/** Presses the way to pay in an asset; its button names the amount. */
const payIn = (chat: TestChat, asset: string) =>
  chat.press(
    chat
      .labels()
      .flat()
      .find((label) => label.split(' · ')[0]?.endsWith(`\u00a0${asset}`)) ?? asset,
  )

const says = (chat: TestChat) => plain(chat.last())
const copied = (chat: TestChat, label: string) =>
  chat
    .last()
    .keyboard.flat()
    .find(({ text }) => text === label)?.copy_text?.text

const chats = new Map<string, TestChat>()

/** The chat of Alice's in a language. */
async function chatIn(locale = 'en'): Promise<TestChat> {
  const known = chats.get(locale)
  if (known !== undefined) return known
  const chat = await world.linked('alice', ['read', 'write'], locale)
  chats.set(locale, chat)
  return chat
}

/** That chat with a quote on its screen. */
async function quoted(asset: string, locale = 'en') {
  const ann = await chatIn(locale)
  await ann.say('/topup')
  await ann.press(packed('topup.asset', { asset }))
  await ann.press(packed('topup.quote', { asset, credits: 10_000 }))
  return { ann, quote: await world.quoteOf('alice') }
}

describe('/topup', () => {
  test('asks for the terms once, and continues when they are accepted', async () => {
    const ann = await world.linked('carol')
    await ann.say('/topup')
    expect(says(ann)).toContain('Terms, version 2026-11')
    expect(ann.labels()).toEqual([['Accept and continue'], ['‹ Back']])
    await ann.press('Accept and continue')
    expect(says(ann)).toContain('Buy credits · you have 0 USD (0 credits)')
    await ann.say('/topup')
    expect(says(ann)).toContain('Buy credits')
  })

  test('shows the present terms to a person who accepts former ones', async () => {
    const ann = await world.linked('bob')
    await ann.say('/topup')
    const old = packed('terms.yes', { next: 'topup', terms: '00000000' })
    const press = world.telegram.pressRaw(ann.id, ann.last().id, old)
    await world.settle()
    await press.answer()
    expect(says(ann)).toContain('Terms, version 2026-11')
  })

  test('shows every way to pay on its button, with its price and bonus, and one that is capped', async () => {
    const ann = await chatIn()
    await ann.say('/topup')
    expect(says(ann)).toBe(
      '💳 Buy credits · you have 0 USD (0 credits) Pay 10 USD (10,000 credits) with:',
    )
    expect(ann.labels()).toEqual([
      ['200\u00a0WDG · +10%', '500\u00a0WFLR'],
      ['500\u00a0FLR', '4\u00a0FXRP'],
      ['4\u00a0XRP'],
      ['‹ Menu'],
    ])
    await ann.say('/topup 2,500,001')
    expect(says(ann)).toContain('FXRP: at most 1,000 FXRP per top-up')
    expect(ann.labels().flat().join()).not.toContain('FXRP')
  })

  test('leaves out the assets that cannot be used now, and says why', async () => {
    const { contracts } = world
    const hourAgo = new Date(world.clock.now().getTime() - 3_600_000)
    const ann = await chatIn()
    await ann.say('/topup')
    await payIn(ann, 'FLR')
    try {
      await contracts.setPaused(true)
      await contracts.setFeed('XRP/USD', 250_000n, 5, hourAgo)
      await contracts.setFeed('FLR/USD', 200_000n, 7, hourAgo)
      await world.pass(60)
      await ann.press(packed('topup.quote', { asset: 'FLR', credits: 10_000 }))
      expect(says(ann)).toContain('⚠️ FLR cannot be used for payments right now.')
      expect(says(ann)).toContain('Buying credits is not possible right now.')
      expect(ann.labels()).toEqual([['‹ Menu']])
      await contracts.setFeed('FLR/USD', 200_000n, 7)
      await world.pass(60)
      await ann.say('/topup')
      expect(says(ann)).toContain('WFLR: paused right now')
      expect(says(ann)).toContain('XRP: not available right now, try again soon')
      expect(ann.labels()[0]).toEqual(['500\u00a0FLR'])
    } finally {
      await contracts.setPaused(false)
      await contracts.setFeed('XRP/USD', 250_000n, 5)
      await contracts.setFeed('FLR/USD', 200_000n, 7)
    }
  })

  test('with a number quotes that number of credits', async () => {
    const ann = await chatIn()
    await ann.say('/topup 25,000')
    expect(ann.labels().flat()).toContain('1,250\u00a0WFLR')
    await payIn(ann, 'FLR')
    expect(says(ann)).toContain('Pay 1,250 FLR for 25 USD (25,000 credits)')
  })

  test('shows the amount of the quote, as a person types it', async () => {
    const { contracts } = world
    const ann = await chatIn()
    try {
      await contracts.setFeed('FLR/USD', 118_720n, 7)
      await world.pass(60)
      await ann.say('/topup 10,000')
      expect(ann.labels().flat()).toContain('842.32\u00a0WFLR')
      await payIn(ann, 'FLR')
      expect(says(ann)).toContain('Pay 842.32 FLR for 10 USD (10,000 credits)')
    } finally {
      await contracts.setFeed('FLR/USD', 200_000n, 7)
      await world.pass(60)
    }
  })

  test('is opened by a deep link, and is refused in a group', async () => {
    const ann = await chatIn()
    await ann.say('/start topup')
    expect(says(ann)).toContain('Buy credits')
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const crew = world.chat(id, ann.id)
    await crew.say('/topup')
    expect(says(crew)).toContain('Only available in a private chat.')
    expect(crew.last().keyboard[0]?.[0]?.url).toContain('?start=topup')
  })

  test('in a chat that only receives is refused, with a button to connect the wallet', async () => {
    const ann = await world.linked('alice', ['read'])
    await ann.say('/topup')
    expect(says(ann)).toBe('This chat can only receive alerts.')
    expect(ann.labels()).toEqual([['Connect wallet'], ['‹ Menu']])
    const forged = packed('topup.quote', { asset: 'FLR', credits: 10_000 })
    world.telegram.pressRaw(ann.id, ann.last().id, forged)
    await world.settle()
    expect(says(ann)).toContain('This chat is not allowed to do that.')
  })

  test.each([
    ['zero', '0', 'The minimum is 10 USD (10,000 credits).'],
    ['too few', '9,999', 'The minimum is 10 USD (10,000 credits).'],
    ['parts of credits', '10000.5', 'Whole credits only.'],
    ['words', 'a lot', '“\u2068a lot\u2069” is not a number.'],
    [
      'more than the cap',
      '2,500,001',
      'The maximum per top-up is 1,000 FXRP · 2,500 USD (2,500,000 credits).',
    ],
    ['more than anybody may', '99,999,999,999', 'The maximum per top-up is 1,000 FXRP'],
  ])('refuses %s and asks again', async (_what, text, answer) => {
    const ann = await chatIn()
    await ann.say('/topup')
    await payIn(ann, 'FXRP')
    await ann.say(text)
    expect(says(ann)).toContain(answer)
    expect(says(ann)).toContain('How many credits?')
    await ann.say('20000')
    expect(says(ann)).toContain('Pay 8 FXRP for 20 USD (20,000 credits)')
  })

  test.each([
    ['bn', '২৫,০০০'],
    ['ar', '٢٥٠٠٠'],
    ['hi', '२५,०००'],
    ['de', '25.000'],
  ])('understands amounts as people write them in %s', async (locale, text) => {
    const ann = await chatIn(locale)
    await ann.say('/topup')
    await payIn(ann, 'FLR')
    await ann.say(text)
    expect((await world.quoteOf('alice')).credits).toBe(25_000)
  })
})

describe('an amount with a unit', () => {
  test.each([
    ['15k', 15_000],
    ['$20', 20_000],
    ['20 USD', 20_000],
    ['12.5 dollars', 12_500],
  ])('is worth its credits: %s', async (text, credits) => {
    const ann = await chatIn()
    await ann.say('/topup')
    await payIn(ann, 'FLR')
    await ann.say(text)
    expect((await world.quoteOf('alice')).credits).toBe(credits)
  })

  test('is taken with the command, and a refused one is explained', async () => {
    const ann = await chatIn()
    await ann.say('/topup 20 USD')
    expect(says(ann)).toContain('Pay 20 USD (20,000 credits) with:')
    await ann.say('/topup 5 USD')
    expect(says(ann)).toContain('The minimum is 10 USD (10,000 credits).')
    await ann.say('/topup 20 €')
    expect(says(ann)).toContain('“\u206820 €\u2069” is not a number of credits.')
  })

  test('in the chosen asset is refused, with a button for the credits that it pays for', async () => {
    const ann = await chatIn()
    await ann.say('/topup')
    await payIn(ann, 'FLR')
    await ann.say('1,000 FLR')
    expect(says(ann)).toContain('“\u20681,000 FLR\u2069” is not a number of credits.')
    expect(says(ann)).toContain('1,000 FLR ≈ 20,000 credits')
    await ann.press('Use 20,000 credits')
    expect((await world.quoteOf('alice')).credits).toBe(20_000)
  })

  test.each(['20 WFLR', '5%', '30 min'])('that pays for nothing is refused: %s', async (text) => {
    const ann = await chatIn()
    await ann.say('/topup')
    await payIn(ann, 'FLR')
    await ann.say(text)
    expect(says(ann)).toContain('is not a number of credits.')
    expect(ann.labels().flat().join()).not.toContain('Use ')
  })
})

describe('a quote', () => {
  test('of a token is paid on the page, and does not show the contract’s address', async () => {
    const { ann, quote } = await quoted('WFLR')
    expect(says(ann)).toContain('Pay 500 WFLR for 10 USD (10,000 credits)')
    expect(says(ann)).toContain('10 min left')
    expect(ann.labels()).toEqual([['Pay in browser'], ['‹ Asset']])
    expect(ann.last().keyboard[0]?.[0]?.url).toBe(`${quote.page}?lang=en&tz=UTC`)
    expect(JSON.stringify(ann.last())).not.toContain(world.contracts.router)
  })

  test('leads back to the choice of the asset', async () => {
    const { ann } = await quoted('WFLR')
    await ann.press('‹ Asset')
    expect(says(ann)).toContain('Open quote: 500 WFLR, 10 min left')
  })

  test('of FLR can be paid by hand with the reference as data', async () => {
    const { ann, quote } = await quoted('FLR')
    expect(ann.labels()).toEqual([['Pay in browser'], ['Other ways…'], ['‹ Asset']])
    await ann.press('Other ways…')
    expect(copied(ann, 'Copy amount')).toBe(formatUnits(quote.amount, 18))
    expect(copied(ann, 'Copy address')).toBe(world.contracts.payTo)
    expect(says(ann)).toContain(`Data: ${quote.handle}`)
    expect(says(ann)).toContain('Credited to: 0xf39F…2266 · 10 USD in total')
    expect(says(ann)).toContain('Paying from an exchange does not work.')
    await ann.press('‹ Payment')
    expect(ann.labels()).toEqual([['Pay in browser'], ['Other ways…'], ['‹ Asset']])
  })

  test('whose other ways are open turns with its payment', async () => {
    const { ann, quote } = await quoted('FLR')
    await ann.press('Other ways…')
    const { id } = ann.last()
    await world.follow(61)
    expect(says(ann)).toContain('9 min left')
    expect(copied(ann, 'Copy address')).toBe(world.contracts.payTo)
    await world.pay(quote)
    await world.confirmAll()
    await world.follow(30)
    expect(ann.last().id).toBe(id)
    expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
  })

  test('is not edited while nothing changes', async () => {
    const { ann } = await quoted('XRP')
    const { id } = ann.last()
    const edits = () =>
      world.telegram.calls.filter(
        ({ method, payload }) => method === 'editMessageText' && payload['message_id'] === id,
      ).length
    const before = edits()
    await world.follow(3)
    expect(edits()).toBe(before)
  })

  test('of XRP opens a wallet, and names address and tag', async () => {
    const { ann, quote } = await quoted('XRP')
    expect(ann.labels()).toEqual([['Open Xaman'], ['Other ways…'], ['‹ Asset']])
    expect(ann.last().keyboard[0]?.[0]?.url).toBe(quote.pageQr)
    await ann.press('Other ways…')
    expect(copied(ann, 'Copy address')).toBe(world.xrpl.address)
    expect(copied(ann, 'Copy tag')).toBe(String(quote.destinationTag))
    expect(says(ann)).toContain(`Destination tag: ${quote.destinationTag}`)
    expect(says(ann)).toContain('Without the destination tag')
    const page = ann
      .last()
      .keyboard.flat()
      .find(({ text }) => text === 'Payment details')
    expect(page?.url).toBe(`${quote.page}?lang=en&tz=UTC`)
  })

  test('of the service’s own token names the bonus', async () => {
    const { ann } = await quoted('service')
    expect(says(ann)).toContain(
      'Pay 200 WDG for 10 USD (10,000 credits) plus 1 USD (1,000 credits) bonus',
    )
  })

  test('counts down by the minute, and in the last minute by 15 seconds', async () => {
    const { ann } = await quoted('WFLR')
    const { id } = ann.last()
    for (const [seconds, left] of [
      [61, '9 min left'],
      [400, '3 min left'],
      [100, '45 s left'],
      [15, '30 s left'],
    ] as const) {
      await world.follow(seconds)
      expect(says(ann)).toContain(left)
    }
    expect(ann.last().id).toBe(id)
    await world.follow(30)
    expect(says(ann)).toContain('This quote has expired')
    expect(says(ann)).toContain('If you have already paid, nothing is lost')
    expect(ann.labels()).toEqual([['New quote'], ['‹ Menu']])
  })

  test('that a newer one replaced says so once, and stops counting down', async () => {
    const { ann, quote } = await quoted('FLR')
    const older = ann.last().id
    await quoted('FXRP')
    await world.follow(61)
    const message = ann.all().find(({ id }) => id === older)
    expect(message?.keyboard).toEqual([])
    expect(message?.text).toContain('A newer quote replaced this one.')
    expect(message?.text).not.toContain('locked until')
    const text = message?.text
    await world.follow(120)
    expect(ann.all().find(({ id }) => id === older)?.text).toBe(text)
    expect(quote.status).toBe('draft')
  })

  test('is offered to be opened at the next purchase', async () => {
    const { ann, quote } = await quoted('WFLR')
    await ann.say('/topup')
    expect(says(ann)).toContain('Open quote: 500 WFLR, 10 min left')
    await ann.press('Open quote')
    expect(ann.last().keyboard[0]?.[0]?.url).toBe(`${quote.page}?lang=en&tz=UTC`)
  })

  test('of another wallet is not found', async () => {
    const bobs = await world.accept('bob').then(() => world.as('bob', createTopup, { body: {} }))
    const { ann } = await quoted('WFLR')
    for (const verb of ['topup.check', 'topup.ways'] as const) {
      const data = packed(verb, { handle: bobs.handle })
      const press = world.telegram.pressRaw(ann.id, ann.last().id, data)
      await world.settle()
      await press.answer()
      expect(says(ann), verb).toContain(
        'This item no longer exists, or it belongs to another wallet.',
      )
    }
  })

  test.each(LOCALES)('is shown in %s', async (locale) => {
    const { ann } = await quoted('XRP', locale)
    expect(ann.last().text).not.toContain('{{')
    expect(ann.last().keyboard.length).toBeLessThanOrEqual(8)
  })
})

describe('a payment', () => {
  test('changes its message from detected to credited, and sends no other', async () => {
    const { ann, quote } = await quoted('WFLR')
    const { id } = ann.last()
    const count = ann.all().length
    const hash = await world.pay(quote)
    await world.look()
    await world.follow()
    expect(says(ann)).toContain('Payment detected. Confirmations: 1 of 2.')
    expect(says(ann)).toContain(hash)
    expect(ann.labels()).toEqual([['‹ Menu']])
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
    expect(says(ann)).toMatch(/You have [\d.,]+ USD/)
    expect(says(ann)).toContain('Paid: 500 WFLR, receipt')
    expect(ann.labels()).toEqual([['Slots'], ['Top up again'], ['‹ Menu']])
    expect(ann.last().id).toBe(id)
    expect(ann.all()).toHaveLength(count)
  })

  test('is a notice in the wallet’s other chats, and not in the chat that shows it', async () => {
    const other = await world.linked('alice')
    const { ann, quote } = await quoted('FLR')
    await deleteDeliveries(world.app.db)
    await world.pay(quote)
    await world.confirmAll()
    const readers = await world.sql<{ chatId: number }[]>`
      select chat_id::int as "chatId" from deliveries join recipients on recipients.id = recipient_id
      where envelope->>'kind' = 'notice'`
    const chatIds = readers.map(({ chatId }) => chatId)
    expect(chatIds).toContain(other.id)
    expect(chatIds).not.toContain(ann.id)
  })

  test('is followed after a restart', async () => {
    const { ann, quote } = await quoted('FLR')
    await world.restart()
    await world.pay(quote)
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
  })

  test('in XRP is credited when it is found', async () => {
    const { ann, quote } = await quoted('XRP')
    await world.pay(quote)
    await world.look()
    await world.follow()
    expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
    expect(says(ann)).toContain('Paid: 4 XRP')
  })

  test('of less or more than quoted is credited in proportion, and the message says so', async () => {
    const less = await quoted('WFLR')
    await world.pay(less.quote, (less.quote.amount * 3n) / 4n)
    await world.confirmAll()
    await world.follow()
    expect(says(less.ann)).toContain('✅ 7.50 USD (7,500 credits) added')
    expect(says(less.ann)).toContain(
      'You paid 375 WFLR of 500 WFLR. The payment was credited at the locked price.',
    )
    const more = await quoted('WFLR')
    await world.pay(more.quote, more.quote.amount * 2n)
    await world.confirmAll()
    await world.follow()
    expect(says(more.ann)).toContain('✅ 20 USD (20,000 credits) added')
    expect(says(more.ann)).toContain('You paid more than requested; the full amount is credited.')
  })

  test('of a part is credited, and the remainder can be paid at the same price', async () => {
    for (const asset of ['WFLR', 'FLR', 'XRP']) {
      const { ann, quote } = await quoted(asset)
      const half = quote.amount / 2n
      await world.pay(quote, half)
      await world.confirmAll()
      await world.follow()
      expect(says(ann)).toContain('✅ 5 USD (5,000 credits) added')
      const rest = formatAmount({ units: half, decimals: quote.decimals, symbol: asset }, 'en')
      expect(says(ann)).toContain(
        `Still to pay: ${rest.replace('\u00a0', ' ')}, the same way and at this price, until `,
      )
      expect(ann.labels().flat()).not.toContain('Top up again')
      if (asset !== 'WFLR') {
        await ann.press('Other ways…')
        expect(copied(ann, 'Copy amount')).toBe(formatUnits(half, quote.decimals))
      }
      await world.pay(quote, half)
      await world.confirmAll()
      await world.follow(30)
      expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
      expect(says(ann)).not.toContain('Still to pay')
      expect(ann.labels()).toEqual([['Slots'], ['Top up again'], ['‹ Menu']])
    }
  })

  test('of a large part offers a top-up of the remainder when the quote has expired', async () => {
    const ann = await chatIn()
    await ann.say('/topup 100000')
    await payIn(ann, 'WFLR')
    const quote = await world.quoteOf('alice')
    await world.pay(quote, quote.amount / 2n)
    await world.confirmAll()
    await world.follow()
    expect(ann.labels().flat()).not.toContain('Top up the rest')
    await world.follow(605)
    await ann.press('Top up the rest')
    expect(says(ann)).toContain('(50,000 credits)')
  })

  test('that is late is credited at the price at that time, and the message says so', async () => {
    const { ann, quote } = await quoted('WFLR')
    await world.follow(605)
    expect(says(ann)).toContain('This quote has expired')
    await world.contracts.setFeed('FLR/USD', 400_000n, 7)
    await world.pay(quote)
    await world.confirmAll()
    await world.follow(60)
    expect(says(ann)).toContain('✅ 20 USD (20,000 credits) added')
    expect(says(ann)).toContain('The payment arrived after the quote expired')
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  })

  test('in the wrong token is not credited, and the message shows its reference', async () => {
    const { ann, quote } = await quoted('WFLR')
    const { contracts, devnet } = world
    await contracts.pay(
      devnet.people.bob.account.address,
      quote.handle,
      contracts.serviceToken,
      10n ** 18n,
    )
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('Not credited. The payment was made in another asset.')
    expect(says(ann)).toContain(`Payment reference: ${quote.handle.slice(0, 6)}…`)
    expect(ann.labels()).toEqual([['New quote'], ['‹ Menu']])
  })

  test('whose block was reorganized is waited for again', async () => {
    const { ann, quote } = await quoted('FLR')
    await world.pay(quote)
    await world.look()
    await world.follow()
    expect(says(ann)).toContain('Confirmations: 1 of 2')
    await world.devnet.reorg(1)
    await world.devnet.mine(2, 1)
    await world.look()
    await world.follow()
    expect(says(ann)).toContain('The block was reorganized. Waiting for the payment again.')
    await world.follow(30)
    expect(says(ann)).toContain('The block was reorganized.')
    await world.pay(quote)
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('✅ 10 USD (10,000 credits) added')
  })

  test('does not edit a message that shows another screen by then', async () => {
    const { ann, quote } = await quoted('WFLR')
    await ann.press('‹ Asset')
    await ann.press('‹ Menu')
    await world.pay(quote)
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('Watchdog · 0xf39F')
    expect(says(ann)).not.toContain('added')
  })

  test('is reported in an older message too, which has no buttons', async () => {
    const { ann, quote } = await quoted('WFLR')
    const { id } = ann.last()
    await ann.say('/topup')
    await world.pay(quote)
    await world.confirmAll()
    await world.follow()
    const older = ann.all().find((message) => message.id === id)
    expect(older?.text).toContain('10\u00a0USD (10,000 credits) added')
    expect(older?.keyboard).toEqual([])
  })

  test('is no longer shown in a chat that blocked the bot', async () => {
    const { ann, quote } = await quoted('WFLR')
    chats.clear()
    world.telegram.block(ann.id)
    await world.settle()
    await world.pay(quote)
    await world.confirmAll()
    await world.follow()
    expect(says(ann)).toContain('Waiting for the payment.')
    const followed = await listLive(world.app.db, { chatId: ann.id, kind: 'topup' })
    expect(followed.map(({ handle }) => handle)).not.toContain(quote.handle)
  })
})

describe('a transaction that was submitted on the page', () => {
  const submit = async (handle: `0x${string}`, txHash: string) => {
    // A refusal is recorded, too, and the chat shows it.
    await world
      .as('alice', confirmTopup, { params: { handle }, body: { txHash } })
      .catch((error: unknown) => expect(error).toMatchObject({ code: 'topup_state' }))
    await world.follow(30)
  }

  test('is shown as not found while nobody knows it', async () => {
    const { ann, quote } = await quoted('FLR')
    const ways = ann.labels()
    const mistyped = `0x${'1f'.repeat(32)}`
    await submit(quote.handle, mistyped)
    expect(says(ann)).toContain(`Transaction ${mistyped} has not been found yet. Check the hash`)
    expect(ann.labels()).toEqual(ways)
    await world.follow(601)
    expect(says(ann)).toContain('This quote has expired')
    expect(says(ann)).toContain('Check the hash')
  })

  test('that failed is shown with its reason, and can be paid again', async () => {
    const { ann, quote } = await quoted('WFLR')
    await world.contracts.setPaused(true)
    const hash = await world.pay(quote)
    await world.contracts.setPaused(false)
    await submit(quote.handle, hash)
    expect(says(ann)).toContain('nothing was paid. Reason: This payment method is paused.')
    expect(ann.labels()).toEqual([['Pay in browser'], ['New quote'], ['‹ Menu']])
  })

  test('that paid another address is recorded as no payment', async () => {
    const { ann, quote } = await quoted('FLR')
    const { contracts, devnet } = world
    const { bob, carol } = devnet.people
    const from = bob.account.address
    const elsewhere = await contracts.sendNative(from, carol.account.address, 1n, quote.handle)
    await submit(quote.handle, elsewhere.hash)
    expect(says(ann)).toContain(
      'Not credited. The transaction contains no payment to this service.',
    )
    expect(says(ann)).toContain('No payment has arrived here')
    expect(says(ann)).not.toContain('recorded')
  })
})

test('the credits for renewals of slots are offered as an amount', async () => {
  await world.giveSlots('carol', 3)
  await world.as('carol', updateSubscriptions, { body: { autoRenew: true } })
  const carol = await world.linked('carol')
  await carol.say('/topup')
  await payIn(carol, 'FLR')
  await carol.press('Slots: 10\u00a0USD')
  expect(says(carol)).toContain('Pay 500 FLR for 10 USD (10,000 credits)')
})

describe('a payment for slots', () => {
  const BUY = { asset: 'FLR', credits: 10_000, quantity: 1, periods: 1, renew: false }

  /** Bob without a slot, and the quote of a purchase from the wizard's card. */
  async function waiting() {
    const wallet = PEOPLE.bob.account.address
    for (const { id } of (await world.as('bob', listWatches)).data) {
      await world.as('bob', deleteWatch, { params: { id: String(id) } })
    }
    await world.sql`delete from topup_purchases where wallet = ${wallet}`
    await world.sql`delete from subscriptions where wallet = ${wallet}`
    const bob = await world.linked('bob', ['read', 'write', 'spend'])
    await bob.say('/new wallet')
    expect(says(bob)).toContain('30 days: 0.50 USD')
    world.telegram.pressRaw(bob.id, bob.last().id, packed('topup.buy', BUY))
    await world.settle()
    return { bob, quote: await world.quoteOf('bob') }
  }
  const paid = async (quote: Parameters<MoneyWorld['pay']>[0]) => {
    await world.pay(quote)
    await world.confirmAll()
  }

  test('leads from its quote back to the choice of the asset for the same slots', async () => {
    const { bob } = await waiting()
    await bob.press('‹ Asset')
    expect(says(bob)).toContain('1 watch, 30 days: 0.50 USD (500 credits).')
    await bob.press('‹ Back')
    expect(says(bob)).toContain('30 days: 0.50 USD')
    expect(bob.labels().flat()).toContain('Continue')
    await bob.press('Pay')
    await bob.press('Open quote')
    expect(says(bob)).toContain('Pay 500 FLR')
  })

  test('returns to the wizard from the screen on which the chat is allowed to spend', async () => {
    await world.accept('bob')
    const bob = await world.linked('bob')
    await bob.say('/new wallet')
    await bob.press('Pay')
    await payIn(bob, 'FLR')
    expect(says(bob)).toContain('Let this chat spend your credits')
    await bob.press('‹ Back')
    expect(says(bob)).toContain('Pay 10 USD (10,000 credits) with:')
    await bob.press('‹ Back')
    expect(says(bob)).toContain('30 days: 0.50 USD')
    expect(bob.labels()).toContainEqual(['Continue'])
  })

  test('tops up, buys the slot and asks the wizard’s next question, which a text answers', async () => {
    await world.accept('bob')
    const bob = await world.linked('bob', ['read', 'write', 'spend'])
    await bob.say('/new wallet')
    expect(says(bob)).toContain('One watch, 30 days: 0.50 USD (500 credits).')
    await bob.press('Pay')
    expect(says(bob)).toContain(
      '1 watch, 30 days: 0.50 USD (500 credits). Remaining: 9.50 USD (9,500 credits).',
    )
    expect(says(bob)).toContain('Auto-renew is off: nothing more is charged.')
    await payIn(bob, 'FLR')
    for (const text of [
      'Buys 1 watch, 30 days: 0.50 USD (500 credits).',
      'Auto-renew is off: nothing more is charged.',
    ]) {
      expect(says(bob)).toContain(text)
    }
    const quote = await world.quoteOf('bob')
    expect(quote.then).toMatchObject({ slots: 1, periods: 1, status: 'waiting' })
    await paid(quote)
    const { balanceCredits } = await world.as('bob', getAccount)
    const count = bob.all().length
    await world.follow()
    expect(bob.all()).toHaveLength(count)
    for (const text of [
      '✅ 10 USD (10,000 credits) added',
      '🎟️ 1 slot added for 0.50 USD (500 credits). Auto-renew is off: nothing more',
      `(${balanceCredits.toLocaleString('en')} credits).`,
      'New watch · Wallet balance · 1/3',
    ]) {
      expect(says(bob)).toContain(text)
    }
    const { capacity } = await world.as('bob', listSubscriptions)
    expect(capacity).toMatchObject({ purchased: 1, available: 1 })
    await bob.say(PEOPLE.carol.account.address)
    await bob.press('10\u00a0FLR')
    expect(says(bob)).toContain('Alert: a change of 10 FLR or more')
    await world.follow()
    expect(says(bob)).toContain('Alert: a change of 10 FLR or more')
    await bob.press('Create')
    expect(says(bob)).toContain('is now being watched.')
  })

  test('asks the question again when the process ended before it was recorded', async () => {
    const { bob, quote } = await waiting()
    const followed =
      await world.sql`select * from telegram_live_messages where handle = ${quote.handle}`
    const [chat] = await world.sql`select * from telegram_chats where id = ${bob.id}`
    await paid(quote)
    await world.follow()
    const shown = says(bob)
    expect(shown).toContain('New watch · Wallet balance')
    await world.sql`insert into telegram_live_messages ${world.sql(followed)}`
    await world.sql`
      update telegram_chats set topup_message_id = ${chat?.topup_message_id}, wizard_message_id = null
      where id = ${bob.id}`
    await world.sql`delete from telegram_questions where chat_id = ${bob.id}`
    await world.follow()
    expect(says(bob)).toBe(shown)
    await bob.say(PEOPLE.carol.account.address)
    expect(says(bob)).toContain('New watch · Wallet balance · 2/3')
  })

  test.each([
    [
      'of yesterday',
      async (bob: TestChat) => {
        await world.sql`
          update telegram_drafts set updated_at = updated_at - interval '2 hours'
          where chat_id = ${bob.id}`
      },
    ],
    [
      'of an unknown format',
      async (bob: TestChat) => {
        await world.sql`
          update telegram_drafts
          set values = jsonb_set(values, '{step}', '"gone"') where chat_id = ${bob.id}`
      },
    ],
    [
      'while another question is open',
      async (bob: TestChat) => {
        await world.sql`
          insert into telegram_questions
            (chat_id, person_id, kind, about, message_id, refusals, asked_at, expires_at)
          values (${bob.id}, ${bob.id}, 'rec.mail', '{}', 1, 0, ${world.clock.now()},
            ${new Date(world.clock.now().getTime() + 3_600_000)})
          on conflict (chat_id, person_id) do update set kind = 'rec.mail', about = '{}'`
      },
    ],
  ])('offers a draft %s by a button', async (_what, change) => {
    const { bob, quote } = await waiting()
    await change(bob)
    await paid(quote)
    await world.follow()
    expect(says(bob)).toContain('🎟️ 1 slot added for 0.50 USD (500 credits).')
    expect(says(bob)).not.toContain('New watch')
    expect(bob.labels()[0]).toEqual(['Resume: Wallet balance'])
  })

  test('replaces no question that was opened while its message was edited', async () => {
    const { bob } = await waiting()
    const known = await findChat(world.app.db, bob.id)
    if (known === undefined) throw new Error('no chat')
    const state = await privateState(world.app, known, BOT_NAME)
    const draft = await readDraft(state)
    const place = { chatId: bob.id, personId: bob.id }
    const ask = async (kind: string) =>
      storeQuestion(state, place, { kind, about: {}, messageId: 1, refusals: 0 })
    const step = { view: { html: '', rows: [] }, rev: draft?.rev ?? 0 }
    await ask(WIZARD_QUESTION)
    expect(await awaitStep(state, 2, { ...step, rev: step.rev + 1 })).toBe(false)
    await ask('rec.mail')
    expect(await awaitStep(state, 2, step)).toBe(false)
    expect(await findOpenQuestion(state)).toMatchObject({ kind: 'rec.mail', messageId: 1 })
    await ask(WIZARD_QUESTION)
    expect(await awaitStep(state, 2, step)).toBe(true)
    expect(await findOpenQuestion(state)).toMatchObject({ messageId: 2, about: { rev: step.rev } })
  })

  test('buys the slot although its chat was unlinked before the payment, and sends nothing to that chat', async () => {
    const { bob, quote } = await waiting()
    await world.sql`delete from recipients where wallet = ${PEOPLE.bob.account.address}`
    const before = bob.all().map(plain)
    await paid(quote)
    await world.follow()
    expect(bob.all().map(plain)).toEqual(before)
    expect(await world.as('bob', listSubscriptions)).toMatchObject({ capacity: { purchased: 1 } })
  })

  describe('in a chat that may not spend', () => {
    async function asked(quantity = 1, begun?: TestChat) {
      const reader = begun ?? (await world.linked('carol', ['read', 'write']))
      await reader.say('/topup')
      const data = packed('topup.buy', { ...BUY, quantity })
      const press = world.telegram.pressRaw(reader.id, reader.last().id, data)
      await world.settle()
      await press.answer()
      expect(says(reader)).toContain('select the box and sign with')
      expect(says(reader)).toContain('You pay about 500 FLR.')
      return { reader, code: copied(reader, 'Copy link')?.split('/connect/')[1] ?? '' }
    }

    async function sign(code: string, spend: boolean): Promise<void> {
      const { account } = PEOPLE.carol
      const wallet = account.address
      const scopes = [...connectScopes(spend)]
      const { message } = await createChallenge(world.app, { wallet, scopes, label: undefined })
      const signature = await account.signMessage({ message })
      await claimConnectCode(world.app, { code, message, signature })
    }

    const notify = () => notifyOutcomes(world)
    const draft = (code: string) =>
      invoke(world.app, draftLinkedPurchase, { link: 'connect', code }, {}).then(
        ({ output }) => output,
      )

    test('asks for that right and then shows the quote, one for the page and the chat', async () => {
      await world.accept('carol')
      const { reader, code } = await asked()
      expect(says(reader)).toContain('1 watch, 30 days: 0.50 USD (500 credits). Remaining:')
      expect(says(reader)).toContain('You pay about 500 FLR. If the box is selected')
      expect(await draft(code)).toBeUndefined()
      await sign(code, true)
      const [, page, again] = await Promise.all([notify(), draft(code), draft(code)])
      const quote = await world.quoteOf('carol')
      expect(quote.then).toMatchObject({ slots: 1, periods: 1, status: 'waiting' })
      expect([page, again, await draft(code)]).toEqual([quote.handle, quote.handle, quote.handle])
      const [connected, shown] = reader.all().slice(-2)
      expect(connected?.text).toContain('spend credits')
      expect(shown && plain(shown)).toContain('Pay 500 FLR for 10 USD (10,000 credits)')
      await world.pay(quote)
      await world.confirmAll()
      await world.follow()
      expect(says(reader)).toContain('1 slot added')
      expect(says(reader)).toContain('What should be watched?')
      expect(reader.labels()[0]).toEqual(['💰 Wallet balance', '🛰️ Data provider'])
    })

    test('goes on with the form that the person had begun before', async () => {
      await world.accept('carol')
      await world.sql`delete from topup_purchases where wallet = ${PEOPLE.carol.account.address}`
      await world.sql`delete from subscriptions where wallet = ${PEOPLE.carol.account.address}`
      const reader = await world.linked('carol', ['read', 'write'])
      await reader.say('/new price')
      expect(says(reader)).toContain('30 days: 0.50 USD')
      const { code } = await asked(1, reader)
      await sign(code, true)
      await Promise.all([notify(), draft(code)])
      await world.pay(await world.quoteOf('carol'))
      await world.confirmAll()
      await world.follow()
      expect(says(reader)).toContain('1 slot added')
      expect(says(reader)).toContain('Which price? Send a name')
      await reader.say('BTC')
      expect(says(reader)).toContain('BTC/USD')
    })

    test('leads back to the choice of the asset for the same slots', async () => {
      const { reader } = await asked(2)
      await reader.press('‹ Back')
      expect(says(reader)).toContain('2 watches, 30 days: 1 USD (1,000 credits).')
      expect(reader.labels().flat()).toEqual(
        expect.arrayContaining(['500\u00a0WFLR', '500\u00a0FLR']),
      )
    })

    test('offers the purchase again when the right was not given', async () => {
      await world.accept('carol')
      const { reader, code } = await asked(2)
      await sign(code, false)
      await notify()
      expect(await draft(code)).toBeUndefined()
      expect(reader.labels()[0]).toEqual(['Add slots'])
      const [add] = reader.last().keyboard[0] ?? []
      expect(add?.callback_data).toBe(
        packed('slots.quote', { quantity: 2, periods: 1, renew: false }),
      )
    })

    test('keeps the code that is shown if the account cannot be read for a new one', async () => {
      const { reader, code } = await asked()
      const { text, keyboard } = reader.last()
      const data = packed('topup.buy', { ...BUY, quantity: 2 })
      await world.sql`alter table accounts rename to hidden_accounts`
      try {
        world.telegram.pressRaw(reader.id, reader.last().id, data)
        await world.settle()
      } finally {
        await world.sql`alter table hidden_accounts rename to accounts`
      }
      expect(reader.last().text).toContain(text)
      expect(reader.last().keyboard).toEqual(expect.arrayContaining([...keyboard]))
      expect(await peekConnectCode(world.app, code)).toMatchObject({ state: 'open' })
    })

    test('asks again after the code was refused, with the same purchase', async () => {
      await world.accept('carol')
      const { reader, code } = await asked()
      await refuseConnectCode(world.app, code)
      await notify()
      expect(says(reader)).toContain('Nothing was linked.')
      const [retry] = reader.last().keyboard[0] ?? []
      expect(retry?.callback_data).toBe(packed('topup.buy', BUY))
    })
  })
})
