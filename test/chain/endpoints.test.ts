import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import { createClient, http, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { headerHash } from '#src/chain/blocks/block-header.ts'
import type { Chain } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { createEndpoints } from '#src/chain/endpoints/endpoints.ts'
import { createRequestBudget, type RequestBudget } from '#src/chain/endpoints/request-budget.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { serviceOnly } from '../support/harness.ts'

const AT = new Date('2026-11-20T15:00:00Z').getTime()

let devnet: Devnet
let primary: RpcProxy
let secondary: RpcProxy
let nowMs: number
let lines: { level: string; message: string; fields: Record<string, unknown> }[]

const clock = { now: () => new Date(nowMs) }
/** Logs into `lines`; each test has its own, because reads of an earlier test may end later. */
let log: Logger
const loggedAt = (level: string) => lines.filter((line) => line.level === level)

function chainOf(...rpcUrls: readonly string[]): Chain {
  return createChain({ rpcUrls, chainId: 14, log, clock, timeoutMs: 1000 })
}

/** A block as the chain's node returns it. */
const blockAt = (number: number): Promise<unknown> =>
  createClient({ transport: http(devnet.rpcUrl) }).request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(number), false],
  })
const tip = async () => Number(await devnet.client.getBlockNumber())

beforeAll(async () => {
  devnet = await startDevnet({ startsAt: new Date(AT) })
  await devnet.mine(10)
})
afterAll(() => devnet.close())
beforeEach(async () => {
  nowMs = AT
  const own: typeof lines = []
  const record = (level: string) => (fields: Record<string, unknown>, message: string) => {
    own.push({ level, message, fields })
  }
  lines = own
  log = {
    error: record('error'),
    warn: record('warn'),
    info: record('info'),
    debug: record('debug'),
  }
  primary = await startRpcProxy(devnet.rpcUrl)
  secondary = await startRpcProxy(devnet.rpcUrl)
})
afterEach(() => Promise.all([primary.close(), secondary.close()]))

const failures: readonly [string, (proxy: RpcProxy) => unknown, string][] = [
  ['refuses connections', (proxy) => proxy.down(), 'connection failed: closed by the host'],
  ['never answers', (proxy) => proxy.hang(), 'timeout'],
  ['answers too late', (proxy) => proxy.delay(60_000), 'timeout'],
  [
    'answers with a page',
    (proxy) => proxy.failNext(99, { status: 200, page: '<html>Just a moment…</html>' }),
    'not JSON',
  ],
  ['answers 502', (proxy) => proxy.failNext(99, { status: 502 }), 'http 502'],
  [
    'answers nonsense',
    (proxy) => proxy.rewrite('eth_getBlockByNumber', () => ({ not: 'a block' })),
    'malformed response',
  ],
  [
    'has no newest block',
    (proxy) => proxy.rewrite('eth_getBlockByNumber', () => null),
    'the newest block is missing',
  ],
]

