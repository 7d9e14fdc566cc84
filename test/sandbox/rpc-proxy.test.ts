import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { createRateLimit } from '#sandbox/devnet/rpc-rate.ts'
import { RATE_REFUSALS } from '#sandbox/devnet/rpc-words.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'

const alice = PEOPLE.alice.account.address
const bob = PEOPLE.bob.account.address
const TIP = 50

let devnet: Devnet
let proxy: RpcProxy
/** A transaction of the newest block. */
let newest: { readonly hash: string; readonly blockHash: string }

beforeAll(async () => {
  devnet = await startDevnet()
  proxy = await startRpcProxy(devnet.rpcUrl)
  await devnet.mine(TIP - 1 - Number(await devnet.client.getBlockNumber()), 1)
  newest = await devnet.transfer(alice, bob, 1n)
})

afterEach(async () => {
  await proxy.up()
  proxy.resetCounts()
})

afterAll(async () => {
  await proxy.close()
  await devnet.close()
})

describe('nodes behind one address', () => {
  test('answer in turn, each with its own tip, and the counts say what was refused', async () => {
    proxy.behave({ nodes: { behind: [0, 1, 2] } })
    const tips = []
    for (const _ of [1, 2, 3, 4]) tips.push(Number(await result('eth_blockNumber')))
    expect(tips).toEqual([50, 49, 48, 50])
    proxy.behave({ nodes: { behind: [0, 2] } })
    const head = () => ask('eth_getBlockByNumber', '0x32', false)
    expect(await head()).toHaveProperty('result.number', '0x32')
    expect(await head()).toHaveProperty('error.message', 'cannot query unfinalized data')
    expect(await head()).toHaveProperty('result.number', '0x32')
    expect(proxy.traffic()).toMatchObject({
      requests: 7,
      byMethod: { eth_blockNumber: 4, eth_getBlockByNumber: 3 },
      refused: { 'not-yet': 1, rate: 0 },
      refusedTwice: 0,
    })
  })

  test('are chosen at random, but the same in each run', async () => {
    const choices = async () => {
      proxy.behave({ nodes: { behind: [0, 0, 1, 2], order: 'random' } })
      const tips = []
      for (let asked = 0; asked < 20; asked += 1) tips.push(Number(await result('eth_blockNumber')))
      return tips
    }
    const first = await choices()
    expect(new Set(first)).toEqual(new Set([50, 49, 48]))
    expect(await choices()).toEqual(first)
  })

  test.each([
    ['eth_getBlockByNumber', ['0x32', false], 'cannot query unfinalized data'],
    ['eth_getBlockReceipts', ['0x32'], 'cannot query unfinalized data'],
    ['eth_getBalance', [alice, '0x32'], 'cannot query unfinalized data'],
    ['eth_call', [{ to: bob }, '0x32'], 'cannot query unfinalized data'],
    ['eth_call', [{ to: bob }, { blockNumber: '0x32' }], 'cannot query unfinalized data'],
    [
      'eth_getLogs',
      [{ fromBlock: '0x30', toBlock: '0x32' }],
      'requested to block 50 after last accepted block 48',
    ],
    [
      'eth_getLogs',
      [{ fromBlock: '0x31', toBlock: '0x32' }],
      'requested from block 49 after last accepted block 48',
    ],
  ])('refuse %s of a later block in the words of coreth', async (method, params, message) => {
    proxy.behave({ nodes: { behind: [2] } })
    expect(await ask(method, ...params)).toMatchObject({ error: { code: -32000, message } })
  })

  test('do not know hashes of later blocks', async () => {
    proxy.behave({ nodes: { behind: [1] } })
    const { blockHash } = newest
    expect(await result('eth_getBlockByHash', blockHash, false)).toBeNull()
    expect(await result('eth_getTransactionReceipt', newest.hash)).toBeNull()
    expect(await result('eth_getTransactionByHash', newest.hash)).toBeNull()
    expect(await ask('eth_getBalance', alice, { blockHash })).toMatchObject({
      error: { message: 'header for hash not found' },
    })
    expect(await ask('eth_getLogs', { blockHash })).toMatchObject({
      error: { message: 'unknown block' },
    })
    proxy.behave({ nodes: { behind: [0] } })
    expect(await result('eth_getTransactionReceipt', newest.hash)).toHaveProperty(
      'blockHash',
      blockHash,
    )
    expect(await result('eth_getBalance', alice, { blockHash })).toMatch(/^0x/)
  })

  test('read “latest” at their own tip', async () => {
    proxy.behave({ nodes: { behind: [1] } })
    const before = await devnet.client.getBalance({ address: bob, blockNumber: BigInt(TIP - 1) })
    expect(BigInt(`${await result('eth_getBalance', bob, 'latest')}`)).toBe(before)
    expect(await result('eth_getBlockByNumber', 'finalized', false)).toHaveProperty(
      'number',
      '0x31',
    )
  })

  test('answer null, “header not found” and the events they have in the manner of geth', async () => {
    proxy.behave({ program: 'geth', nodes: { behind: [2] } })
    expect(await result('eth_getBlockByNumber', '0x32', false)).toBeNull()
    expect(await result('eth_getBlockReceipts', '0x32')).toBeNull()
    expect(await ask('eth_getBalance', alice, '0x32')).toMatchObject({
      error: { code: -32000, message: 'header not found' },
    })
    expect(await result('eth_getLogs', { fromBlock: '0x31', toBlock: '0x32' })).toEqual([])
    expect(await result('eth_getLogs', { fromBlock: '0x1', toBlock: '0x32' })).toEqual([])
    expect(proxy.traffic().refused['not-yet']).toBe(4)
  })
})

