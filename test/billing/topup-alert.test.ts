import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordAlerts } from '#src/alerts/service.ts'
import { shortAddress } from '#src/i18n/format.ts'
import type { Alert, AlertList } from '../generated/api.ts'
import { giveCredits } from '../support/credits.ts'
import { observeWatches } from '../support/observe.ts'
import { buyer, draftOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** The owner of a watched wallet pays for credits. */

let world: PayWorld
let alice: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  await giveCredits(world.app, alice.caller.wallet, 100_000)
  await alice.request('POST', '/subscriptions', { quantity: 3, periods: 1 })
  for (const asset of ['FLR', world.contracts.wflr, world.contracts.fxrp]) {
    const target = { address: bob(), asset }
    const input = { type: 'wallet-balance', label: 'Bob', target, settings: { threshold: '1' } }
    expect((await alice.request('POST', '/watches', input)).status).toBe(201)
  }
  await observe()
})
afterAll(() => world.close())

const bob = () => world.devnet.people.bob.account.address

async function observe(): Promise<void> {
  const { app, devnet } = world
  await devnet.mine(2, 1)
  await world.sync()
  await observeWatches(
    { ...app, recordAlerts: (tx, candidates) => recordAlerts(app, tx, candidates) },
    new AbortController().signal,
  )
}

async function newest(): Promise<Alert | undefined> {
  return (await alice.request<AlertList>('GET', '/alerts?limit=1')).body.data[0]
}

test.each([
  'FLR',
  'WFLR',
  'FXRP',
])('a payment for a top-up in %s is called so, before it is recorded', async (asset) => {
  const draft = await draftOf(alice, { asset })
  await world.pay(draft)
  await observe()
  const alert = await newest()
  expect(alert).toMatchObject({
    severity: 'info',
    data: { isTopUp: true, topupHandle: draft.handle, direction: 'outgoing' },
  })
  expect(alert?.rendered.title).toMatch(/^[\d,.]+\s(?:W?FLR|FXRP) sent to top up your credits$/)
  expect(alert?.rendered.body).toContain(
    `This is the payment for your top-up. Payment reference: ${shortAddress(draft.handle)}`,
  )
  expect(alert?.rendered.body).not.toContain('secure the wallet')
})

test('a transfer to another address is not marked as a top-up, even while a quote is open', async () => {
  await draftOf(alice, { asset: 'FLR' })
  const { bob: payer, carol } = world.devnet.people
  await world.devnet.transfer(payer.account.address, carol.account.address, parseEther('77'))
  await observe()
  const alert = await newest()
  expect(alert?.data).not.toHaveProperty('isTopUp')
  expect(alert?.data).not.toHaveProperty('topupHandle')
  expect(alert?.rendered.title).toMatch(/left the wallet$/)
  expect(alert?.rendered.body).toContain('secure the wallet now')
})

test('a payment for the top-up of another wallet is not marked as a top-up', async () => {
  const carol = await buyer(world, 'carol')
  await world.pay(await draftOf(carol, { asset: 'FLR' }))
  // The quote of the watch's own wallet has expired, with its time for late payments.
  await world.pass(2 * 3600)
  await world.pay(await draftOf(carol, { asset: 'FLR' }))
  await observe()
  expect((await newest())?.data).not.toHaveProperty('isTopUp')
})
