import { createServer } from 'node:http'
import { toFunctionSelector } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { createChain } from '#src/chain/client.ts'
import { createEndpoints } from '#src/chain/endpoints/endpoints.ts'
import { createPChain } from '#src/chain/pchain.ts'
import { createContractAddresses } from '#src/chain/registry.ts'
import { silentLogger } from '#src/kernel/logger.ts'

/** Endpoints whose answers do not have the shape of their methods. */

let devnet: DevnetWithContracts
let primary: RpcProxy
let secondary: RpcProxy
let nowMs: number

const AT = new Date('2026-11-20T15:00:00Z')
const clock = { now: () => new Date(nowMs) }

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
})
afterAll(() => devnet.close())
beforeEach(async () => {
  nowMs = AT.getTime()
  primary = await startRpcProxy(devnet.rpcUrl)
  secondary = await startRpcProxy(devnet.rpcUrl)
})
afterEach(() => Promise.all([primary.close(), secondary.close()]))

describe('a call answered with garbage', () => {
  test.each([
    ['null', null],
    ['a number', 7],
    ['half a byte', '0x1'],
    ['an object', {}],
    ['text', 'ok'],
  ])('such as %s is repeated at the next endpoint', async (_name, answer) => {
    primary.rewrite('eth_call', () => answer)
    const chain = createChain({
      rpcUrls: [primary.url, secondary.url],
      chainId: 14,
      log: silentLogger,
      clock,
    })
    const { address } = devnet.people.alice.account
    const block = await chain.confirmedBlock(1)
    const [balance] = await chain.balances([{ address, asset: 'FLR' }], block)
    expect(balance).toBeTypeOf('bigint')
    secondary.rewrite('eth_call', () => answer)
    await expect(chain.balances([{ address, asset: 'FLR' }], block)).rejects.toMatchObject({
      code: 'dependency_unavailable',
    })
  })
})

describe('the list of contracts', () => {
  test.each([
    1, 2,
  ])('stays as it was if all of %s endpoints return an empty list', async (endpointCount) => {
    const { registry } = devnet.contracts
    const names = createContractAddresses({ registry, endpointCount, clock, log: silentLogger })
    const endpoints = createEndpoints({
      rpcUrls: [primary.url, secondary.url].slice(0, endpointCount),
      chainId: 14,
      log: silentLogger,
      clock,
      timeoutMs: 2000,
    })
    const find = () => endpoints.ask((client) => names.find(client, 'FtsoV2'), undefined)
    const before = await find()
    expect(before).toBeDefined()
    nowMs += 11 * 60_000
    for (const proxy of [primary, secondary]) proxy.rewrite('eth_call', () => '0x')
    expect(await find()).toBe(before)
    nowMs += 11 * 60_000
    expect(await find()).toBe(before)
  })

  test('is read from the next endpoint if one returns an empty list', async () => {
    const { registry } = devnet.contracts
    const names = createContractAddresses({
      registry,
      endpointCount: 2,
      clock,
      log: silentLogger,
    })
    const endpoints = createEndpoints({
      rpcUrls: [primary.url, secondary.url],
      chainId: 14,
      log: silentLogger,
      clock,
      timeoutMs: 2000,
    })
    const find = () => endpoints.ask((client) => names.find(client, 'FtsoV2'), undefined)
    const before = await find()
    nowMs += 11 * 60_000
    primary.rewrite('eth_call', () => '0x')
    secondary.resetCounts()
    expect(await find()).toBe(before)
    expect(secondary.count('eth_call')).toBe(1)
  })
})

