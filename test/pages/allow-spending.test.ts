import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { packed } from '#src/actions/codec.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createConnectCode } from '#src/recipients/connect.ts'
import { testClock } from '../support/clock.ts'
import { type PayWorld, payWorld } from '../support/pay-world.ts'
import { textOf } from './site.ts'

/** The page on which a chat gets the right to spend, with the purchase that waits for it. */

let world: PayWorld
const clock = testClock()
let chatId = 8000

beforeAll(async () => {
  world = await payWorld({}, clock)
})
afterAll(() => world.close())

const SLOTS = { quantity: 2, periods: 6, renew: true }

async function orderOf(goesOn: ReturnType<typeof packed>, lang = 'en'): Promise<string> {
  chatId += 1
  const { url } = await createConnectCode(world.app, {
    chat: { id: chatId, title: 'Ann Lee' },
    by: { id: chatId },
    locale: 'en',
    spend: true,
    wallet: PEOPLE.bob.account.address,
    goesOn,
  })
  const { payload } = await world.server.inject(`${new URL(url).pathname}?lang=${lang}`)
  return textOf(payload)
}
const topup = (asset: string) => packed('topup.buy', { asset, credits: 10_000, ...SLOTS })

test.each([
  ['FLR', '500 FLR'],
  ['WFLR', '500 WFLR'],
])('a purchase in %s names the amount at today’s price, and dollars', async (asset, amount) => {
  const text = await orderOf(topup(asset))
  expect(text).toContain('10,000 credits 10 USD')
  expect(text).toContain(`Total ≈ ${amount} · 10 USD`)
  expect(text).toContain(`You pay about ${amount}. If the box is selected`)
})

test('a purchase in an asset without a price now names the asset, and dollars', async () => {
  const later = new Date(clock.now().getTime() - 3_600_000)
  await world.contracts.setFeed('FLR/USD', 200_000n, 7, later)
  clock.advance(16)
  const text = await orderOf(topup('FLR'))
  await world.contracts.setFeed('FLR/USD', 200_000n, 7)
  clock.advance(16)
  expect(text).toContain('Total 10 USD')
  expect(text).toContain('You pay in FLR. If the box is selected')
  expect(await orderOf(topup('FLR'))).toContain('Total ≈ 500 FLR')
})

test('a purchase in an unknown asset names it', async () => {
  expect(await orderOf(topup('DOGE'))).toContain('You pay in DOGE.')
})

test('a purchase with credits names credits and dollars in its total', async () => {
  const text = await orderOf(packed('slots.quote', SLOTS))
  expect(text).toMatch(/Total [\d.]+ USD \([\d,]+ credits\)/)
})

test.each(LOCALES)('the amount reads in %s', async (locale) => {
  const text = await orderOf(topup('FLR'), locale)
  expect(text.match(/500\u00a0?\s?FLR/g)).toHaveLength(2)
  expect(text).not.toMatch(/\{\{|undefined/)
})