describe('with a second endpoint', () => {
  test.each(
    failures,
  )('it is asked if the first endpoint %s, and the reason is logged', async (_, fail, reason) => {
    await fail(primary)
    const { number } = await chainOf(primary.url, secondary.url).confirmedBlock(2)
    expect(number).toBe(9)
    expect(loggedAt('warn')).toEqual([
      {
        level: 'warn',
        message: 'rpc endpoint failed',
        fields: { endpoint: 0, origin: primary.url, reason, restSeconds: 30 },
      },
    ])
  })

  test('a failure that stays is logged once a minute', async () => {
    primary.failNext(99, { status: 502 })
    const chain = chainOf(primary.url, secondary.url)
    for (let seconds = 0; seconds <= 150; seconds += 30) {
      nowMs = AT + seconds * 1000
      await chain.confirmedBlock(1)
    }
    const times = lines.filter(({ message }) => message === 'rpc endpoint still fails')
    expect(times.map(({ fields }) => fields['times'])).toEqual([2, 2])
    expect(loggedAt('warn')).toHaveLength(3)
  })

  test('only the first endpoint is asked while that works', async () => {
    const chain = chainOf(primary.url, secondary.url)
    await chain.confirmedBlock(1)
    await chain.confirmedBlock(1)
    expect(primary.count('eth_getBlockByNumber')).toBe(2)
    expect(secondary.counts()).toEqual({})
  })

  test('an endpoint that failed is not asked for thirty seconds', async () => {
    const chain = chainOf(primary.url, secondary.url)
    await primary.down()
    await chain.confirmedBlock(1)
    await primary.up()

    nowMs = AT + 29_999
    await devnet.mine(1)
    await chain.confirmedBlock(1)
    expect(primary.counts()).toEqual({})
    expect(secondary.count('eth_getBlockByNumber')).toBe(2)

    nowMs = AT + 30_000
    await chain.confirmedBlock(1)
    expect(primary.count('eth_getBlockByNumber')).toBe(1)
    expect(secondary.count('eth_getBlockByNumber')).toBe(2)
    expect(loggedAt('info')).toEqual([
      {
        level: 'info',
        message: 'rpc endpoint answers again',
        fields: { endpoint: 0, origin: primary.url },
      },
    ])
  })

  test('one that fails in between answers is logged once a minute, until it has answered for half a minute', async () => {
    const chain = chainOf(primary.url)
    for (; nowMs < AT + 180_000; nowMs += 6000) {
      primary.failNext(1, { status: 403 }, 'eth_getBlockByNumber')
      await expect(chain.confirmedBlock(1)).rejects.toThrow('dependency_unavailable')
      await chain.confirmedBlock(1)
    }
    const failing = lines.map(({ message, fields }) => [message, fields['times']])
    expect(failing).toEqual([
      ['rpc endpoint failed', undefined],
      ['rpc endpoint still fails', 10],
      ['rpc endpoint still fails', 10],
    ])
    nowMs += 30_000
    await chain.confirmedBlock(1)
    expect(lines[3]).toMatchObject({ message: 'rpc endpoint answers again' })
    expect(lines).toHaveLength(4)
  })

  test('an endpoint in this pause is asked if no other endpoint responds', async () => {
    const chain = chainOf(primary.url, secondary.url)
    await primary.down()
    await chain.confirmedBlock(1)
    await primary.up()
    await secondary.down()
    expect((await chain.confirmedBlock(1)).number).toBe(await tip())
  })

  test('a confirmed block is an ancestor of the newest one, also if an endpoint is behind', async () => {
    const behind = await blockAt(8)
    secondary.rewrite('eth_getBlockByNumber', (block, params) =>
      JSON.stringify(params).includes('latest') ? behind : block,
    )
    await primary.down()
    expect((await chainOf(primary.url, secondary.url).confirmedBlock(2)).number).toBe(7)
  })
})

describe('a node that does not have a block yet', () => {
  test.each([
    ['coreth', { code: -32000, message: 'cannot query unfinalized data' }],
    ['geth', { code: -32000, message: 'header not found' }],
  ])('is asked again a moment later, without a rest or a warning (%s)', async (_, error) => {
    const chain = chainOf(primary.url)
    const { number } = await chain.confirmedBlock(1)
    primary.failNext(3, error, 'eth_getBlockByNumber')
    expect((await chain.blockAt(number))?.number).toBe(number)
    expect(lines).toEqual([])
  })

  test('may answer null for it', async () => {
    const chain = chainOf(primary.url)
    const { number } = await chain.confirmedBlock(1)
    let nulls = 2
    primary.rewrite('eth_getBlockByNumber', (block) => (nulls-- > 0 ? null : block))
    expect((await chain.blockAt(number))?.number).toBe(number)
    expect(lines).toEqual([])
  })

  test('is left for another endpoint that has the block', async () => {
    const chain = chainOf(primary.url, secondary.url)
    const { number } = await chain.confirmedBlock(1)
    primary.failNext(99, { code: -32000, message: 'cannot query unfinalized data' })
    expect((await chain.blockAt(number))?.number).toBe(number)
    expect(lines).toEqual([])
  })
})

