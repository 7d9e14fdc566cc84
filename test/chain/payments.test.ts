import {
  type Address,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  multicall3Abi,
  parseAbi,
  parseEther,
  toHex,
} from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { bytecodeOf, mintData, setAllowedData, TOKEN_ABI } from '#sandbox/devnet/deployment.ts'
import { MULTICALL3_ADDRESS } from '#sandbox/devnet/multicall.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import type { MinedTransaction, TransactionToSend } from '#sandbox/devnet/sending.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import type { Chain, PaymentDestinations } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { ROUTER_ABI } from '#src/chain/contracts.ts'
import router from '#src/chain/router/PrepaidRouter.json' with { type: 'json' }
import { silentLogger } from '#src/kernel/logger.ts'
import { deployContractWallet, execute, payNativeData } from '../support/contract-wallet.ts'
import { REVERTER } from './contracts.ts'

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const handle = (text: string) => keccak256(toHex(text))
const HANDLE = handle('a top-up')

let devnet: DevnetWithContracts
let contracts: DevnetWithContracts['contracts']
let places: PaymentDestinations
let proxy: RpcProxy
let second: RpcProxy
let chain: Chain

const chainAt = (...rpcUrls: readonly string[]) =>
  createChain({ rpcUrls, chainId: 14, log: silentLogger, timeoutMs: 2000 })
const unavailable = { kind: 'upstream', code: 'dependency_unavailable' }

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  contracts = devnet.contracts
  places = { router: contracts.router, payTo: contracts.payTo }
})
afterAll(() => devnet.close())
beforeEach(async () => {
  proxy = await startRpcProxy(devnet.rpcUrl)
  second = await startRpcProxy(devnet.rpcUrl)
  chain = chainAt(proxy.url)
})
afterEach(() => Promise.all([proxy.close(), second.close()]))

describe('a transaction through the router', () => {
  test('is a payment with transaction, handle, payer and amount', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 12_000_001n)
    const block = await blockOf(paid)
    expect(await chain.transactionPayments(paid.hash, places)).toEqual({
      status: 'mined',
      block,
      payments: [
        {
          way: 'router',
          txHash: paid.hash,
          logIndex: await paidLogIndex(paid),
          handle: HANDLE,
          tag: null,
          payer: alice,
          asset: contracts.fxrp,
          amountUnits: 12_000_001n,
          block,
        },
      ],
    })
  })

  test('may pay several handles, in one payment each', async () => {
    const paid = await payTogether([handle('one'), handle('two'), handle('one')])
    const facts = await chain.transactionPayments(paid.hash, places)
    expect(facts).toMatchObject({
      status: 'mined',
      payments: [
        { handle: handle('one'), amountUnits: 1n, payer: MULTICALL3_ADDRESS },
        { handle: handle('two'), amountUnits: 2n, payer: MULTICALL3_ADDRESS },
        { handle: handle('one'), amountUnits: 3n, payer: MULTICALL3_ADDRESS },
      ],
    })
    const indices = facts.status === 'mined' && facts.payments.map(({ logIndex }) => logIndex)
    expect(new Set(indices || []).size).toBe(3)
  })

  test('may pay in FLR, also from a contract wallet, and the scan finds the payment', async () => {
    const wallet = await deployContractWallet(devnet, bob)
    const { router: to } = contracts
    const call = { from: bob, wallet, to, value: 77n, data: payNativeData(HANDLE) }
    const hash = await execute(devnet, call)
    const facts = await chain.transactionPayments(hash, places)
    expect(facts).toMatchObject({
      status: 'mined',
      payments: [{ way: 'router', handle: HANDLE, payer: wallet, asset: 'FLR', amountUnits: 77n }],
    })
    const { block, payments } = facts.status === 'mined' ? facts : expect.unreachable()
    expect(await chain.paymentsBetween(block.number - 1, block.number, places)).toEqual(payments)
    // The treasury may also receive plain transfers; a payment through the router is then found by
    // its event only.
    const { treasury: payTo } = contracts
    const placesOfOne = { ...places, payTo }
    expect(await chain.paymentsBetween(block.number - 1, block.number, placesOfOne)).toEqual(
      payments,
    )
  })

  test('with coins that failed has the handle of its top-up', async () => {
    await contracts.setPaused(true)
    const data = payNativeData(HANDLE)
    const failed = await sendOne({ from: bob, to: contracts.router, data })
    await contracts.setPaused(false)
    expect(await chain.transactionPayments(failed.hash, places)).toMatchObject({
      status: 'reverted',
      reason: 'IsPaused',
      handle: HANDLE,
    })
  })

  test('to another receiver is not a payment', async () => {
    const other = await deployRouter()
    const paid = await payThrough(other)
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'mined',
      payments: [],
    })
    const theirs = { ...places, router: other }
    expect(await chain.transactionPayments(paid.hash, theirs)).toMatchObject({
      payments: [{ handle: HANDLE }],
    })
  })

  test('is not a payment while no router is known', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    const nowhere = { router: undefined, payTo: undefined }
    expect(await chain.transactionPayments(paid.hash, nowhere)).toMatchObject({
      status: 'mined',
      payments: [],
    })
  })

  test('may pay 2^256 - 1 units', async () => {
    const all = 2n ** 256n - 1n
    const { client } = devnet
    const slot = keccak256(concat([toHex(BigInt(bob), { size: 32 }), toHex(1n, { size: 32 })]))
    const snapshot = await devnet.snapshot()
    await client.setStorageAt({ address: contracts.wflr, index: slot, value: toHex(all) })
    const paid = await contracts.pay(bob, HANDLE, contracts.wflr, all - 1_000_000n)
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({
      payments: [{ amountUnits: all - 1_000_000n }],
    })
    await devnet.revert(snapshot)
  })
})

