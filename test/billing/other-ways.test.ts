import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Address } from '#src/kernel/units.ts'
import {
  buyer,
  draftOf,
  ledgerOf,
  type PayWorld,
  payWorld,
  topupOf,
  unmatched,
} from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/**
 * Money that arrives in another way than as a payment is recorded, with or without a known sender.
 */

let world: PayWorld
let alice: Client
let forwarder: Address

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  forwarder = await deployForwarder()
})
afterEach(() => {
  world.errors.length = 0
})
afterAll(() => world.close())

/** Blocks after which the balance is compared again. */
const COMPARED = 30

const bob = () => world.devnet.people.bob.account.address

/**
 * Deploys a contract that forwards the coins of its calls to the service, like a contract wallet.
 */
async function deployForwarder(): Promise<Address> {
  const payTo = world.contracts.payTo.slice(2).toLowerCase()
  const runtime = `366000600037600060003660003473${payTo}5af15000`
  const length = (runtime.length / 2).toString(16).padStart(2, '0')
  const data: Hex = `0x60${length}600c60003960${length}6000f3${runtime}`
  const hash = await world.devnet.client.sendTransaction({ account: bob(), data, chain: null })
  await world.devnet.mine(1)
  const { contractAddress } = await world.devnet.client.getTransactionReceipt({ hash })
  if (contractAddress == null) throw new Error('the forwarder was not deployed')
  return contractAddress
}

async function forward(value: bigint, data: Hex): Promise<Hex> {
  const hash = await world.devnet.client.sendTransaction({
    account: bob(),
    to: forwarder,
    value,
    data,
    chain: null,
  })
  await world.devnet.mine(COMPARED, 1)
  return hash
}

/** What was recorded of the coins in the block of a transaction. */
async function recordedWith(hash: Hex) {
  const { blockNumber } = await world.devnet.client.getTransactionReceipt({ hash })
  const rows = await world.sql`
    select tx_hash, log_index, reason, reference, amount_units::text as units
    from topup_payments join unmatched_payments using (tx_hash, log_index) where way = 'internal'`
  return rows.filter(({ reference }) => {
    const [first, last] = String(reference).match(/\d+/g)?.map(Number) ?? []
    return Number(first) <= blockNumber && blockNumber <= Number(last)
  })
}

const credits = async () => (await ledgerOf(alice)).balance

test('FLR from a contract wallet is recorded as unmatched and logged, once, without being named', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  await world.settle()
  const before = await credits()
  const txHash = await forward(BigInt(draft.amount), draft.handle as Hex)
  for (let time = 0; time < 2; time += 1) await world.settle()
  const rows = await recordedWith(txHash)
  expect(rows).toMatchObject([
    { reason: 'unsupported_transfer', log_index: -1, units: draft.amount },
  ])
  const [{ tx_hash, reference } = {}] = rows
  expect(world.errors).toMatchObject([
    {
      message: 'payment was not credited; an operator must look at it',
      fields: { txHash: tx_hash, reference, reason: 'unsupported_transfer' },
    },
  ])
  expect(await credits()).toBe(before)
})

test('FLR from a contract wallet that is named is answered with its reason, and recorded once', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  await world.settle()
  const txHash = await forward(BigInt(draft.amount) + 7n, draft.handle as Hex)
  await world.sync()
  const { status, body } = await alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
  expect([status, body]).toMatchObject([
    409,
    { code: 'topup_state', topupStatus: 'rejected', reason: 'unsupported_transfer' },
  ])
  for (let time = 0; time < 2; time += 1) await world.settle()
  expect(await recordedWith(txHash)).toHaveLength(1)
  expect(world.errors).toHaveLength(1)
})

