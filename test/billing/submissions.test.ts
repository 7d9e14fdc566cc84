import { afterAll, beforeAll, expect, test } from 'vitest'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { pruneTopups } from '#src/billing/topups/service.ts'
import { listWaitingSubmissions } from '#src/billing/topups/store.ts'
import { buyer, draftOf, ledgerOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** Transactions that are named for a top-up without being its payment. */

let world: PayWorld
let alice: Client
let bob: Client

beforeAll(async () => {
  world = await payWorld()
  ;[alice, bob] = await Promise.all([buyer(world, 'alice'), buyer(world, 'bob')])
})
afterAll(() => world.close())

const hashOf = (n: number) => `0x${n.toString(16).padStart(64, 'a')}`
const name = (client: Client, draft: { readonly handle: string }, txHash: string) =>
  client.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
const countRows = async () => {
  const [row] = await world.sql`select count(*)::int as rows from topup_submissions`
  return row?.['rows']
}

test('foreign and unknown transactions are not logged as errors, and few are stored for a top-up and a wallet', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  const { bob: from, carol: to } = world.devnet.people
  const stranger = await world.contracts.sendNative(from.account.address, to.account.address, 1n)
  expect((await name(alice, draft, stranger.hash)).body).toMatchObject({
    code: 'topup_state',
    reason: 'wrong_recipient',
  })
  for (let n = 0; n < 15; n += 1) {
    const { status, body } = await name(alice, draft, hashOf(n))
    expect([status, body]).toMatchObject([
      202,
      { status: 'draft', txHash: hashOf(n), reason: 'transaction_not_found' },
    ])
  }
  expect(await countRows()).toBe(10)
  for (let n = 0; n < 6; n += 1) {
    const other = await draftOf(alice, { asset: 'FLR' })
    for (let m = 0; m < 10; m += 1) await name(alice, other, hashOf(100 + 10 * n + m))
  }
  expect(await countRows()).toBe(50)
  expect(world.errors).toEqual([])
})

test('a wallet that names many unknown transactions does not delay those of others', async () => {
  const draft = await draftOf(bob, { asset: 'FLR' })
  await name(bob, draft, hashOf(9999))
  const turns = await listWaitingSubmissions(world.app.db, 2)
  expect(turns.map(({ wallet }) => wallet).toSorted()).toEqual(
    [alice.caller.wallet, bob.caller.wallet].toSorted(),
  )
})

test('unknown transactions delay no payment', async () => {
  const draft = await draftOf(bob, { asset: 'FLR' })
  await world.pay(draft)
  await world.devnet.mine(2, 1)
  await world.sync()
  const asked = world.rpc.count('eth_getTransactionByHash')
  const before = await ledgerOf(bob)
  await settlePayments(world.app, new AbortController().signal)
  expect((await ledgerOf(bob)).balance - before.balance).toBe(10_000)
  expect(world.rpc.count('eth_getTransactionByHash')).toBe(asked)
})

test('top-ups without a payment are deleted after 91 days, paid ones never', async () => {
  const paid = await draftOf(bob, { asset: 'FLR' })
  await world.pay(paid)
  await world.confirmAll()
  const dead = await draftOf(bob, { asset: 'FLR', then: { slots: 1, periods: 1 } })
  // More than one batch.
  await world.sql`
    insert into topups (handle, wallet, asset, token, pay_to, destination_tag, credits, bonus_credits,
      amount_units, price_value, price_decimals, usd_per_1000_credits_micros, renews, created_at, expires_at)
    select overlay(handle placing lpad(to_hex(n), 8, '0') from 3 for 8), wallet, asset, token, pay_to, destination_tag, credits, bonus_credits,
      amount_units, price_value, price_decimals, usd_per_1000_credits_micros, renews, created_at, expires_at
    from topups, generate_series(1, 2500) n where handle = ${dead.handle}`
  world.clock.set(new Date(world.clock.now().getTime() + 91 * 86_400_000))
  await pruneTopups(world.app)
  expect(await countRows()).toBe(0)
  const kept = await world.sql`select handle from topups`
  const payments = await world.sql`select distinct handle from topup_payments`
  expect(await world.sql`select handle from topup_purchases`).toEqual([])
  expect(kept.map(({ handle }) => handle).toSorted()).toEqual(
    payments.map(({ handle }) => handle).toSorted(),
  )
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  expect(kept.map(({ handle }) => handle)).toContain(paid.handle)
})
