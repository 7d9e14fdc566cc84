import { afterAll, beforeAll, expect, test } from 'vitest'
import { isVerbHandled } from '#bot/core/verb-rights.ts'
import { packed, VERB_NAMES } from '#src/actions/codec.ts'
import { updateSubscriptions } from '#src/operations/rest/subscriptions.ts'
import { type TestChat, walletOf } from '../support/bot.ts'
import { type MoneyWorld, moneyWorld } from '../support/bot-money.ts'
import { checkScreen, dataOf, pressAll } from '../support/buttons.ts'
import { giveCredits } from '../support/credits.ts'
import { SCREEN_LOCALES } from '../support/locales.ts'
import { isWhole, runs } from '../support/runs.ts'

/** Every button of the screens about money and status, in all states of a payment. */

/** Assets that are paid with in every state: a token with the longest name, the chain's coin, XRP; whole also the others. */
const BOUGHT_WITH = isWhole
  ? (['service', 'WFLR', 'FLR', 'FXRP', 'XRP'] as const)
  : (['service', 'FLR', 'XRP'] as const)

/** `trial.feed` stands on messages about a connected wallet. */
const MONEY = /^(?:topup|slots|terms|trial)(?:\.(?!provider|pick|feed)|$)/
const SPENDER = ['read', 'write', 'spend'] as const
const HOSTILE = 'ওয়ালেট <b>&"\'_*[]()~` Ж'.repeat(3).slice(0, 40)
const seen = new Set<string>()
let world: MoneyWorld

beforeAll(async () => {
  // A token whose name is as long as it may be.
  world = await moneyWorld({ SERVICE_TOKEN_SYMBOL: 'WDG.LONG.SYM' })
  await world.giveSlots('alice', 2)
  await giveCredits(world.app, walletOf('alice'), 3000)
  await world.as('alice', updateSubscriptions, { body: { autoRenew: true } })
  await world.addWatch('alice', { label: HOSTILE })
})
afterAll(() => world.close())

/** Presses every reachable button, and records the verbs on the messages. */
async function press(chat: TestChat): Promise<void> {
  for (const verb of await pressAll({ world, chat, only: MONEY, sameMax: runs(2, 3) }))
    seen.add(verb)
}

/** Checks the newest message, and records the verbs on it. */
function look(chat: TestChat): void {
  for (const verb of checkScreen(chat.last())) seen.add(verb)
}

/** Buys with an asset, through every state of a partial payment. */
async function buy(chat: TestChat, asset: string): Promise<void> {
  await world.catchUp()
  await chat.say('/topup')
  await chat.press(packed('topup.asset', { asset }))
  look(chat)
  await chat.say('20000')
  look(chat)
  const { handle, ...quote } = await world.quoteOf('alice')
  // A token is paid on the page alone.
  const ways = dataOf(chat.last()).find((data) => data.includes('topup.ways'))
  if (ways !== undefined) {
    await chat.press(ways)
    look(chat)
    await chat.press(packed('topup.check', { handle }))
  }
  await chat.say('/topup')
  look(chat)
  await chat.press(packed('topup.check', { handle }))
  await world.pay({ handle, ...quote }, quote.amount / 2n)
  await world.look()
  await world.follow()
  look(chat)
  await world.confirmAll()
  await world.follow()
  look(chat)
  // The remainder can be paid from there.
  const data = dataOf(chat.last()).filter((data) => data.includes('topup.ways'))
  expect(data).toHaveLength(ways === undefined ? 0 : 1)
}

test.each(SCREEN_LOCALES)('in %s leads somewhere and is answered', async (locale) => {
  const chat = await world.linked(locale === 'en' ? 'carol' : 'alice', SPENDER, locale)
  if (locale === 'en') {
    // The terms are shown before either purchase.
    await chat.say('/slots')
    await chat.press(packed('slots.quote', { quantity: 1, periods: 1, renew: false }))
    look(chat)
  }
  for (const text of ['/topup', '/slots', '/status']) {
    await chat.say(text)
    await press(chat)
  }
  if (locale === 'en') {
    // A chat without the right to spend is shown how to get it, with and without credits.
    const manager = await world.linked('carol', ['read', 'write'], locale)
    await manager.say('/slots')
    await press(manager)
    await giveCredits(world.app, walletOf('carol'), 3000)
    await manager.say('/slots')
    return press(manager)
  }
  await chat.say('/topup 999999999')
  await press(chat)
  for (const asset of BOUGHT_WITH) await buy(chat, asset)
  await chat.say('/topup')
  await chat.press(packed('topup.asset', { asset: 'XRP' }))
  await chat.press(packed('topup.quote', { asset: 'XRP', credits: 10_000 }))
  await world.follow(601)
  look(chat)
})

test('nothing was refused by Telegram', () => {
  const HARMLESS = /not modified|no text in the message|message to (?:edit|delete) not found/
  const refusals = world.telegram.calls.flatMap(({ refused }) => refused?.description ?? [])
  expect(refusals.filter((refusal) => !HARMLESS.test(refusal))).toEqual([])
})

test('each of their verbs stands on some screen', () => {
  const missing = VERB_NAMES.filter((verb) => MONEY.test(verb) && isVerbHandled(verb))
  expect(missing.filter((verb) => !seen.has(verb))).toEqual([])
})