test('a node that has pruned the state of a block is not at fault: it does not rest, and causes no warning', async () => {
  const chain = chainOf(primary.url)
  const block = await chain.confirmedBlock(1)
  const error = {
    code: -32000,
    message: 'missing trie node 00 (path ) state 0x00 is not available',
  }
  primary.failNext(1, error, 'eth_getBalance')
  primary.failNext(1, error, 'eth_call')
  const { address } = devnet.people.alice.account
  await expect(chain.balances([{ asset: 'FLR', address }], block)).rejects.toThrow(AppError)
  expect(lines).toEqual([])
})

test('a compressed answer is read whole, however small its compressed length is', async () => {
  const gzipping = createServer(async (request, response) => {
    const body = await text(request)
    const answer = await fetch(devnet.rpcUrl, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    // White space is no part of the value, and is long.
    const packed = gzipSync(`${await answer.text()}${' '.repeat(40_000)}`)
    const headers = { 'content-encoding': 'gzip', 'content-length': packed.length }
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(packed)
  }).listen(0, '127.0.0.1')
  await once(gzipping, 'listening')
  const { port } = gzipping.address() as AddressInfo
  expect((await chainOf(`http://127.0.0.1:${port}`).confirmedBlock(1)).number).toBe(await tip())
  expect(lines).toEqual([])
  gzipping.close()
})

describe('an endpoint that limits requests', () => {
  test.each([
    ['a status, whatever its body says', { status: 429 }],
    ['a code', { code: -32007, message: '50/second request limit reached' }],
    ['words', { code: -32005, message: 'daily request count exceeded, request rate limited' }],
  ])('by %s is asked again after each refusal, and does not rest', async (_, fault) => {
    primary.failNext(2, fault)
    expect((await chainOf(primary.url).confirmedBlock(1)).number).toBe(await tip())
    expect(loggedAt('warn')).toEqual([])
    expect(loggedAt('info')).toMatchObject([{ message: 'rpc endpoint limits requests' }])
  })

  const date = new Date(AT).toUTCString()
  const later = AT / 1000 + 5
  test.each<[string, Record<string, string>, number | undefined]>([
    ['in seconds', { 'retry-after': '7' }, 7000],
    ['as a date', { 'retry-after': new Date(AT + 9000).toUTCString(), date }, 9000],
    ['in epoch seconds', { 'retry-after': `${later}`, date }, 5000],
    ['in epoch milliseconds', { 'x-ratelimit-reset': `${later}000`, date }, 5000],
    ['in seconds of another header', { 'x-ratelimit-reset': '11' }, 11_000],
    ['in seconds of the standard', { 'ratelimit-reset': '3' }, 3000],
    ['in words, or in the past', { 'retry-after': 'soon', 'ratelimit-reset': '-1' }, undefined],
  ])('may say %s when it answers again', async (_, headers, expected) => {
    const ends: unknown[] = []
    const budget: RequestBudget = {
      ...createRequestBudget(60_000),
      end: (...ended) => void ends.push(ended),
    }
    const at = { rpcUrls: [primary.url], chainId: 14, log, clock, timeoutMs: 1000 }
    const chain = createChain({ ...at, budgets: [budget] })
    for (const status of [429, 503]) primary.failNext(1, { status, headers }, 'eth_chainId')
    await chain.confirmedBlock(1)
    const unavailable = expected === undefined ? ['answered'] : ['limited', expected]
    expect(ends.slice(0, 3)).toEqual([['limited', expected], unavailable, ['answered']])
  })

  test('is asked about as often as the operator states for its position', async () => {
    const urls = { FLARE_RPC_URLS: `${primary.url},${secondary.url}` }
    const service = await serviceOnly(
      { ...urls, FLARE_RPC_PER_MINUTE: '600,1200' },
      testClock(clock.now()),
      log,
    )
    try {
      for (const proxy of [primary, secondary]) {
        proxy.failNext(1, { status: 429 })
        await service.app.chain.confirmedBlock(1)
        await proxy.down()
      }
      const limits = lines.filter(({ message }) => message === 'rpc endpoint limits requests')
      expect(limits.map(({ fields }) => fields)).toMatchObject([
        { endpoint: 0, perMinute: 600 },
        { endpoint: 1, perMinute: 1200 },
      ])
    } finally {
      await service.close()
    }
  })

  test.each([520, 522, 524, 503])('or is busy with %i is asked again', async (status) => {
    primary.failNext(2, { status })
    expect((await chainOf(primary.url).confirmedBlock(1)).number).toBe(await tip())
    expect(lines).toEqual([])
  })
})

describe('the newest block', () => {
  test('is read once for all callers of a moment', async () => {
    const chain = createChain({
      ...{ rpcUrls: [primary.url], chainId: 14, log, clock, timeoutMs: 1000 },
      sharedHeadMs: () => 60_000,
    })
    const blocks = await Promise.all([1, 2, 1].map((depth) => chain.confirmedBlock(depth)))
    const { number } = await chain.confirmedBlock(1)
    expect(blocks.map((block) => block.number - number)).toEqual([0, -1, 0])
    // The newest block, and the one before it.
    expect(primary.counts()).toEqual({ eth_chainId: 1, eth_getBlockByNumber: 2 })
  })

  test('is read again for the caller that decides how often, and the others share what it read', async () => {
    const chain = createChain({
      ...{ rpcUrls: [primary.url], chainId: 14, log, clock, timeoutMs: 1000 },
      sharedHeadMs: () => 60_000,
    })
    await chain.confirmedBlock(2)
    await devnet.mine(1)
    const { number } = await chain.readNewestBlock(2)
    primary.resetCounts()
    expect((await chain.confirmedBlock(2)).number).toBe(number)
    expect((await chain.confirmedBlock(1)).number).toBe(await tip())
    expect(primary.counts()).toEqual({})
  })
})

test('the newest blocks are asked for before open rounds, and those before the past', async () => {
  await devnet.mine(620)
  const budget = createRequestBudget(60_000)
  const at = { rpcUrls: [primary.url], chainId: 14, log, clock, timeoutMs: 20_000 }
  let waiting = 0
  const begin: RequestBudget['begin'] = (...args) => {
    waiting += 1
    return budget.begin(...args)
  }
  const chain = createChain({ ...at, budgets: [{ ...budget, begin }] })
  const newest = (await chain.confirmedBlock(1)).number
  const asked: number[] = []
  primary.rewrite('eth_getBlockByNumber', (block, params) => {
    asked.push(Number(Object(params)[0]))
    return block
  })
  // No request may be sent until one of these ends; each other one is sent when the one before it ends.
  const { signal } = new AbortController()
  for (let begun = 0; begun < 24; begun += 1) await budget.begin(signal, 0)
  const wanted = [newest - 610, newest - 20, newest - 1]
  waiting = 0
  const blocks = wanted.map((number) => chain.blockAt(number))
  await expect.poll(() => waiting).toBe(wanted.length)
  budget.end('answered')
  await Promise.all(blocks)
  expect(asked).toEqual(wanted.toReversed())
})

describe('the newest block of a service', () => {
  test('is read once for its readers while it follows the chain', async () => {
    const over = { FLARE_RPC_URLS: primary.url, EVALUATION_INTERVAL_MS: '60000' }
    const service = await serviceOnly(over, testClock(clock.now()))
    try {
      const { app } = service
      for (const readings of [2, 0]) {
        primary.resetCounts()
        for (let nth = 0; nth < 2; nth += 1) await app.chain.confirmedBlock(1)
        expect(primary.count('eth_getBlockByNumber')).toBe(readings)
        app.heads.follow(() => undefined)
      }
    } finally {
      await service.close()
    }
  })
})

describe('while no endpoint responds, the chain', () => {
  test('is unavailable, with a Retry-After', async () => {
    const chain = chainOf(primary.url, secondary.url)
    await primary.down()
    secondary.hang()
    const error = await chain.confirmedBlock(1).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({
      kind: 'upstream',
      code: 'dependency_unavailable',
      details: { retryAfterSeconds: 10 },
      cause: { message: 'endpoint 0: connection failed: closed by the host; endpoint 1: timeout' },
    })
  })

  test('is logged once per endpoint, not once per request', async () => {
    const chain = chainOf(primary.url)
    await primary.down()
    for (let asked = 0; asked < 5; asked += 1) {
      await expect(chain.confirmedBlock(1)).rejects.toThrow('dependency_unavailable')
    }
    expect(loggedAt('warn')).toHaveLength(1)
  })

  test('is available again as soon as an endpoint responds', async () => {
    const chain = chainOf(primary.url)
    await primary.down()
    await expect(chain.confirmedBlock(1)).rejects.toThrow('dependency_unavailable')
    await primary.up()
    expect((await chain.confirmedBlock(1)).number).toBe(await tip())
  })

  test('gives up within the timeout if a response never ends', async () => {
    const slow = await startDripping()
    await expect(chainOf(slow.url).confirmedBlock(1)).rejects.toMatchObject({
      cause: { message: 'endpoint 0: timeout' },
    })
    await slow.close()
  })
})

describe('an endpoint of another chain', () => {
  const unavailable = { code: 'dependency_unavailable' }
  const WARNED = 'rpc endpoint names another chain, and is not read while it does'

  test('is never read, and logged as a doubt at first and as an error after half a minute', async () => {
    primary.rewrite('eth_chainId', () => '0x1')
    const chain = chainOf(primary.url, secondary.url)
    for (; nowMs < AT + 60_000; nowMs += 1000) await chain.confirmedBlock(1)
    expect(primary.counts()).toEqual({ eth_chainId: 7 })
    const fields = { endpoint: 0, origin: primary.url, chainId: '1', expectedChainId: 14 }
    expect(lines).toEqual([
      { level: 'warn', message: WARNED, fields },
      {
        level: 'error',
        message: 'rpc endpoint serves another chain',
        fields: { ...fields, askedAgainAfterSeconds: 60 },
      },
    ])
  })

  test('is detected within the hour, also when the chain of an endpoint changes', async () => {
    const chain = chainOf(primary.url, secondary.url)
    for (; nowMs < AT + 7_200_000; nowMs += 1_200_000) await chain.confirmedBlock(1)
    primary.rewrite('eth_chainId', () => '0x1')
    nowMs += 3_600_000
    await chain.confirmedBlock(1)
    expect(loggedAt('warn')).toMatchObject([{ message: WARNED, fields: { endpoint: 0 } }])
    primary.resetCounts()
    await devnet.mine(1)
    await chain.confirmedBlock(1)
    expect(primary.counts()).toEqual({})
    await primary.up()
    nowMs += 1000
    await chain.confirmedBlock(1)
    expect(primary.count('eth_getBlockByNumber')).toBeGreaterThan(0)
  })

  test.each([
    1, 2,
  ])('is read with its first right answer after %i wrong ones, when it is the only one', async (wrong) => {
    let left = wrong
    primary.rewrite('eth_chainId', (id) => (left-- > 0 ? '0x1' : id))
    const chain = chainOf(primary.url)
    for (let nth = 0; nth < wrong; nth += 1) {
      for (let caller = 0; caller < 3; caller += 1)
        await expect(chain.confirmedBlock(1)).rejects.toMatchObject(unavailable)
      nowMs += 1000
    }
    expect(primary.counts()).toEqual({ eth_chainId: wrong })
    expect((await chain.confirmedBlock(1)).number).toBe(await tip())
    expect(lines.map(({ message }) => message)).toEqual([
      WARNED,
      'rpc endpoint serves the right chain',
    ])
  })

  test('is read again after right answers over half a minute, once it was put away', async () => {
    primary.rewrite('eth_chainId', () => '0x1')
    const chain = chainOf(primary.url)
    const isRead = () =>
      chain.confirmedBlock(1).then(
        () => true,
        () => false,
      )
    for (; nowMs < AT + 60_000; nowMs += 1000) expect(await isRead()).toBe(false)
    await primary.up()
    const fromMs = nowMs
    while (!(await isRead())) nowMs += 1000
    expect(nowMs - fromMs).toBeGreaterThanOrEqual(30_000)
    expect(nowMs - fromMs).toBeLessThanOrEqual(60_000 + 40_000)
    expect(loggedAt('info')).toMatchObject([{ message: 'rpc endpoint serves the right chain' }])
  })

  test('may know more than the others while it is in doubt, and nothing when it is put away', async () => {
    primary.rewrite('eth_chainId', () => '0x1')
    const rpcUrls = [primary.url, secondary.url]
    const endpoints = createEndpoints({ rpcUrls, chainId: 14, log, clock, timeoutMs: 1000 })
    const readPoorly = () =>
      endpoints.askForMost(
        (client) => client.request({ method: 'eth_chainId' }),
        () => false,
        undefined,
      )
    for (; nowMs < AT + 32_000; nowMs += 500)
      expect(await readPoorly()).toEqual({ answer: '0xe', isSure: false })
    expect(await readPoorly()).toEqual({ answer: '0xe', isSure: true })
  })

  test.each([
    ['is slow', (proxy: RpcProxy) => proxy.delay(700)],
    [
      'is refused before it answers',
      (proxy: RpcProxy) => proxy.failNext(2, { status: 503 }, 'eth_chainId'),
    ],
  ])('may be the right one and %s', async (_what, hinder) => {
    hinder(primary)
    const chain = chainOf(primary.url)
    const address = devnet.people.bob.account.address
    expect(await Promise.all([chain.isContract(address), chain.isContract(address)])).toEqual([
      false,
      false,
    ])
    expect(lines).toEqual([])
  })

  test('gives no answer to a read that began before it named another chain', async () => {
    const chain = chainOf(primary.url)
    await chain.confirmedBlock(1)
    const release = primary.hold()
    const read = chain.readNewestBlock(1, undefined)
    await expect.poll(() => primary.count('eth_getBlockByNumber')).toBe(2)
    primary.rewrite('eth_chainId', () => '0x1')
    nowMs += 10_000
    await expect(chain.isContract(devnet.people.bob.account.address)).rejects.toMatchObject(
      unavailable,
    )
    release()
    await expect(read).rejects.toMatchObject(unavailable)
  })

  test.each([
    ['does not answer', (proxy: RpcProxy) => proxy.hang()],
    ['refuses', (proxy: RpcProxy) => proxy.failNext(99, { status: 403 })],
    ['names no number', (proxy: RpcProxy) => proxy.rewrite('eth_chainId', () => 'flare')],
    ['names nothing', (proxy: RpcProxy) => proxy.rewrite('eth_chainId', () => null)],
    ['is down', (proxy: RpcProxy) => proxy.down()],
  ])('is not what one is that %s when it is asked for its chain', async (_what, fail) => {
    await fail(primary)
    const chain = chainOf(primary.url)
    await expect(chain.confirmedBlock(1)).rejects.toMatchObject(unavailable)
    await primary.up()
    expect((await chain.confirmedBlock(1)).number).toBe(await tip())
    expect(lines.map(({ message }) => message)).toEqual(['rpc endpoint failed'])
  })

  test('is asked once, however many callers wait, and one that aborts does not end the question', async () => {
    const chain = chainOf(primary.url)
    primary.delay(200)
    const controller = new AbortController()
    const reason = new Error('no longer needed')
    const address = devnet.people.bob.account.address
    const aborted = chain.isContract(address, controller.signal)
    const others = Array.from({ length: 10 }, () => chain.isContract(address))
    controller.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    expect(await Promise.all(others)).toEqual(Array(10).fill(false))
    expect(primary.count('eth_chainId')).toBe(1)
  })
})

describe('a caller that aborts', () => {
  test('gets the reason of its abort, and the endpoint does not count as failed', async () => {
    primary.hang()
    const controller = new AbortController()
    const reason = new Error('no longer needed')
    const asked = chainOf(primary.url, secondary.url).confirmedBlock(1, controller.signal)
    controller.abort(reason)
    await expect(asked).rejects.toBe(reason)
    expect(lines).toEqual([])
    expect(secondary.counts()).toEqual({})
  })

  test('causes no request if it aborted before', async () => {
    const reason = new Error('no longer needed')
    const asked = chainOf(primary.url).confirmedBlock(1, AbortSignal.abort(reason))
    await expect(asked).rejects.toBe(reason)
    expect(primary.counts()).toEqual({})
  })
})

test("the keys in an endpoint's address appear in no error and no log line", async () => {
  const url = primary.url.replace('http://', 'http://user:password-1@')
  primary.failNext(99, { code: -32000, message: 'no such project: key-0123456789' })
  const chain = chainOf(`${url}/v1/key-0123456789?token=token-9876543210`)
  const error = await chain.confirmedBlock(1).catch((e: unknown) => e)
  const everything = JSON.stringify(lines) + inspect(error, { depth: 20, showHidden: true })
  expect(everything).toContain('no such project')
  expect(everything).not.toMatch(/password-1|key-0123456789|token-9876543210/)
})

/** An endpoint that sends the headers of an answer, and then a space from time to time. */
async function startDripping(): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('the newest block of two endpoints', () => {
  test('comes from the endpoint that is ahead', async () => {
    const chain = chainOf(primary.url, secondary.url)
    const { number } = await chain.confirmedBlock(1)
    const behind = await blockAt(number - 3)
    primary.rewrite('eth_getBlockByNumber', () => behind)
    expect((await chain.confirmedBlock(1)).number).toBe(number)
    expect(secondary.count('eth_getBlockByNumber')).toBe(1)
  })

  test('comes from another endpoint if one does not advance', async () => {
    const chain = chainOf(primary.url, secondary.url)
    const { number } = await chain.confirmedBlock(1)
    const unchanged = await blockAt(number)
    primary.rewrite('eth_getBlockByNumber', () => unchanged)
    await devnet.mine(4)
    expect((await chain.confirmedBlock(1)).number).toBe(number)
    nowMs = AT + 10_000
    expect((await chain.confirmedBlock(1)).number).toBe(number + 4)
  })

  test('is not a block that only one endpoint claims to have', async () => {
    const chain = chainOf(primary.url, secondary.url)
    const { number } = await chain.confirmedBlock(1)
    primary.rewrite('eth_getBlockByNumber', (block) => ({ ...Object(block), number: '0xffffff' }))
    await devnet.mine(1)
    expect((await chain.confirmedBlock(1)).number).toBe(number + 1)
    expect(loggedAt('warn')).toMatchObject([{ fields: { endpoint: 0 } }])
  })
})

describe('the newest block, while an endpoint gives its blocks a hash of their own', () => {
  const lies: readonly (readonly [string, (block: object) => object])[] = [
    ['is before its parent', (block) => ({ ...block, timestamp: '0x1' })],
    ['has another parent', (block) => ({ ...block, parentHash: `0x${'ab'.repeat(32)}` })],
  ]

  test.each(lies)('is that of another endpoint if it %s', async (_, change) => {
    const chain = chainOf(primary.url, secondary.url)
    const { number } = await chain.confirmedBlock(1)
    primary.rewrite('eth_getBlockByNumber', (block) => {
      if (block === null || Number(Object(block).number) <= number) return block
      const changed = change(Object(block))
      return { ...changed, hash: headerHash({ ...changed }) }
    })
    await devnet.mine(1)
    const { hash } = await devnet.client.getBlock({ blockNumber: BigInt(number + 1) })
    expect(await chain.confirmedBlock(1)).toMatchObject({ number: number + 1, hash })
    expect(loggedAt('warn')).toMatchObject([{ fields: { endpoint: 0 } }])
  })

  test('is not one far ahead, and a block that was replaced meanwhile is believed', async () => {
    const chain = chainOf(primary.url, secondary.url)
    let known: unknown
    primary.rewrite('eth_getBlockByNumber', (block) => {
      known = block
      return block
    })
    const { number } = await chain.confirmedBlock(1)
    primary.rewrite('eth_getBlockByNumber', (block, params) => {
      const far = { ...Object(known), number: '0xffffff' }
      const isNewest = JSON.stringify(params).includes('latest')
      return isNewest ? { ...far, hash: headerHash(far) } : block
    })
    await devnet.mine(1)
    expect((await chain.confirmedBlock(1)).number).toBe(number + 1)
    await primary.up()
    await devnet.reorg(1)
    await devnet.mine(1)
    expect((await chain.confirmedBlock(1)).number).toBe(number + 2)
  })
})

describe('the chain for requests of anonymous callers', () => {
  test('refuses requests above its limit at once, and leaves the watcher’s chain alone', async () => {
    const rpcUrls = [primary.url, secondary.url]
    const limits = { runningMax: 1, waitingMax: 1 }
    const requests = createChain({ rpcUrls, chainId: 14, log, clock, timeoutMs: 1000, limits })
    const watcher = chainOf(...rpcUrls)
    await primary.down()
    const asked = [requests.blockAt(1), requests.blockAt(1)]
    await expect(requests.blockAt(1)).rejects.toMatchObject({
      kind: 'upstream',
      details: { retryAfterSeconds: expect.any(Number) },
    })
    await Promise.all(asked)
    expect(loggedAt('warn')).toMatchObject([{ fields: { endpoint: 0 } }])
    await primary.up()
    await secondary.down()
    // Only the first endpoint is left; for the watcher it never failed, so it does not rest.
    expect((await watcher.confirmedBlock(1)).number).toBe(await tip())
    expect(loggedAt('warn')).toHaveLength(1)
  })
})

describe('settings of one endpoint', () => {
  test('headers are sent to their endpoint only, and never logged, even if the endpoint returns them', async () => {
    const keys: (string | undefined)[] = []
    const keyed = createServer((request, response) => {
      keys.push(String(request.headers['x-api-key']))
      const error = { code: -32000, message: `bad key ${request.headers['x-api-key']}` }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
    }).listen(0, '127.0.0.1')
    await once(keyed, 'listening')
    const other: (string | undefined)[] = []
    const plain = createServer((request, response) => {
      other.push(request.headers['x-api-key']?.toString())
      response.writeHead(500).end()
    }).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const chain = createChain({
      rpcUrls: [urlOf(keyed), urlOf(plain), primary.url],
      rpcHeaders: [{ 'x-api-key': 'geheim-4711' }],
      ...{ chainId: 14, log, clock, timeoutMs: 1000 },
    })
    expect((await chain.confirmedBlock(2)).number).toBeGreaterThan(0)
    expect(new Set(keys)).toEqual(new Set(['geheim-4711']))
    expect(other).not.toHaveLength(0)
    expect(other.every((key) => key === undefined)).toBe(true)
    expect(loggedAt('warn')).not.toHaveLength(0)
    expect(inspect(lines, { depth: 9 })).not.toContain('geheim')
    keyed.close()
    plain.close()
  })

  test('a slow endpoint may have a longer timeout than the others', async () => {
    primary.delay(600)
    const at = { chainId: 14, log, clock, timeoutMs: 100 }
    const usual = createChain({ rpcUrls: [primary.url], ...at })
    await expect(usual.confirmedBlock(2)).rejects.toThrow('dependency_unavailable')
    const patient = createChain({ rpcUrls: [primary.url], rpcTimeoutsMs: [20_000], ...at })
    expect((await patient.confirmedBlock(2)).number).toBeGreaterThan(0)
  })
})
