import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { termsCode } from '#bot/features/terms/terms.ts'
import { packed } from '#src/actions/codec.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { acceptTerms, getAccount } from '#src/operations/rest/account.ts'
import {
  listSubscriptions,
  startTrial,
  updateSubscriptions,
} from '#src/operations/rest/subscriptions.ts'
import { API_TIMEOUT_SECONDS, createApi } from '#src/telegram/api.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { BOT_TOKEN } from '../support/harness.ts'

/** Slots in the chat: what they cost, buying them, the trial, and auto-renew. */

type Name = 'alice' | 'bob' | 'carol'

let world: BotWorld
let startedAt: Date

beforeAll(async () => {
  world = await botWorld()
  startedAt = world.clock.now()
})
afterAll(() => world.close())

const says = (chat: TestChat) => chat.last().text.replace(/\s+/g, ' ')
const SPENDER = ['read', 'write', 'spend'] as const

/** Runs a test in an empty world, with unused wallets. */
async function inFreshWorld(run: () => Promise<void>): Promise<void> {
  await world.database.empty()
  world.clock.set(startedAt)
  await run()
}

/** A wallet with a number of credits that has accepted the terms. */
async function withCredits(name: Name, credits: number): Promise<void> {
  await world.giveSlots(name, 1)
  await giveCredits(world.app, walletOf(name), credits)
}

const balanceOf = async (name: Name) => (await world.as(name, getAccount)).balanceCredits
const subscriptionsOf = async (name: Name) => (await world.as(name, listSubscriptions)).data