test('plain payments, withdrawals and their fees are recorded as no other payments', async () => {
  await world.settle()
  const known = (await unmatched(world)).length
  const draft = await draftOf(alice, { asset: 'FLR' })
  const { contracts, devnet } = world
  await world.pay(draft)
  // A transfer out of the service's address, beside a payment and a contract's transfer in the same
  // range of blocks.
  await devnet.client.request({
    method: 'anvil_impersonateAccount',
    params: [contracts.payTo],
  } as never)
  await devnet.client.sendTransaction({
    account: contracts.payTo,
    to: bob(),
    value: 3n,
    chain: null,
  })
  await devnet.mine(COMPARED, 1)
  await world.settle()
  expect((await topupOf(alice, draft)).status).toBe('credited')
  expect(await unmatched(world)).toHaveLength(known)
  await devnet.client.sendTransaction({
    account: contracts.payTo,
    to: bob(),
    value: 5n,
    chain: null,
  })
  const txHash = await forward(11n, '0x')
  for (let time = 0; time < 2; time += 1) await world.settle()
  expect(await recordedWith(txHash)).toMatchObject([{ units: '11' }])
  expect(await unmatched(world)).toHaveLength(known + 1)
})

/** Sum of the recorded internal transfers. */
async function internalUnits(): Promise<bigint> {
  const [row] = await world.sql`
    select coalesce(sum(amount_units), 0)::text as units from topup_payments where way = 'internal'`
  return BigInt(row?.['units'])
}

const withoutState = () =>
  world.rpc.failNext(1000, { code: -32000, message: 'missing trie node' }, 'eth_getBalance')

const name = async (txHash: string) => {
  await world.sync()
  const { handle } = await draftOf(alice, { asset: 'FLR' })
  return (await alice.request('POST', `/topup/${handle}/confirm`, { txHash })).body
}

test('coins whose transaction is named before and after the comparison are recorded once', async () => {
  await world.settle()
  const before = await internalUnits()
  const first = await forward(17n, '0x')
  expect(await name(first)).toMatchObject({ reason: 'unsupported_transfer' })
  await forward(19n, '0x')
  withoutState()
  for (let time = 0; time < 3; time += 1) await world.settle()
  expect(await internalUnits()).toBe(before)
  await world.rpc.up()
  for (let time = 0; time < 2; time += 1) await world.settle()
  expect((await internalUnits()) - before).toBe(17n + 19n)
  const known = await unmatched(world)
  await Promise.all([world.settle(), name(first), world.settle()])
  expect(await name(first)).toMatchObject({ reason: 'unsupported_transfer' })
  expect((await internalUnits()) - before).toBe(17n + 19n)
  expect(await unmatched(world)).toHaveLength(known.length)
})

test('a transaction that brought nothing to the service is answered so, also beside a payment', async () => {
  await world.settle()
  const elsewhere = await world.devnet.client.sendTransaction({
    account: bob(),
    to: forwarder,
    value: 0n,
    chain: null,
  })
  await world.devnet.mine(2, 1)
  expect(await name(elsewhere)).toMatchObject({ reason: 'wrong_recipient' })
})

test('XRP by escrow or channel and other currencies are recorded as unmatched, with a tag of ours too', async () => {
  const draft = await draftOf(alice, { asset: 'XRP' })
  const tag = draft.destinationTag ?? 0
  const before = await credits()
  const issued = { currency: 'USD', issuer: 'rhub8VRN55s94qWKDv6jmDy1pUykJzF3wq', value: '12.5' }
  const { xrpl } = world
  const escrow = xrpl.deposit({ transactionType: 'EscrowFinish', tag, drops: 5_000_000n }).hash
  const channel = xrpl.deposit({ transactionType: 'PaymentChannelClaim', drops: 6_000_000n }).hash
  const usd = xrpl.deposit({ tag, drops: 0n, issued }).hash
  await world.settle()
  const rows = await unmatched(world)
  const reasonOf = (hash: string) => rows.find((row) => row['tx_hash'] === hash)?.['reason']
  expect([escrow, channel, usd].map(reasonOf)).toEqual([
    'unsupported_transfer',
    'unsupported_transfer',
    'wrong_asset',
  ])
  expect(world.errors).toHaveLength(3)
  expect(await credits()).toBe(before)
})