describe('a cap of eth_getLogs', () => {
  const from = (blocks: number) => ({ fromBlock: '0x1', toBlock: `0x${blocks.toString(16)}` })

  test('counts both ends of the range', async () => {
    proxy.behave({ logBlocks: { max: 30 } })
    expect(await result('eth_getLogs', from(30))).toEqual([])
    expect(await ask('eth_getLogs', from(31))).toMatchObject({
      error: {
        code: -32000,
        message: 'requested too many blocks from 1 to 31, maximum is set to 30',
      },
    })
    expect(await result('eth_getLogs', { fromBlock: '0x20' })).toEqual([])
    expect(proxy.traffic().refused.range).toBe(1)
  })

  test.each([
    ['quickNode', 413, { error: { code: -32615, message: expect.stringContaining('5 range') } }],
    ['quickNodeBare', 413, { code: -32615, message: expect.stringContaining('5 range') }],
    [
      'alchemy',
      200,
      { error: { code: -32600, message: expect.stringMatching(/ 5 block range.*\[0x1, 0x5\]/) } },
    ],
    [
      'dataOnly',
      200,
      { error: { code: -32602, data: expect.stringContaining('limit of 5 blocks') } },
    ],
    ['wordless', 200, { error: { code: -32005 } }],
  ] as const)('is refused as %s does', async (refusal, status, body) => {
    proxy.behave({ logBlocks: { max: 5, refusal } })
    const response = await send('eth_getLogs', from(6))
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject(body)
    expect(await result('eth_getLogs', from(5))).toEqual([])
  })
})