describe('/slots', () => {
  test('shows used slots, credits, the price, suspended watches and the way to buy', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice')
      await ann.say('/slots')
      expect(says(ann)).toContain('Slots · 0 of 0 used')
      expect(says(ann)).toContain('You have 0 USD (0 credits).')
      expect(says(ann)).toContain(
        'A slot is room for one watch: 0.50 USD (500 credits) for 30 days.',
      )
      expect(ann.labels()).toEqual([
        ['Add slots'],
        ['Start the free trial'],
        ['Top up'],
        ['‹ Menu'],
      ])
      await world.giveSlots('alice', 2)
      await world.addWatch('alice', { label: 'One' })
      await world.addWatch('alice', { label: 'Two' })
      await world.addWatch('alice', { label: 'Three <b>', status: 'suspended' })
      await world.addWatch('alice', { label: 'Four', status: 'suspended' })
      await ann.say('/start slots')
      expect(says(ann)).toContain('Slots · 2 of 2 used')
      expect(says(ann)).toContain(
        'Suspended until a slot is free: \u2068Three <b>\u2069 and \u2068Four\u2069',
      )
      expect(says(ann)).toContain('2 slots until Dec 20, 2026 · auto-renew: off')
      expect(ann.labels()).toContainEqual(['Subscriptions', 'Top up'])
    }))

  test('and every other screen show the same number of used slots, beside that of watches that wait for one', () =>
    inFreshWorld(async () => {
      await world.giveSlots('alice', 2)
      await world.addWatch('alice', { label: 'One' })
      await world.addWatch('alice', { label: 'Two' })
      await world.addWatch('alice', { label: 'Three', status: 'suspended' })
      await world.addWatch('alice', { label: 'Four', status: 'suspended' })
      const ann = await world.linked('alice')
      for (const [command, used] of [
        ['/menu', 'Watches: 2 of 2'],
        ['/status', 'Watches: 2 of 2'],
        ['/watches', 'Watches · 2 of 2'],
        ['/new', 'All your watches are in use · 2 of 2'],
      ] as const) {
        await ann.say(command)
        expect(says(ann)).toContain(used)
        expect(says(ann)).toContain('2 waiting for a slot')
      }
      await ann.say('/slots')
      expect(says(ann)).toContain('Slots · 2 of 2 used')
    }))

  test('is followed by the renewal of a subscription from the link of a mail, and by the list', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      const [subscription] = await subscriptionsOf('alice')
      await ann.say('/start renewals')
      expect(says(ann)).toContain('Subscription 1: 1 slot until Dec 20, 2026, auto-renew: off')
      expect(ann.labels().flat()).toContain('Renewal 1 on')
      await ann.say(`/start renew${subscription?.id}`)
      expect(says(ann)).toContain('Renew once')
      const [[pay = ''] = []] = ann.labels()
      await ann.press(pay)
      expect((await subscriptionsOf('alice'))[0]?.startsAt).toEqual(subscription?.endsAt)
      expect(await balanceOf('alice')).toBe(4500)
      await ann.say('/start renew999999')
      expect(says(ann)).toContain('Slots · 0 of 1 used')
    }))

  test('is refused in a group, with a link to the private chat', async () => {
    const ann = await world.linked('bob')
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const crew = world.chat(id, ann.id)
    await crew.say('/menu')
    const press = world.telegram.pressRaw(id, crew.last().id, packed('slots'), { from: ann.id })
    await world.settle()
    expect((await press.answer()).url).toContain('?start=slots')
  })

  test('starts the trial once, after its terms', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice')
      await ann.say('/slots')
      await ann.press('Start the free trial')
      expect(says(ann)).toContain('Free trial: 1 watch for 14 days')
      const { text } = await ann.press('Start the free trial')
      expect(text).toContain('Your trial runs until')
      await ann.say('/slots')
      expect(says(ann)).toContain('Slots · 0 of 1 used')
      expect(says(ann)).toContain('Trial: 1 slot until Dec 4, 2026')
      expect(ann.labels().flat()).not.toContain('Start the free trial')
    }))

  test('that was used meanwhile is not offered again, and the rest goes on', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice')
      await ann.say('/slots')
      await ann.press('Start the free trial')
      const card = ann.last()
      const { version } = world.app.billing.terms
      await world.as('alice', acceptTerms, { body: { version } })
      await world.as('alice', startTrial)
      await world.addWatch('alice', { label: 'Takes the slot' })
      const press = world.telegram.press(ann.id, card.id, 'Start the free trial')
      await world.settle()
      expect(await press.answer()).toMatchObject({
        text: 'The free trial is available once per wallet and once per Telegram account.',
        showAlert: true,
      })
      expect(says(ann)).toContain('All your watches are in use · 1 of 1')
      const labels = ann.labels().flat()
      expect(labels).toContain('Pay')
      expect(labels).not.toContain('Start the free trial')
      expect(labels).not.toContain('Retry')
    }))

  test('resumes the form of a new watch after a trial was started for it', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice')
      await ann.say('/new wallet')
      expect(says(ann)).toContain('30 days: 0.50 USD')
      expect(says(ann)).toContain('Free trial: 1 watch for 14 days')
      expect(says(ann)).toContain('By starting it, you accept the terms')
      expect(ann.labels()[0]).toEqual(['Start the free trial'])
      const { text } = await ann.press('Start the free trial')
      expect(text).toContain('Your trial runs until')
      expect(says(ann)).toContain('New watch · Wallet balance · 1/3')
      await ann.say(walletOf('bob'))
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      expect(says(ann)).toContain('is now being watched.')
    }))

  test.each(LOCALES)('is shown in %s', async (locale) => {
    const ann = await world.linked('alice', SPENDER, locale)
    await ann.say('/slots')
    await ann.press(packed('slots.quote', { quantity: 1, periods: 1, renew: false }))
    expect(ann.last().text).not.toContain('{{')
    // An abbreviation at the end of a sentence brings its own full stop.
    expect(ann.last().text).not.toContain('..')
  })
})

