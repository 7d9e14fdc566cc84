import type { Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createQuarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import { buyer, draftOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/**
 * The balance of the service's address is compared with the payments after they are credited, step
 * by step.
 */

/** Blocks after which the balance is compared again. */
const COMPARED = 30

let world: PayWorld
let alice: Client
let forwarder: Address

beforeEach(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
  forwarder = await deployForwarder()
  // Starts reading and comparing.
  await draftOf(alice, { asset: 'FLR' })
  await world.confirmAll()
})
afterEach(() => world.close())

const bob = () => world.devnet.people.bob.account.address

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

async function forward(value: bigint): Promise<Hex> {
  const order = { account: bob(), to: forwarder, value, chain: null }
  const hash = await world.devnet.client.sendTransaction(order)
  await world.devnet.mine(COMPARED, 1)
  return hash
}

/** One pass, which is stopped at the nth request for a balance. */
async function lookUntilBalance(nth: number): Promise<void> {
  const controller = new AbortController()
  let asked = 0
  world.rpc.rewrite('eth_getBalance', (units) => {
    asked += 1
    if (asked === nth) controller.abort()
    return units
  })
  await world.sync()
  await settlePayments(world.app, controller.signal).catch(() => undefined)
  await world.rpc.up()
}

async function cursor() {
  const [row] = await world.sql`
    select position::integer, balance_block::integer as block
    from payment_cursors where chain = 'flare'`
  return row ?? {}
}

/** Recorded coins without a transfer: their amount, and the first and last of the blocks in which they arrived. */
async function internal() {
  const rows = await world.sql`
    select reference, amount_units::text as units from topup_payments where way = 'internal'
    order by block_number`
  return rows.map(({ reference, units }) => {
    const [first, last] = String(reference).match(/\d+/g)?.map(Number) ?? []
    return { units, first: first ?? 0, last: last ?? 0 }
  })
}

async function blockOf(hash: Hex): Promise<number> {
  return Number((await world.devnet.client.getTransactionReceipt({ hash })).blockNumber)
}

/** Expects that the row names at most as many blocks as are compared at once, with that of the transaction. */
async function expectWithin(
  row: Awaited<ReturnType<typeof internal>>[number] | undefined,
  hash: Hex,
) {
  if (row === undefined) throw new Error('no coins were recorded')
  const block = await blockOf(hash)
  expect(row.first).toBeLessThanOrEqual(block)
  expect(row.last).toBeGreaterThanOrEqual(block)
  expect(row.last - row.first).toBeLessThan(COMPARED)
}

test('the balance is compared once in many blocks', async () => {
  await world.devnet.mine(COMPARED)
  await world.settle()
  const { block, position } = await cursor()
  await world.devnet.mine(COMPARED - 1 - (position - block))
  await world.settle()
  expect(await cursor()).toMatchObject({ block, position: block + COMPARED - 1 })
  await world.devnet.mine(1)
  await world.settle()
  expect(await cursor()).toMatchObject({ block: block + COMPARED })
})

test('a payment is credited before the balance is compared', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  await world.pay(draft)
  await world.devnet.mine(2, 1)
  await lookUntilBalance(1)
  expect((await topupOf(alice, draft)).status).toBe('credited')
})

test('a comparison that is stopped continues from its last step', async () => {
  const { block: first } = await cursor()
  await world.devnet.mine(100)
  const txHash = await forward(17n)
  await world.devnet.mine(100)
  await lookUntilBalance(4)
  const { block: second, position } = await cursor()
  expect(second).toBeGreaterThan(first)
  expect(second).toBeLessThan(position)
  const blocks: number[] = []
  world.rpc.rewrite('eth_getBalance', (units, params) => {
    if (Array.isArray(params)) blocks.push(Number(params[1]))
    return units
  })
  await world.settle()
  await world.rpc.up()
  expect(Math.min(...blocks)).toBeGreaterThan(second)
  expect((await cursor())['block']).toBeGreaterThan(position - COMPARED)
  const rows = await internal()
  expect(rows).toMatchObject([{ units: '17' }])
  await expectWithin(rows[0], txHash)
}, 60_000)

test('a balance that is refused is compared later, and each transfer is recorded with its blocks', async () => {
  const before = await cursor()
  const hashes = [await forward(19n), await forward(23n)]
  world.rpc.failNext(1000, { code: -32603, message: 'internal error' }, 'eth_getBalance')
  await expect(world.settle()).rejects.toMatchObject({ code: 'dependency_unavailable' })
  expect((await cursor())['block']).toBe(before['block'])
  expect(await internal()).toEqual([])
  await world.rpc.up()
  await world.settle()
  const rows = await internal()
  expect(rows).toMatchObject([{ units: '19' }, { units: '23' }])
  for (const [index, hash] of hashes.entries()) await expectWithin(rows[index], hash)
})

const PRUNED = { code: -32000, message: 'missing trie node' }

test('blocks whose state is pruned are compared together with later ones, and nothing is lost', async () => {
  const hash = await forward(29n)
  await forward(31n)
  const before = await cursor()
  const lines: object[] = []
  const log = { ...silentLogger, error: (fields: object) => lines.push(fields) }
  world.rpc.failNext(1000, PRUNED, 'eth_getBalance')
  await world.sync()
  const quarantine = createQuarantine({ log })
  const pass = () => settlePayments({ ...world.app, quarantine }, new AbortController().signal)
  await pass()
  await pass()
  expect(lines).toMatchObject([{ kind: 'balance-comparison' }])
  expect((await cursor())['block']).toBe(before['block'])
  expect(await internal()).toEqual([])
  await world.rpc.up()
  // The newest state is there, that of the first step is not.
  let asked = 0
  world.rpc.rewrite('eth_getBalance', (units) => {
    asked += 1
    if (asked === 1) world.rpc.failNext(1, PRUNED, 'eth_getBalance')
    return units
  })
  await pass()
  await world.rpc.up()
  const [row, ...others] = await internal()
  expect(row?.units).toBe('60')
  expect(others).toEqual([])
  expect(row?.first).toBeLessThanOrEqual(await blockOf(hash))
  const { block, position } = await cursor()
  expect([row?.last, block]).toEqual([position, position])
})

test('comparing begins at the newest confirmed block where the state of the first is pruned', async () => {
  await world.devnet.mine(20)
  await world.sql`update payment_cursors set balance_of = null where chain = 'flare'`
  const { position } = await cursor()
  world.rpc.failNext(1, { code: -32000, message: 'state 0x1 is pruned' }, 'eth_getBalance')
  const lines: string[] = []
  const log = { ...silentLogger, warn: (_: object, message: string) => lines.push(message) }
  const controller = new AbortController()
  world.rpc.rewrite('eth_getLogs', (logs) => {
    controller.abort()
    return logs
  })
  await world.sync()
  await settlePayments({ ...world.app, log }, controller.signal).catch(() => undefined)
  expect((await cursor())['block']).toBe(position + 20)
  expect(lines).toEqual([expect.stringContaining('state is pruned')])
  await world.rpc.up()
  const txHash = await forward(37n)
  await world.settle()
  const rows = await internal()
  expect(rows).toMatchObject([{ units: '37' }])
  await expectWithin(rows[0], txHash)
})
