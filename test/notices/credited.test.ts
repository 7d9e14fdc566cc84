import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { buyer, draftOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'
import { chatOf, notices, titles } from './notified.ts'

let world: PayWorld
let alice: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
})
beforeEach(async () => {
  await world.sql`truncate recipients, delivery_queue, delivery_log, notices`
  await chatOf(world, alice)
})
afterAll(() => world.close())

test('a notice about a credited payment has its bonus and the credits', async () => {
  const draft = await draftOf(alice, { asset: 'WDG' })
  await world.pay(draft)
  await world.settle()
  expect(await titles(world)).toEqual([])
  await world.confirmAll()
  expect(await notices(world)).toMatchObject([
    {
      kind: 'credited',
      glyph: '💳',
      severity: 'info',
      title: '11\u00a0USD (11,000 credits) added',
      body: '10\u00a0USD (10,000 credits) plus a bonus of 1\u00a0USD (1,000 credits) for 200\u00a0WDG.\nYou have 11\u00a0USD (11,000 credits).',
      buttons: [
        [
          { label: 'Slots', act: '1:slots' },
          { label: 'Menu', act: '1:home' },
        ],
      ],
    },
  ])
})

test('a notice about a payment that bought slots has the slots and the remaining credits', async () => {
  const balance = async () => (await alice.request('GET', '/account')).body.balanceCredits
  const before = await balance()
  const draft = await draftOf(alice, { asset: 'FLR', then: { slots: 1, periods: 1 } })
  await world.pay(draft)
  await world.confirmAll()
  expect(await balance()).toBe(before + 9500)
  const left = (before + 9500).toLocaleString('en')
  const dollars = ((before + 9500) / 1000).toFixed(2)
  expect((await notices(world))[0]?.body.split('\n').slice(1)).toEqual([
    '1 slot added.',
    `You have ${dollars}\u00a0USD (${left} credits).`,
  ])
})

test('a notice about a payment that could not buy the slots has the reason', async () => {
  const then = { slots: 20, periods: 12 }
  const draft = await draftOf(alice, { asset: 'FLR', then })
  await world.pay(draft)
  await world.confirmAll()
  expect((await notices(world))[0]?.body.split('\n')[1]).toBe(
    'Not added yet: 20 slots. Reason: Not enough credits.',
  )
})

test('a payment has one notice, also with several processes', async () => {
  const draft = await draftOf(alice, { asset: 'WFLR' })
  const txHash = await world.pay(draft)
  await world.devnet.mine(2, 1)
  const confirm = () => alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
  await Promise.all([world.settle(), confirm(), confirm(), world.settle()])
  await confirm()
  await world.settle()
  expect(await titles(world)).toEqual(['credited: 10\u00a0USD (10,000 credits) added'])
})

test('each payment of one quote has its own notice', async () => {
  const draft = await draftOf(alice, { asset: 'XRP' })
  await world.pay(draft)
  await world.pay(draft, BigInt(draft.amount) * 2n)
  await world.confirmAll()
  expect((await titles(world)).toSorted()).toEqual([
    'credited: 10\u00a0USD (10,000 credits) added',
    'credited: 20\u00a0USD (20,000 credits) added',
  ])
})

test('a payment that is not credited has no notice', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  await world.pay(draft, 1n)
  await world.confirmAll()
  expect(await titles(world)).toEqual([])
})
