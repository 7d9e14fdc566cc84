import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { keccak256, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { createReceiptReader } from '#src/chain/blocks/receipts.ts'
import { createRecentBlocks } from '#src/chain/blocks/recent-blocks.ts'
import { createEndpoints } from '#src/chain/endpoints/endpoints.ts'
import { createLogReader } from '#src/chain/events/logs.ts'
import { BLOCKS_PER_STEP, readSpan, type Span } from '#src/chain/events/spans.ts'
import { PAID_TOPIC } from '#src/chain/payments/payments.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { silentLogger } from '#src/kernel/logger.ts'

/** Blocks and their events, read completely or not at all. */

let devnet: DevnetWithContracts
let primary: RpcProxy
let secondary: RpcProxy
let paidIn: number[]
let tip: number

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  const { contracts, people } = devnet
  const alice = people.alice.account.address
  paidIn = []
  // More blocks than are read from one endpoint at a time.
  for (const [name, quiet] of [
    ['one', 5],
    ['two', BLOCKS_PER_STEP - 10],
    ['three', 5],
  ] as const) {
    const paid = await contracts.pay(alice, keccak256(toHex(name)), contracts.fxrp, 1n)
    paidIn.push(Number(paid.blockNumber))
    await devnet.mine(quiet)
  }
  tip = Number(await devnet.client.getBlockNumber())
  expect(tip).toBeGreaterThan(BLOCKS_PER_STEP)
})
afterAll(() => devnet.close())
beforeEach(async () => {
  primary = await startRpcProxy(devnet.rpcUrl)
  secondary = await startRpcProxy(devnet.rpcUrl)
})
afterEach(() => Promise.all([primary.close(), secondary.close()]))

function leaveOutATransaction(proxy: RpcProxy): void {
  proxy.rewrite('eth_getBlockByNumber', (block) => {
    const { transactions, ...rest } = Object(block)
    return { ...rest, transactions: transactions.length > 1 ? transactions.slice(1) : transactions }
  })
}

/** A proxy that refuses every nth request with 429. */
async function startRefusing(target: string, nth: number) {
  let asked = 0
  let refused = 0
  const server = createServer(async (incoming, response) => {
    asked += 1
    const body = await text(incoming)
    if (asked % nth === 0) {
      refused += 1
      response.writeHead(429).end('{}')
      return
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body })
    response.writeHead(answer.status, headers).end(await answer.text())
  })
  const port = await listenOnLoopback(server, 0)
  return {
    url: `http://127.0.0.1:${port}`,
    refused: () => refused,
    close: () => closeServer(server),
  }
}

async function read(proxies: readonly { readonly url: string }[], from = 0, to = tip) {
  const endpoints = createEndpoints({
    rpcUrls: proxies.map(({ url }) => url),
    chainId: 14,
    log: silentLogger,
    clock: systemClock,
    timeoutMs: 2000,
  })
  const filter = { address: devnet.contracts.router, topics: [PAID_TOPIC] }
  const source = {
    endpoints,
    logs: createLogReader(),
    recent: createRecentBlocks(),
    receipts: createReceiptReader(endpoints),
  }
  const spans: Span[] = []
  let next = from
  let after: `0x${string}` | undefined
  while (next <= to) {
    const range = { from: next, to, after, withTransactions: true }
    const span = await readSpan(source, filter, range)
    spans.push(span)
    after = span.blocks.at(-1)?.ref.hash
    next = span.upTo + 1
  }
  const blocks = spans.flatMap((span) => span.blocks)
  return {
    numbers: blocks.map(({ ref }) => ref.number),
    unsure: blocks.flatMap(({ ref, isSure }) => (isSure ? [] : [ref.number])),
    transactions: blocks.reduce((sum, { transactions }) => sum + transactions.length, 0),
    paid: spans.flatMap(({ logs }) => logs.map(({ blockNumber }) => Number(blockNumber))),
    data: spans.flatMap(({ logs }) => logs.map((log) => log.data)),
  }
}

const every = () => Array.from({ length: tip + 1 }, (_, number) => number)

function withoutReceipts(...proxies: readonly RpcProxy[]): void {
  for (const proxy of proxies) {
    for (const method of ['eth_getBlockReceipts', 'eth_getTransactionReceipt']) {
      proxy.rewrite(method, () => null)
    }
  }
}