describe('a quote', () => {
  test('needs the terms first, and is shown when they are accepted', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      expect(says(ann)).toContain('Terms, version 2026-11')
      await ann.press('‹ Back')
      expect(says(ann)).toContain('A slot is room')
      await ann.press('Add slots')
      await ann.press('Accept and continue')
      expect(says(ann)).toContain('1 slot for 30 days, until Dec 20, 2026')
      expect(says(ann)).toContain('You have 0 USD (0 credits) and are 0.50 USD (500 credits) short')
      expect(ann.labels()).toEqual([
        ['1 slot', '+'],
        ['✓ 30 days'],
        ['180 days · −10%'],
        ['360 days · −20%'],
        ['Auto-renew: off'],
        ['Pay'],
        ['‹ Slots'],
      ])
    }))

  test('of several slots is the same after the terms', () =>
    inFreshWorld(async () => {
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      const terms = termsCode(world.app.billing.terms.version)
      const asked = { quantity: 3, periods: 6, renew: false, terms }
      const { id } = ann.last()
      world.telegram.pressRaw(ann.id, id, packed('slots.agree', { ...asked, terms: '00000000' }))
      await world.settle()
      expect(says(ann)).toContain('Terms, version 2026-11')
      await ann.press(packed('slots.agree', asked))
      expect(says(ann)).toContain('3 slots for 180 days')
    }))

  test('changes with number and duration, and names its discounts', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 100_000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      await ann.press('+')
      await ann.press('+')
      await ann.press('180 days · −10%')
      expect(says(ann)).toContain('3 slots for 180 days, until May 19, 2027')
      expect(says(ann)).toContain(
        'Price: 8.10 USD (8,100 credits) instead of 9 USD (9,000 credits) (−10%)',
      )
      expect(says(ann)).toContain('Remaining: 91.90 USD (91,900 credits)')
      expect(ann.labels()[0]).toEqual(['−', '3 slots', '+'])
      await ann.press('360 days · −20%')
      for (let added = 0; added < 7; added += 1) await ann.press('+')
      expect(says(ann)).toContain(
        '43.20 USD (43,200 credits) instead of 60 USD (60,000 credits) (−20% and −10%)',
      )
      await ann.press('−')
      expect(ann.labels()[0]).toContain('9 slots')
    }))

  test('of a term that is not sold is refused', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      for (const verb of ['slots.quote', 'topup.slots'] as const) {
        const data = packed(verb, { quantity: 1, periods: 0, renew: false })
        world.telegram.pressRaw(ann.id, ann.last().id, data)
        await world.settle()
        expect(says(ann)).toContain('⚠️')
        expect(says(ann)).toContain('A slot is room')
      }
    }))

  test('ends at the limit of slots of a wallet', () =>
    inFreshWorld(async () => {
      await world.giveSlots('alice', 18)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      await ann.press('+')
      expect(says(ann)).toContain('At most 20 slots per wallet; you can add 2.')
      expect(ann.labels()[0]).toEqual(['−', '2 slots'])
      await world.giveSlots('alice', 2)
      await ann.say('/slots')
      expect(ann.labels().flat()).not.toContain('Add slots')
      const data = packed('slots.quote', { quantity: 1, periods: 1, renew: false })
      world.telegram.pressRaw(ann.id, ann.last().id, data)
      await world.settle()
      expect(says(ann)).toContain('20 watches.')
    }))

  test('in a chat that may not spend offers to allow it, and no purchase', () =>
    inFreshWorld(async () => {
      await giveCredits(world.app, walletOf('alice'), 10_000)
      const ann = await world.linked('alice')
      await ann.say('/slots')
      await ann.press('Add slots')
      expect(says(ann)).toContain('This chat is not allowed to spend yet.')
      expect(ann.labels().flat()).toContain('Allow spending')
      expect(ann.labels().flat()).not.toContain('Top up')
      const data = packed('slots.buy', { quantity: 1, periods: 1, renew: false, credits: 500 })
      expect(
        ann
          .last()
          .keyboard.flat()
          .map(({ callback_data }) => callback_data),
      ).not.toContain(data)
      await ann.press('+')
      await ann.press('Allow spending')
      expect(says(ann)).toContain('Let this chat spend your credits')
      // The order is that of the page.
      const order =
        '2 watches, 30 days: 1 USD (1,000 credits). Auto-renew is off: nothing more is charged.'
      expect(says(ann)).toContain(order)
      await ann.press('‹ Back')
      expect(ann.labels().flat()).toEqual(expect.arrayContaining(['2 slots', 'Allow spending']))
      await ann.press('‹ Slots')
      expect(says(ann)).toContain('A slot is room')
    }))
})