describe('the first answer of an endpoint', () => {
  test('that lists no contracts is not believed while another endpoint lists some', async () => {
    const { registry } = devnet.contracts
    const names = createContractAddresses({
      registry,
      endpointCount: 2,
      clock,
      log: silentLogger,
    })
    const endpoints = createEndpoints({
      rpcUrls: [primary.url, secondary.url],
      chainId: 14,
      log: silentLogger,
      clock,
      timeoutMs: 2000,
    })
    primary.rewrite('eth_call', () => '0x')
    const find = () => endpoints.ask((client) => names.find(client, 'FtsoV2'), undefined)
    expect(await find()).toBeDefined()
  })

  test('about the decimals of a token is not believed while another endpoint says otherwise', async () => {
    const { fxrp } = devnet.contracts
    const rpcUrls = [primary.url, secondary.url]
    const chain = createChain({ rpcUrls, chainId: 14, log: silentLogger, clock })
    const decimals = (number: number) => number.toString(16).padStart(64, '0')
    const changed = (word: string) => (word === decimals(6) ? decimals(18) : word)
    primary.rewrite(
      'eth_call',
      (data) => `0x${String(data).slice(2).replaceAll(/.{64}/g, changed)}`,
    )
    await expect(chain.assetInfo(fxrp)).rejects.toMatchObject({ code: 'dependency_unavailable' })
    await primary.up()
    expect(await chain.assetInfo(fxrp)).toMatchObject({ decimals: 6 })
  })

  test('that lists no feeds replaces no known list', async () => {
    const rpcUrls = [primary.url]
    const { registry: contractRegistry } = devnet.contracts
    const chain = createChain({ rpcUrls, chainId: 14, log: silentLogger, clock, contractRegistry })
    const list = await chain.feedList()
    expect(list?.feeds.length).toBeGreaterThan(0)
    nowMs += 9 * 60_000
    await chain.feedList()
    nowMs += 2 * 60_000
    const empty = `0x${'20'.padStart(64, '0')}${'0'.repeat(64)}`
    const asked = toFunctionSelector('function getSupportedFeedIds()').slice(2)
    primary.rewrite('eth_call', (data, params) =>
      JSON.stringify(params).includes(asked) ? empty : data,
    )
    expect(await chain.feedList()).toEqual(list)
  })
})

describe('the current address of a contract', () => {
  test('is known before the stored former addresses are loaded', async () => {
    const { registry } = devnet.contracts
    const stored = Promise.withResolvers<Record<string, `0x${string}`[]>>()
    const names = createContractAddresses({
      registry,
      endpointCount: 1,
      stored: () => stored.promise,
      clock,
      log: silentLogger,
    })
    const endpoints = createEndpoints({
      rpcUrls: [primary.url],
      chainId: 14,
      log: silentLogger,
      clock,
      timeoutMs: 2000,
    })
    const now = await endpoints.ask((client) => names.find(client, 'FtsoV2'), undefined)
    expect(now).toBeDefined()
    const all = endpoints.ask((client) => names.all(client, 'FtsoV2'), undefined)
    const former = `0x${'22'.repeat(20)}` as const
    stored.resolve({ FtsoV2: [former] })
    expect(await all).toEqual([now, former])
  })
})

describe('a validator', () => {
  test.each([
    ['a fraction', '1790000000.5'],
    ['beyond every date', '18446744073709551615'],
    ['an object', {}],
  ])('with an end of stake that is %s has no known end', async (_name, endTime) => {
    const node = await startNode({ nodeID: 'NodeID-A', connected: true, endTime })
    const found = await createPChain({ url: node.url }).validators(['NodeID-A'])
    expect(found?.get('NodeID-A')).toEqual({ connected: true, endsAt: null })
    await node.close()
  })

  test('without a connection status does not count as offline', async () => {
    const node = await startNode({ nodeID: 'NodeID-A', endTime: '1790000000' })
    const found = await createPChain({ url: node.url }).validators(['NodeID-A'])
    expect(found?.get('NodeID-A')?.connected).toBeNull()
    await node.close()
  })
})

async function startNode(validator: unknown) {
  const server = createServer((_incoming, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { validators: [validator] } }))
  })
  const port = await listenOnLoopback(server, 0)
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) }
}
