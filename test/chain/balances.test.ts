import { type Address, getAddress, numberToHex, pad, stringToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import type { BalanceQuery, BlockRef, Chain } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import {
  COSTLY_TOKEN,
  encodedNumber,
  encodedString,
  GAS_BURNER,
  REVERTER,
  respondingCode,
  tokenCode,
} from './contracts.ts'

const numbered = (number: number): Address => getAddress(numberToHex(number, { size: 20 }))
const GOOD = numbered(0x1001)
const OTHER = numbered(0x1002)
const BURNER = numbered(0x1003)
const BROKEN = numbered(0x1004)
const EMPTY = numbered(0x1005)
const NO_CONTRACT = numbered(0x1006)
const OLD = numbered(0x1007)
const COSTLY = numbered(0x1008)
const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address

let devnet: Devnet
let proxy: RpcProxy
let chain: Chain
let block: BlockRef

const chainAt = (...rpcUrls: readonly string[]) =>
  createChain({ rpcUrls, chainId: 14, log: silentLogger, timeoutMs: 2000 })

async function give(token: Address, holder: Address, units: bigint): Promise<void> {
  await devnet.client.setStorageAt({
    address: token,
    index: pad(holder, { size: 32 }),
    value: encodedNumber(units),
  })
}

beforeAll(async () => {
  devnet = await startDevnet()
  const good = tokenCode({ symbol: encodedString('GOOD'), decimals: encodedNumber(6n) })
  const old = tokenCode({ symbol: stringToHex('OLD', { size: 32 }), decimals: encodedNumber(18n) })
  const codes: readonly [Address, `0x${string}`][] = [
    [GOOD, good],
    [OTHER, good],
    [OLD, old],
    [BURNER, GAS_BURNER],
    [BROKEN, REVERTER],
    [COSTLY, COSTLY_TOKEN],
    [EMPTY, respondingCode({ 'balanceOf(address)': '0x' })],
  ]
  for (const [address, bytecode] of codes) await devnet.client.setCode({ address, bytecode })
  await devnet.mine()
})
afterAll(() => devnet.close())
beforeEach(async () => {
  proxy = await startRpcProxy(devnet.rpcUrl)
  chain = chainAt(proxy.url)
  block = await chain.confirmedBlock(1)
  proxy.resetCounts()
})
afterEach(() => proxy.close())

describe('balances', () => {
  test('are returned in the given order, coins and tokens mixed, in one request', async () => {
    await give(GOOD, alice, 7n)
    await give(OTHER, bob, 2n ** 255n)
    await devnet.setBalance(bob, 5n)
    await devnet.mine()
    const asked: readonly BalanceQuery[] = [
      { address: alice, asset: GOOD },
      { address: bob, asset: 'FLR' },
      { address: bob, asset: OTHER },
      { address: bob, asset: GOOD },
      { address: alice, asset: 'FLR' },
    ]
    const now = await chain.confirmedBlock(1)
    expect(await chain.balances(asked, now)).toEqual([
      7n,
      5n,
      2n ** 255n,
      0n,
      await devnet.client.getBalance({ address: alice }),
    ])
    expect(proxy.count('eth_call')).toBe(1)
  })

  test('are those at the end of the given block, not of a later one', async () => {
    const holder = numbered(0x2001)
    await devnet.transfer(alice, holder, 100n)
    const before = await chain.confirmedBlock(1)
    await devnet.transfer(alice, holder, 11n)
    const after = await chain.confirmedBlock(1)
    const asked: readonly BalanceQuery[] = [{ address: holder, asset: 'FLR' }]
    expect(await chain.balances(asked, before)).toEqual([100n])
    expect(await chain.balances(asked, after)).toEqual([111n])
  })

  test('of an empty list cause no request', async () => {
    expect(await chain.balances([], block)).toEqual([])
    expect(proxy.counts()).toEqual({})
  })

  test.each([
    ['fails', BROKEN],
    ['answers nothing', EMPTY],
    ['does not exist', NO_CONTRACT],
  ])('are unknown of a token that %s, and known of the others', async (_, bad) => {
    await give(GOOD, alice, 7n)
    await devnet.mine()
    const asked: readonly BalanceQuery[] = [
      { address: alice, asset: bad },
      { address: alice, asset: GOOD },
      { address: bob, asset: bad },
    ]
    const now = await chain.confirmedBlock(1)
    expect(await chain.balances(asked, now)).toEqual([undefined, 7n, undefined])
  })

  test('of other tokens are read beside a token that burns all gas', async () => {
    await give(GOOD, alice, 7n)
    await give(OTHER, bob, 8n)
    await devnet.mine()
    const good = (count: number) =>
      Array.from({ length: count }, (): BalanceQuery => ({ address: alice, asset: GOOD }))
    const asked: readonly BalanceQuery[] = [
      ...good(100),
      { address: alice, asset: BURNER },
      { address: bob, asset: BURNER },
      { address: bob, asset: OTHER },
      ...good(100),
    ]
    const now = await chain.confirmedBlock(1)
    expect(await chain.balances(asked, now)).toEqual([
      ...good(100).map(() => 7n),
      undefined,
      undefined,
      8n,
      ...good(100).map(() => 7n),
    ])
  })

  test('of many accounts are requested 500 at a time', async () => {
    const asked = Array.from(
      { length: 1201 },
      (_, place): BalanceQuery => ({ address: numbered(0x100000 + place), asset: 'FLR' }),
    )
    await devnet.setBalance(numbered(0x100000 + 1200), 9n)
    await devnet.mine()
    const balances = await chain.balances(asked, await chain.confirmedBlock(1))
    expect(balances).toHaveLength(1201)
    expect(balances.at(-1)).toBe(9n)
    expect(balances.slice(0, -1).every((balance) => balance === 0n)).toBe(true)
    expect(proxy.count('eth_call')).toBe(3)
  })

  test('are complete even if a token needs more gas for many accounts than one request allows', async () => {
    const last = numbered(0x200000 + 499)
    const asked = Array.from(
      { length: 500 },
      (_, place): BalanceQuery => ({ address: numbered(0x200000 + place), asset: COSTLY }),
    )
    await give(COSTLY, last, 9n)
    await devnet.mine()
    const balances = await chain.balances(asked, await chain.confirmedBlock(1))
    expect(balances).toEqual([...asked.slice(1).map(() => 0n), 9n])
    expect(proxy.count('eth_call')).toBeGreaterThan(1)
  })

  test('come from the next endpoint when the first lacks the state of the block', async () => {
    const lacking = await startRpcProxy(devnet.rpcUrl)
    const withTwoEndpoints = chainAt(lacking.url, proxy.url)
    const asked: readonly BalanceQuery[] = [{ address: numbered(0x3001), asset: 'FLR' }]
    lacking.failNext(9, { code: -32000, message: 'missing trie node' }, 'eth_call')
    expect(await withTwoEndpoints.balances(asked, block)).toEqual([0n])

    proxy.failNext(9, { code: -32000, message: 'header not found' }, 'eth_call')
    await expect(withTwoEndpoints.balances(asked, block)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'dependency_unavailable',
    })
    await lacking.close()
  })

  test('of a block that no endpoint has yet are not available', async () => {
    const later: BlockRef = { ...block, number: block.number + 1000 }
    await expect(chain.balances([{ address: alice, asset: 'FLR' }], later)).rejects.toThrow(
      'dependency_unavailable',
    )
  })

  test('are not available without Multicall3', async () => {
    const without = createChain({
      rpcUrls: [proxy.url],
      chainId: 14,
      log: silentLogger,
      multicallAddress: NO_CONTRACT,
    })
    await expect(without.balances([{ address: alice, asset: 'FLR' }], block)).rejects.toThrow(
      'dependency_unavailable',
    )
  })

  test('are rejected with the reason of the caller that aborts', async () => {
    proxy.hang()
    const controller = new AbortController()
    const reason = new Error('stopping')
    const asked = chain.balances([{ address: alice, asset: 'FLR' }], block, controller.signal)
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })
})