describe('a plain transfer', () => {
  test('with a handle is a payment', async () => {
    const paid = await contracts.sendNative(bob, contracts.payTo, parseEther('3'), HANDLE)
    const block = await blockOf(paid)
    expect(await chain.transactionPayments(paid.hash, places)).toEqual({
      status: 'mined',
      block,
      payments: [
        {
          way: 'native',
          txHash: paid.hash,
          logIndex: 0,
          handle: HANDLE,
          tag: null,
          payer: bob,
          asset: 'FLR',
          amountUnits: parseEther('3'),
          block,
        },
      ],
    })
  })

  test.each<[string, bigint, Hex]>([
    ['without data', 1n, '0x'],
    ['with 31 bytes', 1n, `0x${'11'.repeat(31)}`],
    ['with 33 bytes', 1n, `0x${'11'.repeat(33)}`],
    ['with two handles', 1n, concat([HANDLE, HANDLE])],
  ])('%s is a payment without a handle', async (_, wei, data) => {
    const paid = await contracts.sendNative(alice, contracts.payTo, wei, data)
    const payments = [{ way: 'native', handle: null, tag: null, payer: alice, amountUnits: wei }]
    const facts = await chain.transactionPayments(paid.hash, places)
    expect(facts).toMatchObject({ status: 'mined', payments })
    const block = Number(paid.blockNumber)
    expect(await chain.paymentsBetween(block, block, places)).toMatchObject(payments)
  })

  test('of zero is not a payment', async () => {
    const paid = await contracts.sendNative(alice, contracts.payTo, 0n, HANDLE)
    const facts = await chain.transactionPayments(paid.hash, places)
    expect(facts).toMatchObject({ status: 'mined', payments: [] })
    const block = Number(paid.blockNumber)
    expect(await chain.paymentsBetween(block, block, places)).toEqual([])
  })

  test('to another receiver is not counted', async () => {
    const paid = await contracts.sendNative(alice, bob, 5n, HANDLE)
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({ payments: [] })
  })

  test('made by a contract inside a transaction is not a payment', async () => {
    const inner = { target: contracts.payTo, allowFailure: false, value: 7n, callData: HANDLE }
    const before = await devnet.client.getBalance({ address: contracts.payTo })
    const data = encodeFunctionData({
      abi: parseAbi([
        'struct Call { address target; bool allowFailure; uint256 value; bytes callData; }',
        'function aggregate3Value(Call[] calls) payable',
      ]),
      args: [[inner]],
    })
    const paid = await contracts.sendNative(alice, MULTICALL3_ADDRESS, 7n, data)
    expect(paid.status).toBe('success')
    expect(await devnet.client.getBalance({ address: contracts.payTo })).toBe(before + 7n)
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({ payments: [] })
  })
})

