import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { listen } from '#src/db/listen.ts'
import { buyer, draftOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** Notifications on the channel `topups`, by which chats and pages are updated at once. */

let world: PayWorld
let alice: Client
const heard: string[] = []

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  await listen(world.sql, 'topups', (handle) => heard.push(handle))
})
afterEach(() => {
  heard.length = 0
})
afterAll(() => world.close())

/** All notifications so far; the last one sent arrives last. */
async function notified(): Promise<string[]> {
  const end = `end ${heard.length} ${world.clock.now().getTime()}`
  await world.sql.notify('topups', end)
  await vi.waitFor(() => expect(heard).toContain(end))
  return heard.splice(0).filter((handle) => handle !== end)
}

test('a payment notifies when it is seen, with each confirmation, and when it is credited', async () => {
  const draft = await draftOf(alice, { asset: 'WFLR' })
  await world.pay(draft)
  await world.settle()
  expect(new Set(await notified())).toEqual(new Set([draft.handle]))
  await world.settle()
  expect(await notified()).toEqual([])
  await world.devnet.mine(1)
  await world.settle()
  expect(new Set(await notified())).toEqual(new Set([draft.handle]))
  await world.devnet.mine(1)
  await world.settle()
  expect(await notified()).toEqual([])
})

test('a deposit on the XRP Ledger notifies when it is found', async () => {
  const draft = await draftOf(alice, { asset: 'XRP' })
  await world.pay(draft)
  await world.settle()
  expect(new Set(await notified())).toEqual(new Set([draft.handle]))
})

test('a submitted transaction notifies the listeners of the top-up, even if it pays nothing', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  const { devnet, contracts } = world
  const bob = devnet.people.bob.account.address
  const { hash: txHash } = await contracts.sendNative(bob, bob, 1n)
  await alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
  expect(new Set(await notified())).toEqual(new Set([draft.handle]))
})

test('a payment without a top-up notifies no one', async () => {
  const { devnet, contracts } = world
  await contracts.sendNative(devnet.people.bob.account.address, contracts.payTo, 1n)
  await world.confirmAll()
  expect(await notified()).toEqual([])
})