describe('asset information', () => {
  test('is read from a token, whether its symbol is `string` or `bytes32`', async () => {
    expect(await chain.assetInfo(GOOD)).toEqual({ symbol: 'GOOD', decimals: 6 })
    expect(await chain.assetInfo(OLD)).toEqual({ symbol: 'OLD', decimals: 18 })
  })

  test('is requested once per token, never for the coin', async () => {
    await chain.assetInfo(GOOD)
    await chain.assetInfo(GOOD)
    expect(proxy.count('eth_call')).toBe(1)
    expect(await chain.assetInfo('FLR')).toEqual({ symbol: 'FLR', decimals: 18 })
    expect(proxy.count('eth_call')).toBe(1)
  })

  test.each([
    ['a person', alice],
    ['a contract that fails', BROKEN],
    ['a contract that burns all gas', BURNER],
    ['an address without a contract', NO_CONTRACT],
  ])('does not exist for %s', async (_, address) => {
    expect(await chain.assetInfo(address)).toBeUndefined()
  })

  test('exists as soon as the token is deployed', async () => {
    const soon = numbered(0x4001)
    expect(await chain.assetInfo(soon)).toBeUndefined()
    const bytecode = tokenCode({ symbol: encodedString('SOON'), decimals: encodedNumber(2n) })
    await devnet.client.setCode({ address: soon, bytecode })
    await devnet.mine()
    expect(await chain.assetInfo(soon)).toEqual({ symbol: 'SOON', decimals: 2 })
  })

  test('is unavailable while no endpoint responds', async () => {
    await proxy.down()
    await expect(chain.assetInfo(GOOD)).rejects.toThrow('dependency_unavailable')
  })
})

describe('the confirmed block', () => {
  test('is a block of the chain, with its hash and time', async () => {
    const confirmed = await chain.confirmedBlock(2)
    const tip = await devnet.client.getBlock()
    expect(confirmed.number).toBe(Number(tip.number) - 1)
    const expected = await devnet.client.getBlock({ blockNumber: tip.number - 1n })
    expect(confirmed.hash).toBe(expected.hash)
    expect(confirmed.at).toEqual(new Date(Number(expected.timestamp) * 1000))
  })

  test('has another hash after a reorganization', async () => {
    await devnet.mine(5)
    const before = await chain.confirmedBlock(2)
    await devnet.client.setBalance({ address: numbered(0x5001), value: 1n })
    await devnet.reorg(3)
    const after = await chain.confirmedBlock(2)
    expect(after.number).toBe(before.number)
    expect(after.hash).not.toBe(before.hash)
  })
})