describe('a limit of requests', () => {
  test('is a bucket that fills up again, and a refused request takes nothing', () => {
    const limit = createRateLimit({ perMinute: 60, refusal: 'retryAfter' })
    for (let asked = 0; asked < 60; asked += 1) expect(limit.take(1, 0)).toBeUndefined()
    expect(limit.take(1, 0)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(limit.take(3, 0)).toMatchObject({ headers: { 'retry-after': '3' } })
    expect(limit.take(1, 999)).toMatchObject({ status: 429 })
    expect(limit.take(1, 1000)).toBeUndefined()
    expect(limit.take(1, 1000)).toMatchObject({ status: 429 })
  })

  test('holds for a second and for a minute at once', () => {
    const limit = createRateLimit({ perSecond: 2, perMinute: 3 })
    expect([0, 0, 0].map((at) => limit.take(1, at)?.status)).toEqual([undefined, undefined, 429])
    expect([1000, 1000].map((at) => limit.take(1, at)?.status)).toEqual([undefined, 429])
  })

  test('is counted, also when the same call is refused again', async () => {
    proxy.behave({ rate: { perMinute: 2 } })
    const statuses = []
    for (const method of [
      'eth_chainId',
      'eth_chainId',
      'eth_chainId',
      'eth_blockNumber',
      'eth_chainId',
    ]) {
      statuses.push((await send(method)).status)
    }
    expect(statuses).toEqual([200, 200, 429, 429, 429])
    expect(proxy.traffic()).toMatchObject({ refused: { rate: 3 }, refusedTwice: 1 })
    expect(proxy.traffic().peakPerSecond).toBeGreaterThan(0)
  })

  test.each([
    ['page', 429, 'text/html', /Too Many Requests/],
    ['quickNode', 429, 'application/json', /-32007/],
    ['quickNodeOk', 200, 'application/json', /-32007/],
    ['credits', 200, 'application/json', /-32012/],
    ['infura', 429, 'application/json', /-32005/],
    ['cloudflare520', 520, 'text/html', /unknown error/],
    ['cloudflare521', 521, 'text/html', /is down/],
    ['cloudflare522', 522, 'text/html', /timed out/],
    ['cloudflare524', 524, 'text/html', /timeout/],
  ] as const)('is refused as %s does, also for the next requests alone', async (refusal, status, type, text) => {
    const isRefused = async () => {
      const response = await send('eth_chainId')
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe(type)
      expect(await response.text()).toMatch(text)
    }
    proxy.behave({ rate: { perMinute: 1, refusal } })
    expect(await result('eth_chainId')).toBe('0xe')
    await isRefused()
    proxy.behave({})
    proxy.failNext(1, RATE_REFUSALS[refusal](1))
    await isRefused()
    expect(await result('eth_chainId')).toBe('0xe')
  })

  test('says when to ask again', async () => {
    proxy.failNext(1, RATE_REFUSALS.retryAfter(7))
    expect((await send('eth_chainId')).headers.get('retry-after')).toBe('7')
  })
})

describe('a node that lacks something', () => {
  test.each([
    ['coreth', -32000, /^missing trie node [0-9a-f]{64} \(path \) state 0x/],
    ['geth', -32000, /^missing trie node [0-9a-f]{64} \(path \)$/],
    ['nethermind', -32002, /^No state available for block 18 \(0x[0-9a-f]{64}\)$/],
  ] as const)('keeps the state of the newest blocks only: %s', async (program, code, words) => {
    proxy.behave({ program, stateBlocks: 32 })
    expect(await result('eth_getBalance', alice, '0x13')).toMatch(/^0x/)
    for (const [method, params] of [
      ['eth_getBalance', [alice, '0x12']],
      ['eth_call', [{ to: bob }, '0x12']],
      ['eth_getCode', [bob, '0x12']],
    ] as const) {
      expect(await ask(method, ...params)).toMatchObject({
        error: { code, message: expect.stringMatching(words) },
      })
    }
    expect(await result('eth_getBlockByNumber', '0x12', false)).toHaveProperty('number', '0x12')
    expect(proxy.traffic().refused.pruned).toBe(3)
  })

  test('has no method of that name', async () => {
    proxy.behave({ missingMethods: ['eth_getBlockReceipts'] })
    expect(await ask('eth_getBlockReceipts', '0x1')).toMatchObject({
      error: {
        code: -32601,
        message: 'the method eth_getBlockReceipts does not exist/is not available',
      },
    })
    expect(await result('eth_chainId')).toBe('0xe')
  })
})

test('a node that lies gives blocks another time or another hash', async () => {
  const head = async () => await result('eth_getBlockByNumber', '0x30', false)
  const honest = await head()
  proxy.behave({ falseBlocks: { shiftSeconds: 600 } })
  expect(await head()).toEqual({
    ...Object(honest),
    timestamp: `0x${(Number(Object(honest).timestamp) + 600).toString(16)}`,
  })
  proxy.behave({ falseBlocks: { hash: true } })
  expect(await head()).toEqual({
    ...Object(honest),
    hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  expect(await head()).not.toHaveProperty('hash', Object(honest).hash)
})

test('rules are combined, hold for each call of a batch, and end with up()', async () => {
  proxy.behave({
    nodes: { behind: [1] },
    logBlocks: { max: 5 },
    missingMethods: ['eth_getBlockReceipts'],
  })
  proxy.rewrite('eth_blockNumber', (tip) => `0x${(Number(tip) - 10).toString(16)}`)
  const batch = [
    ['eth_blockNumber'],
    ['eth_getBlockReceipts', '0x1'],
    ['eth_getBlockByNumber', '0x32', false],
    ['eth_getLogs', { fromBlock: '0x1', toBlock: '0x9' }],
    ['eth_chainId'],
  ].map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(proxy.url, { method: 'POST', body: JSON.stringify(batch) })
  expect(await response.json()).toMatchObject([
    { id: 0, result: '0x27' },
    { id: 1, error: { code: -32601 } },
    { id: 2, error: { message: 'cannot query unfinalized data' } },
    { id: 3, error: { message: expect.stringContaining('too many blocks') } },
    { id: 4, result: '0xe' },
  ])
  await proxy.up()
  expect(Number(await result('eth_blockNumber'))).toBe(TIP)
})

function send(method: string, ...params: readonly unknown[]): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return fetch(proxy.url, { method: 'POST', body })
}

async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
  return (await send(method, ...params)).json()
}

/** The result of a call that is answered. */
async function result(method: string, ...params: readonly unknown[]): Promise<unknown> {
  const answer = await ask(method, ...params)
  expect(answer).toHaveProperty('result')
  return Object(answer).result
}