test('a chat that may not spend, of a wallet without credits, is offered to pay and to top up', () =>
  inFreshWorld(async () => {
    const ann = await world.linked('alice')
    await ann.say('/slots')
    await ann.press('Add slots')
    expect(says(ann)).toContain('are 0.50 USD')
    expect(ann.labels().flat()).toEqual(expect.arrayContaining(['Pay', 'Top up']))
  }))

describe('Buy', () => {
  test('charges the price on the button and adds the slots', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 2000)
      const first = await world.addWatch('alice', { label: 'Runs' })
      await world.addWatch('alice', { label: 'Waits <b>', status: 'suspended' })
      expect(first).toBeGreaterThan(0)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      await ann.press('Auto-renew: off')
      const { text } = await ann.press('Buy: 0.50\u00a0USD')
      expect(text).toContain('Paid: 0.50\u00a0USD')
      expect(says(ann)).toContain('✅ 1 slot until Dec 20, 2026. Paid: 0.50 USD (500 credits).')
      expect(says(ann)).toContain('Left: 1.50 USD (1,500 credits).')
      expect(says(ann)).toContain('Auto-renew is on: 0.50 USD (500 credits) every 30 days.')
      expect(says(ann)).toContain('Resuming shortly: \u2068Waits <b>\u2069')
      // The waiting watch gets the slot, so none is left for a new one.
      expect(ann.labels()).toEqual([['‹ Slots']])
      expect((await subscriptionsOf('alice')).at(-1)).toMatchObject({
        quantity: 1,
        periods: 1,
        autoRenew: true,
        totalCredits: 500,
      })
    }))

  test('pressed three times buys once', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      const data = packed('slots.buy', { quantity: 1, periods: 1, renew: false, credits: 500 })
      const { id } = ann.last()
      world.telegram.press(ann.id, id, data)
      world.telegram.press(ann.id, id, data)
      await world.settle()
      world.telegram.pressRaw(ann.id, id, data)
      await world.settle()
      expect(await balanceOf('alice')).toBe(4500)
      expect(await subscriptionsOf('alice')).toHaveLength(2)
    }))

  test('with fewer credits than it needs says what is missing', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 800)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      await spendCredits(world.app, walletOf('alice'), 700)
      await ann.press('Buy: 0.50\u00a0USD')
      expect(says(ann)).toContain('⚠️')
      expect(says(ann)).toContain(
        'You have 0.10 USD (100 credits) and are 0.40 USD (400 credits) short',
      )
      expect(ann.labels().flat()).toContain('Pay')
      expect(await balanceOf('alice')).toBe(100)
    }))

  test('with a price that has changed buys nothing and shows the new price', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      const { id, keyboard } = ann.last()
      const data = packed('slots.buy', { quantity: 1, periods: 1, renew: false, credits: 400 })
      // A button of an earlier day, with a lower price.
      const rows = keyboard.map((row) =>
        row.map(({ text, callback_data = '' }) => ({
          text,
          callback_data: text.startsWith('Buy') ? data : callback_data,
        })),
      )
      const api = createApi({ token: BOT_TOKEN, apiRoot: world.telegram.url }, API_TIMEOUT_SECONDS)
      await api.editMessageReplyMarkup(ann.id, id, {
        reply_markup: { inline_keyboard: rows },
      })
      await ann.press(data)
      expect(says(ann)).toContain('⚠️ The price has changed to 0.50 USD (500 credits).')
      expect(await balanceOf('alice')).toBe(5000)
      await ann.press('Buy: 0.50\u00a0USD')
      expect(await balanceOf('alice')).toBe(4500)
      expect(says(ann)).toContain('Auto-renew is off: nothing more is charged.')
    }))

  test('without a form leads to the choice of a watch', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Add slots')
      await ann.press('Buy: 0.50\u00a0USD')
      expect(says(ann)).toContain('✅ 1 slot until Dec 20, 2026.')
      expect(says(ann)).toContain('What should be watched?')
      await ann.press(packed('new.type', { type: 'wallet-balance', address: undefined }))
      expect(says(ann)).toContain('New watch · Wallet balance · 1/3')
    }))

  test('outside of a form that had no slot goes on with that form', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await world.addWatch('alice', { label: 'Takes the slot' })
      await ann.say('/new wallet')
      expect(says(ann)).toContain('30 days: 0.50 USD')
      await ann.say('/slots')
      await ann.press('Add slots')
      const { text } = await ann.press('Buy: 0.50\u00a0USD')
      expect(text).toContain('1 slot until Dec 20, 2026')
      expect(says(ann)).toContain('New watch · Wallet balance · 1/3')
      await ann.say(walletOf('bob'))
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      expect(says(ann)).toContain('is now being watched.')
    }))

  test('offers to resume a form that the person left an hour ago', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await world.addWatch('alice', { label: 'Takes the slot' })
      await ann.say('/new wallet')
      expect(says(ann)).toContain('30 days: 0.50 USD')
      world.clock.advance(3700)
      await ann.say('/slots')
      await ann.press('Add slots')
      await ann.press('Buy: 0.50\u00a0USD')
      expect(ann.labels()).toEqual([['Resume: Wallet balance'], ['‹ Slots']])
      await ann.press('Resume: Wallet balance')
      expect(says(ann)).toContain('New watch · Wallet balance · 1/3')
    }))

  test('inside of a form that had no slot leads back to that form, which keeps its answers', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/new')
      await ann.press(packed('new.type', { type: 'wallet-balance', address: undefined }))
      await ann.say(walletOf('bob'))
      await world.addWatch('alice', { label: 'Takes the slot' })
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      await ann.press('1 watch: 0.50\u00a0USD')
      await ann.press('+')
      expect(ann.labels().at(-1)).toEqual(['‹ Back'])
      await ann.press('‹ Back')
      expect(says(ann)).toContain('All your watches are in use · 1 of 1')
      await world.giveSlots('alice', 1)
      await ann.press('Continue')
      expect(says(ann)).toContain('New watch · Wallet balance · 3/3')
      expect(says(ann)).toContain('a change of 10')
    }))

  test('inside of a form leads back to that form from the screen that allows spending', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice')
      await ann.say('/new')
      await ann.press(packed('new.type', { type: 'wallet-balance', address: undefined }))
      await ann.say(walletOf('bob'))
      await world.addWatch('alice', { label: 'Takes the slot' })
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      await ann.press('Allow spending')
      expect(says(ann)).toContain('Let this chat spend your credits')
      await ann.press('New code')
      await ann.press('‹ Back')
      expect(says(ann)).toContain('All your watches are in use · 1 of 1')
      await world.giveSlots('alice', 1)
      await ann.press('Continue')
      expect(says(ann)).toContain('New watch · Wallet balance · 3/3')
      expect(says(ann)).toContain('a change of 10')
    }))

  test('inside of a form that had no slot returns to that form', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/new')
      await ann.press(packed('new.type', { type: 'wallet-balance', address: undefined }))
      await ann.say(walletOf('bob'))
      await world.addWatch('alice', { label: 'Takes the slot' })
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      expect(says(ann)).toContain('All your watches are in use · 1 of 1')
      await ann.press('1 watch: 0.50\u00a0USD')
      expect(says(ann)).toContain('Add slots')
      const { text } = await ann.press('Buy: 0.50\u00a0USD')
      expect(text).toContain('1 slot until Dec 20, 2026')
      expect(says(ann)).toContain('New watch · Wallet balance · 3/3')
      await ann.press('Create')
      expect(says(ann)).toContain('is now being watched.')
    }))
})

