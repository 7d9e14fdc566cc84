import { encodeDeployData, encodeFunctionData, getAddress, parseAbi } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import feeds from '#sandbox/contracts/PriceFeeds.json' with { type: 'json' }
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { bytecodeOf, setFeedData } from '#sandbox/devnet/deployment.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import type { Chain } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type TestClock, testClock } from '../support/clock.ts'

const alice = PEOPLE.alice.account.address
const AT = new Date('2026-11-20T15:00:00Z')
const minutesBefore = (minutes: number) => new Date(AT.getTime() - minutes * 60_000)

let devnet: DevnetWithContracts
let contracts: DevnetWithContracts['contracts']
let proxy: RpcProxy
let clock: TestClock
let chain: Chain
let lines: { level: string; message: string; fields: Record<string, unknown> }[]

const record = (level: string) => (fields: Record<string, unknown>, message: string) => {
  lines.push({ level, message, fields })
}
const log: Logger = {
  error: record('error'),
  warn: record('warn'),
  info: record('info'),
  debug: record('debug'),
}

beforeEach(async () => {
  lines = []
  clock = testClock(AT)
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  contracts = devnet.contracts
  proxy = await startRpcProxy(devnet.rpcUrl)
  chain = createChain({ rpcUrls: [proxy.url], chainId: 14, log, clock, timeoutMs: 2000 })
})
afterEach(async () => {
  await proxy.close()
  await devnet.close()
})

describe('the price of a feed', () => {
  test('is exact, with its decimals and its time', async () => {
    await contracts.setFeed('FLR/USD', 16_543n, 6, minutesBefore(1))
    await contracts.setFeed('XRP/USD', 2n ** 200n, -3, minutesBefore(2))
    expect(await chain.feedPrice('FLR/USD')).toEqual({
      value: 16_543n,
      decimals: 6,
      at: minutesBefore(1),
    })
    expect(await chain.feedPrice('XRP/USD')).toEqual({
      value: 2n ** 200n,
      decimals: -3,
      at: minutesBefore(2),
    })
  })

  test('is the newest price, with its current decimals', async () => {
    await contracts.setFeed('FLR/USD', 1n, 6, AT)
    await chain.feedPrice('FLR/USD')
    await contracts.setFeed('FLR/USD', 22n, 7, AT)
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 22n, decimals: 7 })
  })

  test('is undefined if it is older than 10 minutes, and its age is logged', async () => {
    await contracts.setFeed('FLR/USD', 1n, 6, minutesBefore(10))
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 1n })
    clock.advance(1)
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
    await contracts.setFeed('FLR/USD', 2n, 6, AT)
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 2n })
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'price feed is missing or stale',
        fields: { feed: 'FLR/USD', updatedAt: minutesBefore(10).toISOString() },
      },
      {
        level: 'info',
        message: 'price feed is back',
        fields: { feed: 'FLR/USD', updatedAt: AT.toISOString() },
      },
    ])
  })

  test('of one feed is known although another feed is out of date', async () => {
    await contracts.setFeed('FLR/USD', 1n, 6, minutesBefore(11))
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
    expect(await chain.feedPrice('XRP/USD')).toMatchObject({ decimals: 5 })
  })

  test('is undefined if it is zero', async () => {
    await contracts.setFeed('FLR/USD', 0n, 6, AT)
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
  })

  test('is undefined if the feed does not exist', async () => {
    await name(await deployFeeds())
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
  })

  test('is read also if the contract charges a fee for it', async () => {
    const abi = parseAbi(['function setFeePerFeed(uint256 fee)'])
    const data = encodeFunctionData({ abi, args: [10n ** 30n] })
    await contracts.sendNative(alice, contracts.ftsoV2, 0n, data)
    expect(await chain.feedPrice('XRP/USD')).toMatchObject({ value: 250_000n, decimals: 5 })
  })
})