describe('a failed transaction', () => {
  test('through the router has the router’s error, and the handle of its top-up', async () => {
    await contracts.setPaused(true)
    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    await contracts.setPaused(false)
    expect(await chain.transactionPayments(paid.hash, places)).toEqual({
      status: 'reverted',
      block: await blockOf(paid),
      reason: 'IsPaused',
      handle: HANDLE,
    })
  })

  test('through the router has the token’s error', async () => {
    const paid = await sendOne({ from: bob, to: contracts.router, data: payData(HANDLE, 5n) })
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'reverted',
      reason: 'ERC20InsufficientAllowance',
      handle: HANDLE,
    })
  })

  test('with a plain transfer has the handle of its top-up', async () => {
    const address = getAddress(toHex(0xdead1, { size: 20 }))
    await devnet.client.setCode({ address, bytecode: REVERTER })
    const paid = await contracts.sendNative(alice, address, 5n, HANDLE)
    const here = { router: undefined, payTo: address }
    expect(await chain.transactionPayments(paid.hash, here)).toMatchObject({
      status: 'reverted',
      reason: null,
      handle: HANDLE,
    })
    const block = Number(paid.blockNumber)
    expect(await chain.paymentsBetween(block, block, here)).toEqual([])
  })

  test('of any other kind has no handle', async () => {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [bob, 1n] })
    const paid = await sendOne({ from: bob, to: contracts.router, data })
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'reverted',
      handle: null,
    })
  })

  test('has no reason if the endpoint lacks the state of its block', async () => {
    await contracts.setPaused(true)
    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    await contracts.setPaused(false)
    proxy.failNext(9, { code: -32000, message: 'missing trie node' }, 'eth_call')
    expect(await chain.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'reverted',
      reason: null,
      handle: HANDLE,
    })
  })
})

describe('a transaction', () => {
  test('is pending until a block has it', async () => {
    await devnet.client.setAutomine(false)
    const hash = await devnet.client.sendTransaction({ account: alice, to: bob, value: 1n })
    expect(await chain.transactionPayments(hash, places)).toEqual({ status: 'pending' })
    await devnet.client.mine({ blocks: 1 })
    await devnet.client.setAutomine(true)
    expect(await chain.transactionPayments(hash, places)).toMatchObject({ status: 'mined' })
  })

  test('is unknown only if no endpoint has it', async () => {
    const unknown = handle('nobody sent this')
    const withTwoEndpoints = chainAt(proxy.url, second.url)
    expect(await withTwoEndpoints.transactionPayments(unknown, places)).toEqual({
      status: 'unknown',
    })
    expect(second.count('eth_getTransactionByHash')).toBe(1)

    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    proxy.rewrite('eth_getTransactionByHash', () => null)
    expect(await withTwoEndpoints.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'mined',
      payments: [{ handle: HANDLE }],
    })
    await second.down()
    expect(await withTwoEndpoints.transactionPayments(paid.hash, places)).toEqual({
      status: 'unknown',
    })
    await proxy.down()
    await expect(withTwoEndpoints.transactionPayments(paid.hash, places)).rejects.toMatchObject(
      unavailable,
    )
  })

  test('is unknown after a reorganization removed its block', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    const number = Number(paid.blockNumber)
    const before = await chain.blockAt(number)
    expect(before?.hash).toBe(paid.blockHash)
    await devnet.reorg(1)
    expect(await chain.transactionPayments(paid.hash, places)).toEqual({ status: 'unknown' })
    expect(await chain.paymentsBetween(number, number, places)).toEqual([])
    const after = await chain.blockAt(number)
    expect(after?.number).toBe(number)
    expect(after?.hash).not.toBe(paid.blockHash)
  })

  test('is not judged by an endpoint whose results contradict each other', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.wflr, 5n)
    const other = handle('another block')
    proxy.rewrite('eth_getBlockByNumber', (block) => ({ ...Object(block), hash: other }))
    await expect(chain.transactionPayments(paid.hash, places)).rejects.toMatchObject(unavailable)
    proxy.rewrite('eth_getTransactionReceipt', () => null)
    const withTwoEndpoints = chainAt(proxy.url, second.url)
    expect(await withTwoEndpoints.transactionPayments(paid.hash, places)).toMatchObject({
      status: 'mined',
    })
  })
})

test('a block that no endpoint has yet is undefined', async () => {
  const number = Number(await devnet.client.getBlockNumber())
  expect(await chain.blockAt(number + 1)).toBeUndefined()
  proxy.rewrite('eth_getBlockByNumber', () => null)
  expect(await chain.blockAt(number)).toBeUndefined()
  expect(await chainAt(proxy.url, second.url).blockAt(number)).toMatchObject({ number })
})