describe('a span of blocks', () => {
  test('has every block once, in order, with its transactions and events', async () => {
    const { numbers, paid, transactions } = await read([primary])
    expect(numbers).toEqual(every())
    expect(paid).toEqual(paidIn)
    expect(transactions).toBeGreaterThan(6)
  })

  test('has the events that an endpoint left out, from another endpoint', async () => {
    primary.emptyLogs()
    expect((await read([primary, secondary])).paid).toEqual(paidIn)
  })

  test('has the events that the only endpoint left out, from receipts', async () => {
    primary.emptyLogs()
    const { paid, unsure } = await read([primary])
    expect([paid, unsure]).toEqual([paidIn, []])
  })

  test('has the transactions that an endpoint left out, from another endpoint', async () => {
    const { transactions } = await read([secondary])
    leaveOutATransaction(primary)
    secondary.resetCounts()
    expect((await read([primary, secondary])).transactions).toBe(transactions)
  })

  test('is requested from one endpoint only, while nothing is missing', async () => {
    await read([primary, secondary])
    expect(primary.count('eth_getBlockByNumber')).toBe(tip + 1)
    expect(secondary.count('eth_getBlockByNumber')).toBe(0)
  })

  test('marks a block as unsure if no endpoint has all its transactions', async () => {
    leaveOutATransaction(primary)
    leaveOutATransaction(secondary)
    const { unsure } = await read([primary, secondary])
    expect(unsure.length).toBeGreaterThan(0)
    expect(unsure.length).toBeLessThan(tip)
  })

  const otherData = (logs: unknown) =>
    Array.from(Object(logs), (log) => ({ ...Object(log), data: `0x${'00'.repeat(32)}` }))

  test('has the events that receipts prove if endpoints return different events', async () => {
    primary.rewrite('eth_getLogs', otherData)
    const { unsure, paid, data } = await read([primary, secondary])
    expect(unsure).toEqual([])
    expect(paid).toEqual(paidIn)
    expect(data).toEqual((await read([secondary])).data)
  })

  test('marks a block as unsure if endpoints return different events and no receipts', async () => {
    secondary.rewrite('eth_getLogs', otherData)
    withoutReceipts(primary, secondary)
    expect((await read([primary, secondary])).unsure).toEqual(paidIn)
  })

  test('marks a block as unsure if its header announces events that nobody returns or disproves', async () => {
    withoutReceipts(primary, secondary)
    for (const proxy of [primary, secondary]) proxy.emptyLogs()
    const { unsure } = await read([primary, secondary])
    expect(unsure).toEqual(expect.arrayContaining([...paidIn]))
    expect(unsure.length).toBeLessThan(tip)
  })

  test('has the events that an endpoint left out, from the receipts of single transactions', async () => {
    primary.emptyLogs()
    primary.rewrite('eth_getBlockReceipts', () => null)
    const { paid, unsure } = await read([primary])
    expect([paid, unsure]).toEqual([paidIn, []])
    expect(primary.count('eth_getTransactionReceipt')).toBeGreaterThanOrEqual(paidIn.length)
  })

  test('marks a block as unsure if its receipts do not match its header', async () => {
    primary.rewrite('eth_getLogs', () => [])
    primary.rewrite('eth_getBlockReceipts', (receipts) => Array.from(Object(receipts)).slice(1))
    const { unsure } = await read([primary])
    expect(unsure).toEqual(expect.arrayContaining([...paidIn]))
  })

  test('has all events of a block of which an endpoint returned a part', async () => {
    primary.rewrite('eth_getLogs', (logs) => Array.from(Object(logs)).slice(1))
    expect((await read([primary, secondary])).paid).toEqual(paidIn)
  })

  test.each([
    5, 10,
  ])('is read while every %sth request is refused by both endpoints', async (nth) => {
    const [first, second] = await Promise.all([
      startRefusing(primary.url, nth),
      startRefusing(secondary.url, nth),
    ])
    const { numbers, paid } = await read([first, second])
    expect(numbers).toEqual(every())
    expect(paid).toEqual(paidIn)
    expect(first.refused()).toBeGreaterThan(0)
    await Promise.all([first.close(), second.close()])
  })

  test('is read although all endpoints but one return garbage', async () => {
    for (const method of ['eth_blockNumber', 'eth_getLogs', 'eth_getBlockByNumber']) {
      primary.rewrite(method, () => null)
    }
    expect((await read([primary, secondary])).paid).toEqual(paidIn)
  })

  test.each<[string, (proxy: RpcProxy) => unknown]>([
    [
      'is behind',
      (proxy) =>
        proxy.rewrite('eth_getBlockByNumber', (block) =>
          Number(Object(block).number) > 3 ? null : block,
        ),
    ],
    ['misses a block', (proxy) => proxy.rewrite('eth_getBlockByNumber', () => null)],
    [
      'is on another fork',
      (proxy) =>
        proxy.rewrite('eth_getBlockByNumber', (block) => ({
          ...Object(block),
          parentHash: `0x${'ab'.repeat(32)}`,
        })),
    ],
    [
      'has other blocks than events',
      (proxy) =>
        proxy.rewrite('eth_getLogs', (logs) =>
          Array.from(Object(logs), (log) => ({
            ...Object(log),
            blockHash: `0x${'cd'.repeat(32)}`,
          })),
        ),
    ],
  ])('is not read from an endpoint that %s', async (_name, fail) => {
    await fail(primary)
    const { numbers, paid } = await read([primary, secondary])
    expect(numbers).toEqual(every())
    expect(paid).toEqual(paidIn)
    await fail(secondary)
    await expect(read([primary, secondary])).rejects.toMatchObject({
      code: 'dependency_unavailable',
    })
  })
})
