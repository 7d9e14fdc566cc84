import type { Hex } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { settlePayments } from '#src/billing/topups/scan.ts'
import { silentLogger } from '#src/kernel/logger.ts'
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

async function forward(value: bigint): Promise<string> {
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
    select position::integer, balance_block::integer as block, balance_assumed as assumed
    from payment_cursors where chain = 'flare'`
  return row ?? {}
}

const internal = async () => [
  ...(await world.sql`
    select tx_hash, amount_units::text as units from topup_payments where way = 'internal'`),
]

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
  expect(await internal()).toEqual([{ tx_hash: txHash, units: '17' }])
}, 60_000)

test('a balance that is refused is compared later, and each transfer is recorded with its transaction', async () => {
  const before = await cursor()
  const hashes = [await forward(19n), await forward(23n)]
  world.rpc.failNext(1000, { code: -32603, message: 'internal error' }, 'eth_getBalance')
  await expect(world.settle()).rejects.toMatchObject({ code: 'dependency_unavailable' })
  expect((await cursor())['block']).toBe(before['block'])
  expect(await internal()).toEqual([])
  await world.rpc.up()
  await world.settle()
  const found = (await internal()).map((row) => row['tx_hash'])
  expect(found.toSorted()).toEqual(hashes.toSorted())
})

test('blocks whose state is pruned are skipped with a log line, and their transfers are recorded at the first state', async () => {
  const hash = await forward(29n)
  await forward(31n)
  const lines: string[] = []
  const log = { ...silentLogger, warn: (_: object, message: string) => lines.push(message) }
  world.rpc.failNext(1000, { code: -32000, message: 'missing trie node' }, 'eth_getBalance')
  await world.sync()
  await settlePayments({ ...world.app, log }, new AbortController().signal)
  expect(lines.filter((line) => line.startsWith('state is pruned'))).toHaveLength(1)
  const { block, position, assumed } = await cursor()
  expect(position - block).toBeLessThan(COMPARED)
  expect(assumed).toBe(true)
  expect(await internal()).toEqual([])
  await world.rpc.up()
  await world.devnet.mine(COMPARED)
  await world.settle()
  // The transactions are no longer known: the amount is recorded as one transfer, without a
  // transaction.
  const rows = await internal()
  expect(rows.map(({ units }) => units)).toEqual(['60'])
  expect(rows[0]?.['tx_hash']).not.toBe(hash)
  expect(await cursor()).toMatchObject({ assumed: false })
})

test('comparing begins at the oldest block with a state where that of the first is pruned', async () => {
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
  expect((await cursor())['block']).toBe(position + 1)
  expect(lines).toEqual([expect.stringContaining('state is pruned')])
  await world.rpc.up()
  const txHash = await forward(37n)
  await world.settle()
  expect(await internal()).toEqual([{ tx_hash: txHash, units: '37' }])
})