describe('payments between two blocks', () => {
  test('are complete, both blocks included, in the order of the chain', async () => {
    const first = await contracts.pay(alice, handle('1'), contracts.fxrp, 1n)
    await devnet.mine(3)
    await contracts.sendNative(bob, contracts.payTo, 2n, handle('2'))
    const together = await inOneBlock(
      { from: alice, to: contracts.payTo, value: 3n, data: handle('3') },
      { from: alice, to: contracts.wflr, data: approveData(9n) },
      { from: alice, to: contracts.router, data: payData(handle('4'), 4n) },
      { from: alice, to: contracts.payTo, value: 5n, data: handle('5') },
    )
    await payTogether([handle('6'), handle('7'), handle('8')])
    const last = await contracts.pay(bob, handle('9'), contracts.wflr, 9n)
    await contracts.pay(bob, handle('later'), contracts.wflr, 10n)

    const from = Number(first.blockNumber)
    const to = Number(last.blockNumber)
    const payments = await chain.paymentsBetween(from, to, places)
    expect(payments.map((payment) => payment.handle)).toEqual(
      ['1', '2', '3', '4', '5', '6', '7', '8', '9'].map(handle),
    )
    for (const payment of payments) {
      const facts = await chain.transactionPayments(payment.txHash as Hex, places)
      expect(facts).toMatchObject({ payments: expect.arrayContaining([payment]) })
    }
    const inner = await chain.paymentsBetween(from + 1, to - 1, places)
    expect(inner).toEqual(payments.slice(1, -1))
    const [block] = together
    expect(payments[2]?.block).toEqual(block && (await blockOf(block)))
  })

  test('are read from events and headers only, if no top-up can be paid in coins', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 1n)
    await devnet.mine(50)
    const tip = Number(await devnet.client.getBlockNumber())
    const found = await chain.paymentsBetween(Number(paid.blockNumber), tip, {
      ...places,
      payTo: undefined,
    })
    expect(found).toMatchObject([{ handle: HANDLE, block: await blockOf(paid) }])
    expect(proxy.count('eth_getLogs')).toBe(1)
    expect(proxy.count('eth_getBlockByNumber')).toBe(51)
  })

  test('need no events if they can only be in coins', async () => {
    await contracts.pay(alice, HANDLE, contracts.fxrp, 1n)
    const paid = await contracts.sendNative(alice, contracts.payTo, 1n, HANDLE)
    const to = Number(paid.blockNumber)
    const found = await chain.paymentsBetween(to - 1, to, { ...places, router: undefined })
    expect(found).toMatchObject([{ way: 'native' }])
    expect(proxy.count('eth_getLogs')).toBe(0)
  })

  test('of an empty range cause no request', async () => {
    expect(await chain.paymentsBetween(5, 4, places)).toEqual([])
    const nowhere = { router: undefined, payTo: undefined }
    expect(await chain.paymentsBetween(0, 4, nowhere)).toEqual([])
    expect(proxy.counts()).toEqual({})
  })

  test('are complete although an endpoint is behind', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 1n)
    const number = Number(paid.blockNumber)
    proxy.behave({ nodes: { behind: [1] } })
    await expect(chain.paymentsBetween(number, number, places)).rejects.toMatchObject(unavailable)
    const withTwoEndpoints = chainAt(proxy.url, second.url)
    expect(await withTwoEndpoints.paymentsBetween(number, number, places)).toHaveLength(1)
  })

  test('are complete although an endpoint leaves out events', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 1n)
    await devnet.mine(3)
    const number = Number(paid.blockNumber)
    proxy.emptyLogs()
    const withTwoEndpoints = chainAt(proxy.url, second.url)
    for (const payTo of [contracts.payTo, undefined]) {
      const range = [number - 5, number + 3, { ...places, payTo }] as const
      const found = await withTwoEndpoints.paymentsBetween(...range)
      expect(found).toEqual(await chainAt(second.url).paymentsBetween(...range))
      expect(found.at(-1)).toMatchObject({ handle: HANDLE, txHash: paid.hash })
    }
  })

  test('are not taken from two versions of a block', async () => {
    const paid = await contracts.pay(alice, HANDLE, contracts.fxrp, 1n)
    const number = Number(paid.blockNumber)
    const other = handle('another block')
    proxy.rewrite('eth_getBlockByNumber', (block) => ({ ...Object(block), hash: other }))
    for (const payTo of [contracts.payTo, undefined]) {
      const asked = chain.paymentsBetween(number, number, { ...places, payTo })
      await expect(asked).rejects.toMatchObject(unavailable)
    }
  })

  test('are rejected with the reason of the caller that aborts', async () => {
    proxy.hang()
    const controller = new AbortController()
    const reason = new Error('stopping')
    const asked = chain.paymentsBetween(0, 10, places, controller.signal)
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })
})

