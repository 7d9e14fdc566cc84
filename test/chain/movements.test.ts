import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import type { Asset, BalanceMovement, Chain } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { silentLogger } from '#src/kernel/logger.ts'

/** Finds the transfer that caused a change of a balance, on a real chain. */

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const carol = PEOPLE.carol.account.address
const FLR = 10n ** 18n
const UNKNOWN = { transactionHash: null, counterparty: null, transactions: [] }

let devnet: DevnetWithContracts
let proxy: RpcProxy
let chain: Chain
let token: Address

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  proxy = await startRpcProxy(devnet.rpcUrl)
  token = devnet.contracts.serviceToken
  await devnet.contracts.mint(token, alice, 1000n * FLR)
  chain = createChain({ rpcUrls: [proxy.url], chainId: 14, log: silentLogger, timeoutMs: 2000 })
})
afterAll(async () => {
  await proxy.close()
  await devnet.close()
})

async function send(from: Address, to: Address, units: bigint): Promise<string> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, units] })
  const hash = await devnet.client.sendTransaction({ account: from, to: token, data, chain: null })
  await devnet.client.waitForTransactionReceipt({ hash })
  return hash
}

/** Runs `work`, and returns the movement found for the changed balance of each account. */
async function behind(
  accounts: readonly Address[],
  asset: Asset,
  work: () => Promise<unknown>,
): Promise<readonly BalanceMovement[]> {
  const queries = accounts.map((address) => ({ address, asset }))
  const first = await chain.confirmedBlock(1)
  const before = await chain.balances(queries, first)
  await work()
  const last = await chain.confirmedBlock(1)
  const after = await chain.balances(queries, last)
  const changes = queries.map((query, index) => ({
    ...query,
    changeUnits: (after[index] ?? 0n) - (before[index] ?? 0n),
  }))
  return chain.movements(changes, { after: first.number, upTo: last.number })
}

test('for one transfer of coins both accounts get the transaction and the counterparty', async () => {
  let hash = ''
  const found = await behind([alice, bob], 'FLR', async () => {
    hash = (await devnet.transfer(alice, bob, 500n * FLR)).hash
  })
  expect(found).toEqual([
    {
      transactionHash: hash,
      counterparty: bob,
      transactions: [{ hash, units: -500n * FLR, counterparty: bob }],
    },
    {
      transactionHash: hash,
      counterparty: alice,
      transactions: [{ hash, units: 500n * FLR, counterparty: alice }],
    },
  ])
})

test('for one transfer of a token both accounts get the transaction and the counterparty', async () => {
  let hash = ''
  const found = await behind([alice, bob], token, async () => {
    await devnet.transfer(alice, carol, FLR)
    hash = await send(alice, bob, 20n * FLR)
  })
  expect(found).toEqual([
    { transactionHash: hash, counterparty: bob, transactions: [expect.objectContaining({ hash })] },
    {
      transactionHash: hash,
      counterparty: alice,
      transactions: [expect.objectContaining({ hash })],
    },
  ])
})

test('for several transfers to one account the counterparty and the list of transactions are returned', async () => {
  const hashes: string[] = []
  const found = await behind([alice], 'FLR', async () => {
    hashes.push((await devnet.transfer(alice, bob, FLR)).hash)
    hashes.push((await devnet.transfer(alice, bob, 2n * FLR)).hash)
  })
  const transactions = hashes.map((hash, index) => ({
    hash,
    units: -BigInt(index + 1) * FLR,
    counterparty: bob,
  }))
  expect(found).toEqual([{ transactionHash: null, counterparty: bob, transactions }])
})

test('for transfers of both directions with several accounts only the list is returned, in order', async () => {
  await send(alice, bob, 10n * FLR)
  const hashes: string[] = []
  const found = await behind([alice], token, async () => {
    hashes.push(await send(alice, bob, 3n * FLR))
    hashes.push(await send(bob, alice, FLR))
    hashes.push(await send(alice, carol, 2n * FLR))
  })
  const [first, second, third] = hashes
  expect(found).toEqual([
    {
      transactionHash: null,
      counterparty: null,
      transactions: [
        { hash: first, units: -3n * FLR, counterparty: bob },
        { hash: second, units: FLR, counterparty: bob },
        { hash: third, units: -2n * FLR, counterparty: carol },
      ],
    },
  ])
})

test('for a minted token the transaction is returned and no counterparty', async () => {
  const found = await behind([bob], token, () => devnet.contracts.mint(token, bob, FLR))
  const hash = expect.stringMatching(/^0x/)
  const transactions = [{ hash, units: FLR, counterparty: null }]
  expect(found).toEqual([{ transactionHash: hash, counterparty: null, transactions }])
})

test('for coins that no transaction of the account explains nothing is returned', async () => {
  const found = await behind([bob], 'FLR', async () => {
    const balance = await devnet.client.getBalance({ address: bob })
    await devnet.client.setBalance({ address: bob, value: balance + 77n * FLR })
    await devnet.transfer(alice, bob, FLR)
  })
  expect(found).toEqual([UNKNOWN])
})

test('a change by fees alone is not a transfer', async () => {
  const found = await behind([alice], 'FLR', () => send(alice, bob, FLR))
  expect(found).toEqual([UNKNOWN])
})

test('a span of more than 200 blocks is not searched', async () => {
  const last = await chain.confirmedBlock(1)
  proxy.resetCounts()
  const change = { address: alice, asset: 'FLR', changeUnits: -FLR } as const
  const span = { after: last.number - 201, upTo: last.number }
  expect(await chain.movements([change], span)).toEqual([UNKNOWN])
  expect(proxy.counts()).toEqual({})
})