describe('a new watch while another one waits for a slot', () => {
  const asked = (quantity: number) => ({ quantity, periods: 1, renew: false })

  /** A wallet without a free slot, one of whose watches waits for one. */
  async function waiting(credits: number): Promise<TestChat> {
    await withCredits('alice', credits)
    await world.addWatch('alice', { label: 'Runs' })
    await world.addWatch('alice', { label: 'Waits <b>', status: 'suspended' })
    return world.linked('alice', SPENDER)
  }

  test('says which watch gets a slot first, and offers slots for both', () =>
    inFreshWorld(async () => {
      const ann = await waiting(5000)
      await ann.say('/new wallet')
      expect(says(ann)).toContain('All your watches are in use · 1 of 1')
      expect(says(ann)).toContain(
        'Slots go to waiting watches first: \u2068Waits <b>\u2069. Remaining for a new watch: 1 slot.',
      )
      expect(ann.labels().slice(0, 2)).toEqual([['2 with the new watch'], ['1 for waiting ones']])
      await ann.press('2 with the new watch')
      expect(says(ann)).toContain('Remaining for a new watch: 1 slot.')
      await ann.press('Buy: 1\u00a0USD')
      expect(says(ann)).toContain('New watch · Wallet balance · 1/3')
      await ann.say(walletOf('bob'))
      await ann.press('10\u00a0FLR')
      await ann.press('Create')
      expect(says(ann)).toContain('is now being watched.')
    }))

  test('names a watch that is about to be suspended, too', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      await world.addWatch('alice', { label: 'Runs' })
      await world.addWatch('alice', { label: 'Beyond' })
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/new wallet')
      expect(says(ann)).toContain('Slots go to waiting watches first: \u2068Beyond\u2069.')
    }))

  test('with a slot for the waiting watch only is not resumed after the purchase', () =>
    inFreshWorld(async () => {
      const ann = await waiting(5000)
      await ann.say('/new wallet')
      await ann.press('1 for waiting ones')
      expect(says(ann)).toContain('Remaining for a new watch: 0 slots.')
      await ann.press('Buy: 0.50\u00a0USD')
      expect(says(ann)).toContain('Resuming shortly: \u2068Waits <b>\u2069')
      expect(says(ann)).not.toContain('New watch · Wallet balance · 1/3')
    }))

  test('leads to a payment of one or both slots with too few credits', () =>
    inFreshWorld(async () => {
      const ann = await waiting(100)
      await ann.say('/new wallet')
      const { keyboard } = ann.last()
      expect(keyboard[0]?.[0]?.callback_data).toBe(packed('topup.slots', asked(2)))
      expect(keyboard[1]?.[0]?.callback_data).toBe(packed('topup.slots', asked(1)))
    }))

  test('is considered in every quote of slots', () =>
    inFreshWorld(async () => {
      const ann = await waiting(5000)
      await ann.say('/slots')
      await ann.press('Add slots')
      expect(says(ann)).toContain('Remaining for a new watch: 0 slots.')
      await ann.press('+')
      expect(says(ann)).toContain('Remaining for a new watch: 1 slot.')
    }))
})