/** Sends transactions that get into one block. */
async function inOneBlock(
  ...transactions: readonly TransactionToSend[]
): Promise<readonly MinedTransaction[]> {
  const { client } = devnet
  await client.setAutomine(false)
  const hashes: Hex[] = []
  for (const { from, ...rest } of transactions) {
    hashes.push(await client.sendTransaction({ account: from, gas: 500_000n, ...rest }))
  }
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
  return Promise.all(
    hashes.map(async (hash) => {
      const { blockHash, blockNumber, status } = await client.waitForTransactionReceipt({ hash })
      return { hash, blockHash, blockNumber, status }
    }),
  )
}

async function sendOne(transaction: TransactionToSend): Promise<MinedTransaction> {
  const [mined] = await inOneBlock(transaction)
  if (mined === undefined) throw new Error('nothing was sent')
  return mined
}

/** One transaction that pays 1, 2, 3 … for the handles, through a contract. */
async function payTogether(handles: readonly Hex[]): Promise<MinedTransaction> {
  const { wflr } = contracts
  const calls = [
    { target: wflr, callData: mintData(MULTICALL3_ADDRESS, 1000n) },
    { target: wflr, callData: approveData(1000n) },
    ...handles.map((handle, index) => ({
      target: contracts.router,
      callData: payData(handle, BigInt(index + 1)),
    })),
  ]
  const data = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map((call) => ({ ...call, allowFailure: false }))],
  })
  const paid = await sendOne({ from: alice, to: MULTICALL3_ADDRESS, data })
  expect(paid.status).toBe('success')
  return paid
}

function payData(paidHandle: Hex, amount: bigint): Hex {
  const args = [paidHandle, contracts.wflr, amount] as const
  return encodeFunctionData({ abi: ROUTER_ABI, functionName: 'pay', args })
}

function approveData(amount: bigint, spender = contracts.router): Hex {
  const args = [spender, amount] as const
  return encodeFunctionData({ abi: TOKEN_ABI, functionName: 'approve', args })
}

/** Another router, which takes WFLR. */
async function deployRouter(): Promise<Address> {
  const { client } = devnet
  const abi = parseAbi(['constructor(address owner, address treasury)'])
  const data = encodeDeployData({ abi, bytecode: bytecodeOf(router), args: [bob, bob] })
  const hash = await client.sendTransaction({ account: bob, data })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  const address = getAddress(contractAddress ?? '')
  await sendOne({
    from: bob,
    to: address,
    data: setAllowedData(contracts.wflr, true),
  })
  return address
}

async function payThrough(address: Address): Promise<MinedTransaction> {
  await sendOne({ from: alice, to: contracts.wflr, data: approveData(5n, address) })
  return sendOne({ from: alice, to: address, data: payData(HANDLE, 5n) })
}

async function blockOf({ blockHash, blockNumber }: MinedTransaction) {
  const { timestamp } = await devnet.client.getBlock({ blockHash })
  return { number: Number(blockNumber), hash: blockHash, at: new Date(Number(timestamp) * 1000) }
}

async function paidLogIndex({ hash }: MinedTransaction): Promise<number | undefined> {
  const { logs } = await devnet.client.getTransactionReceipt({ hash })
  return logs.find(({ address }) => getAddress(address) === contracts.router)?.logIndex
}

describe('a balance at an old block', () => {
  const pruned = { code: -32000, message: 'missing trie node' }
  const failing = { code: -32603, message: 'internal error' }
  const read = () => chainAt(proxy.url, second.url).balanceAt(bob, 1)

  test('is read from the endpoint that still has the state of the block', async () => {
    proxy.failNext(10, pruned, 'eth_getBalance')
    expect(await read()).toBeGreaterThan(0n)
  })

  test('counts as pruned only if every endpoint reports that', async () => {
    proxy.failNext(10, pruned, 'eth_getBalance')
    second.failNext(10, pruned, 'eth_getBalance')
    expect(await read()).toBeUndefined()
  })

  test('is temporarily unavailable if one endpoint has no state and the other fails', async () => {
    proxy.failNext(10, pruned, 'eth_getBalance')
    second.failNext(10, failing, 'eth_getBalance')
    await expect(read()).rejects.toMatchObject(unavailable)
  })

  test('is unavailable if the result is not a number', async () => {
    proxy.rewrite('eth_getBalance', () => 'a lot')
    second.rewrite('eth_getBalance', () => null)
    await expect(read()).rejects.toMatchObject(unavailable)
  })
})