describe('the contract of the feeds', () => {
  test('is looked up in the registry every 10 minutes', async () => {
    await chain.feedPrice('FLR/USD')
    await chain.feedPrice('FLR/USD')
    expect(proxy.count('eth_call')).toBe(3)
    const moved = await deployFeeds()
    await notify(moved, setFeedData({ name: 'FLR/USD', value: 9n, decimals: 1 }))
    await name(moved)
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 200_000n })
    clock.advance(600)
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 9n })
  })

  test('is looked up again as soon as the known contract fails', async () => {
    await chain.feedPrice('FLR/USD')
    const moved = await deployFeeds()
    await notify(moved, setFeedData({ name: 'FLR/USD', value: 9n, decimals: 1 }))
    await name(moved)
    await devnet.client.setCode({ address: contracts.ftsoV2, bytecode: '0x' })
    expect(await chain.feedPrice('FLR/USD')).toMatchObject({ value: 9n })
  })

  test('does not exist without an entry in the registry, or without a registry', async () => {
    await name('0x0000000000000000000000000000000000000000')
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
    await devnet.client.setCode({ address: contracts.registry, bytecode: '0x' })
    expect(await chain.feedPrice('FLR/USD')).toBeUndefined()
    const elsewhere = { rpcUrls: [proxy.url], chainId: 14, log, clock, contractRegistry: alice }
    expect(await createChain(elsewhere).feedPrice('FLR/USD')).toBeUndefined()
  })
})

test('a price is unavailable while no endpoint responds', async () => {
  await proxy.down()
  await expect(chain.feedPrice('FLR/USD')).rejects.toMatchObject({ code: 'dependency_unavailable' })
  const withTwoEndpoints = createChain({
    rpcUrls: [proxy.url, devnet.rpcUrl],
    chainId: 14,
    log,
    clock,
  })
  expect(await withTwoEndpoints.feedPrice('FLR/USD')).toMatchObject({ value: 200_000n })
})

describe("the router's state", () => {
  test('is read in one request', async () => {
    const { router, treasury, wflr, fxrp } = contracts
    const tokens = [wflr, alice, fxrp]
    expect(await chain.routerState(router, tokens)).toEqual({
      paused: false,
      treasury,
      allowed: [true, false, true],
    })
    await contracts.setPaused(true)
    await contracts.setAllowed(wflr, false)
    proxy.resetCounts()
    expect(await chain.routerState(router, tokens)).toEqual({
      paused: true,
      treasury,
      allowed: [false, false, true],
    })
    expect(proxy.counts()).toEqual({ eth_call: 1 })
    expect(await chain.routerState(router, [])).toMatchObject({ allowed: [] })
  })

  test('does not exist for another address', async () => {
    for (const address of [alice, contracts.wflr, contracts.registry]) {
      expect(await chain.routerState(address, [contracts.wflr])).toBeUndefined()
    }
  })

  test('is unavailable while no endpoint responds', async () => {
    proxy.hang()
    const quick = createChain({ rpcUrls: [proxy.url], chainId: 14, log, clock, timeoutMs: 100 })
    await expect(quick.routerState(contracts.router, [])).rejects.toMatchObject({
      code: 'dependency_unavailable',
    })
  })
})

async function deployFeeds() {
  const { client } = devnet
  const data = encodeDeployData({ abi: [], bytecode: bytecodeOf(feeds) })
  const hash = await client.sendTransaction({ account: alice, data })
  const { contractAddress } = await client.waitForTransactionReceipt({ hash })
  return getAddress(contractAddress ?? '')
}

/** Sets the contract of the name FtsoV2 in the registry. */
async function name(address: `0x${string}`): Promise<void> {
  const abi = parseAbi(['function set(string name, address contractAddress)'])
  await notify(contracts.registry, encodeFunctionData({ abi, args: ['FtsoV2', address] }))
}

async function notify(to: `0x${string}`, data: `0x${string}`): Promise<void> {
  expect(await contracts.sendNative(alice, to, 0n, data)).toMatchObject({ status: 'success' })
}