describe('Subscriptions', () => {
  test('are one line, with one switch for all of them', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      await world.giveSlots('alice', 3)
      await world.as('alice', updateSubscriptions, { body: { id: 2, autoRenew: true } })
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      expect(says(ann)).toContain('4 slots until Dec 20, 2026 · auto-renew: 3 slots')
      await ann.press('Turn auto-renew off')
      expect(says(ann)).toContain('4 slots until Dec 20, 2026 · auto-renew: off')
      await ann.press('Turn auto-renew on')
      expect(says(ann)).toContain('auto-renew: 2 USD (2,000 credits)')
      expect((await subscriptionsOf('alice')).every(({ autoRenew }) => autoRenew)).toBe(true)
      world.clock.set(new Date(world.clock.now().getTime() + 86_400_000))
      await world.giveSlots('alice', 1)
      await ann.say('/slots')
      expect(says(ann)).toContain('5 slots, the first until Dec 20, 2026 · auto-renew: 4 slots')
    }))

  test('have auto-renew switched on and off', () =>
    inFreshWorld(async () => {
      await withCredits('alice', 5000)
      await world.giveSlots('alice', 3)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Subscriptions')
      expect(ann.labels()).toEqual([
        ['Renewal 1 on', 'Renew 1 once'],
        ['Renewal 2 on', 'Renew 2 once'],
        ['‹ Slots'],
      ])
      await ann.press('Renewal 2 on')
      expect(says(ann)).toContain('✓ Subscription 2: auto-renew on.')
      expect(says(ann)).toContain(
        'Subscription 2: 3 slots until Dec 20, 2026, auto-renew: 1.50 USD (1,500 credits)',
      )
      expect(ann.labels().slice(0, 2)).toEqual([
        ['Renewal 1 on', 'Renew 1 once'],
        ['Renewal 2 off'],
      ])
      await ann.press('Renewal 2 off')
      expect(says(ann)).toContain('Subscription 2: auto-renew off.')
      expect((await subscriptionsOf('alice')).every(({ autoRenew }) => !autoRenew)).toBe(true)
    }))

  test('can have auto-renew switched off, and not on, in a chat that may not spend', () =>
    inFreshWorld(async () => {
      await world.giveSlots('alice', 1)
      await world.as('alice', updateSubscriptions, { body: { autoRenew: true } })
      const ann = await world.linked('alice')
      await ann.say('/slots')
      await ann.press('Subscriptions')
      await ann.press('Renewal 1 off')
      expect(says(ann)).toContain('Subscription 1: auto-renew off.')
      await ann.press('Renewal 1 on')
      expect(says(ann)).toContain('This chat is not allowed to spend yet.')
      expect(ann.labels()).toContainEqual(['Allow spending'])
      await ann.press('Allow spending')
      await ann.press('‹ Subscriptions')
      expect(says(ann)).toContain('Subscription 1')
      expect((await subscriptionsOf('alice'))[0]?.autoRenew).toBe(false)
    }))

  test('are renewed once, from their end, however often the button is pressed', () =>
    inFreshWorld(async () => {
      await world.giveSlots('alice', 2)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      await ann.press('Subscriptions')
      await ann.press('Renew 1 once')
      expect(says(ann)).toContain('Subscription 1: 2 slots until Dec 20, 2026')
      expect(says(ann)).toContain('2 slots for 30 days, until Jan 19, 2027')
      expect(ann.labels()).toContainEqual(['Top up'])
      await giveCredits(world.app, walletOf('alice'), 5000)
      await ann.press('‹ Slots')
      await ann.press('Subscriptions')
      await ann.press('Renew 1 once')
      const pay = ann.last().keyboard[0]?.[0]?.callback_data ?? ''
      await ann.press(pay)
      expect(says(ann)).toContain('2 slots until Jan 19, 2027. Paid: 1 USD')
      const renewed = await subscriptionsOf('alice')
      expect(renewed).toHaveLength(1)
      const press = world.telegram.pressRaw(ann.id, ann.last().id, pay)
      await world.settle()
      await press.answer()
      expect(await subscriptionsOf('alice')).toEqual(renewed)
    }))

  test('of another wallet are not found', () =>
    inFreshWorld(async () => {
      await world.giveSlots('bob', 1)
      await world.giveSlots('alice', 1)
      const ann = await world.linked('alice', SPENDER)
      await ann.say('/slots')
      const press = world.telegram.pressRaw(
        ann.id,
        ann.last().id,
        packed('slots.renew', { id: 1, on: true }),
      )
      await world.settle()
      await press.answer()
      expect(says(ann)).toContain('belongs to another wallet')
      expect((await subscriptionsOf('bob'))[0]?.autoRenew).toBe(false)
    }))
})
