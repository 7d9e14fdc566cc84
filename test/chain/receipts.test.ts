import { keccak256, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { readOne } from '#src/chain/blocks/read-block.ts'
import { createReceiptReader, type ProvenReceipt } from '#src/chain/blocks/receipts.ts'
import { createEndpoints } from '#src/chain/endpoints/endpoints.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Hash } from '#src/kernel/units.ts'

let devnet: DevnetWithContracts
let primary: RpcProxy
let secondary: RpcProxy
let hashes: readonly Hash[]
let paidIn: number

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  const { contracts, people } = devnet
  const alice = people.alice.account.address
  const paid = await contracts.pay(alice, keccak256(toHex('one')), contracts.fxrp, 1n)
  paidIn = Number(paid.blockNumber)
  const block = await devnet.client.getBlock({ blockNumber: paid.blockNumber })
  hashes = block.transactions
})
afterAll(() => devnet.close())
beforeEach(async () => {
  primary = await startRpcProxy(devnet.rpcUrl)
  secondary = await startRpcProxy(devnet.rpcUrl)
})
afterEach(() => Promise.all([primary.close(), secondary.close()]))

async function open(...proxies: readonly RpcProxy[]) {
  const rpcUrls = proxies.map(({ url }) => url)
  const endpoints = createEndpoints({
    ...{ rpcUrls, chainId: 14, log: silentLogger, clock: systemClock, timeoutMs: 2000 },
  })
  const block = await endpoints.ask((client) => readOne(client, paidIn, true), undefined)
  return { receipts: createReceiptReader(endpoints), block }
}

const lie = (receipt: unknown) => ({ ...Object(receipt), status: '0x0' })
const lieOfAll = (receipts: unknown) => Array.from(Object(receipts), lie)

async function trueOutcomes() {
  const pairs = hashes.map(async (hash) => {
    const { status, gasUsed } = await devnet.client.getTransactionReceipt({ hash })
    return [hash, { hasSucceeded: status === 'success', gasUsed }] as const
  })
  return new Map(await Promise.all(pairs))
}

describe('receipts of a block', () => {
  test('are requested once for all readers', async () => {
    const { receipts, block } = await open(primary)
    const proven = await receipts.prove(block, undefined)
    expect(proven).toEqual(await receipts.prove(block, undefined))
    const outcomes = await receipts.outcomes(hashes, block, undefined)
    for (const [hash, outcome] of await trueOutcomes()) {
      expect(outcomes.get(hash)).toMatchObject(outcome)
    }
    const { eth_getBlockReceipts, eth_getTransactionReceipt } = primary.counts()
    expect([eth_getBlockReceipts, eth_getTransactionReceipt]).toEqual([1, undefined])
  })

  test('are taken from an endpoint whose receipts match the header', async () => {
    primary.rewrite('eth_getBlockReceipts', lieOfAll)
    primary.rewrite('eth_getTransactionReceipt', lie)
    const { receipts, block } = await open(primary, secondary)
    expect(await receipts.prove(block, undefined)).toHaveLength(hashes.length)
    const outcomes = await receipts.outcomes(hashes, block, undefined)
    expect([...outcomes.values()].every(({ hasSucceeded }) => hasSucceeded)).toBe(true)
  })

  test('are not kept if nothing proves them', async () => {
    primary.rewrite('eth_getBlockReceipts', lieOfAll)
    const { receipts, block } = await open(primary)
    expect(await receipts.prove(block, undefined)).toBe('refuted')
    expect(await receipts.prove(block, undefined)).toBe('refuted')
    expect(primary.count('eth_getBlockReceipts')).toBe(2)
  })

  test('are kept without the hashes of transactions that a list of one reader claims', async () => {
    const { receipts, block } = await open(primary)
    const falseList = { ...block, transactions: hashes.map((hash) => keccak256(hash)) }
    expect(await receipts.prove(falseList, undefined)).toHaveLength(hashes.length)
    const shortList = { ...block, transactions: [] }
    expect(await receipts.prove(shortList, undefined)).toBe('refuted')
    const trueHashes = (await receipts.prove(block, undefined)) as readonly ProvenReceipt[]
    const logged = trueHashes.flatMap(({ logs }) => logs.map((log) => log.transactionHash))
    expect(logged.length).toBeGreaterThan(0)
    expect(hashes).toEqual(expect.arrayContaining(logged))
    const outcomes = await receipts.outcomes(hashes, block, undefined)
    for (const [hash, outcome] of await trueOutcomes()) {
      expect(outcomes.get(hash)).toMatchObject(outcome)
    }
  })

  test('are read apart for a transaction that is not in the list of the block', async () => {
    const { receipts, block } = await open(primary)
    await receipts.prove(block, undefined)
    const falseList = { ...block, transactions: hashes.map((hash) => keccak256(hash)) }
    const outcomes = await receipts.outcomes(hashes, falseList, undefined)
    for (const [hash, outcome] of await trueOutcomes()) expect(outcomes.get(hash)).toEqual(outcome)
  })

  test('are read one by one where an endpoint lacks the method, which is then not asked for', async () => {
    primary.behave({ missingMethods: ['eth_getBlockReceipts'] })
    const { receipts, block } = await open(primary)
    const two = [...hashes, ...hashes]
    for (let times = 0; times < 3; times += 1) await receipts.outcomes(two, block, undefined)
    expect(await receipts.prove(block, undefined)).toHaveLength(hashes.length)
    expect(primary.count('eth_getBlockReceipts')).toBeLessThanOrEqual(1)
  })
})
