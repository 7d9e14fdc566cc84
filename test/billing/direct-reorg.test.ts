import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceOnly } from '../support/harness.ts'
import {
  callWith,
  creditedUnits,
  type DirectWorld,
  directOffersOf,
  directWorld,
  newPayer,
  paymentFor,
  received,
} from '../support/x402.ts'

let world: DirectWorld

beforeAll(async () => {
  world = await directWorld({ CONFIRMATIONS: '3' }, 1500)
})
afterAll(() => world.close())

test('a transfer whose block is replaced is not credited, and the same payment makes it again', async () => {
  const payer = await newPayer(world)
  await world.sync()
  const [offer] = await directOffersOf(world.url)
  const header = await paymentFor(payer, offer)
  // Its block has one confirmation.
  expect(await callWith(world.url, header)).toMatchObject({ status: 503, code: 'payment_pending' })
  const seen = await world.database.sql`
    select block_hash from topup_payments where payer = ${payer.address} and settled_at is null`
  expect(seen).toHaveLength(1)
  await world.devnet.reorg(1)
  await world.devnet.mine(3, 1)
  expect(await received(world)).toBe(0n)
  await world.pass(61)
  await world.settle()
  expect(await creditedUnits(world)).toBe(0n)
  const mining = setInterval(() => void world.devnet.mine(1, 1), 200)
  const answer = await callWith(world.url, header)
  clearInterval(mining)
  expect(answer).toMatchObject({ status: 200 })
  expect(await received(world)).toBe(2000n)
  expect(await creditedUnits(world)).toBe(2000n)
})

test.each([
  ['in a drill', { SEND_NOTHING: 'true' }],
  ['while billing is off', { BILLING_ENABLED: 'false' }],
  ['without a key', { X402_SETTLEMENT_KEY: '' }],
])('no payments are taken %s', async (_when, over) => {
  const other = await serviceOnly({ ...world.environment, ...over })
  expect(other.app.directPayments).toBeUndefined()
  await other.close()
})
