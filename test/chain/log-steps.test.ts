import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createClient, type Hex, http, keccak256, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import type { PaymentDestinations } from '#src/chain/chain.ts'
import { createChain } from '#src/chain/client.ts'
import { createLogReader } from '#src/chain/events/logs.ts'
import { silentLogger } from '#src/kernel/logger.ts'

const alice = PEOPLE.alice.account.address
const HANDLES = ['1', '2', '3', '4'].map((text) => keccak256(toHex(text)))
const tooMany = (from: number, to: number, max: number) =>
  `requested too many blocks from ${from} to ${to}, maximum is set to ${max}`

let devnet: DevnetWithContracts
let places: PaymentDestinations
let tip: number

const chainAt = (...rpcUrls: readonly string[]) =>
  createChain({ rpcUrls, chainId: 14, log: silentLogger })

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true })
  const { contracts } = devnet
  for (const [index, handle] of HANDLES.entries()) {
    await contracts.pay(alice, handle, contracts.fxrp, BigInt(index + 1))
    await devnet.mine(25)
  }
  tip = Number(await devnet.client.getBlockNumber())
  places = { router: contracts.router, payTo: undefined }
})
afterAll(() => devnet.close())

describe('events of many blocks', () => {
  test.each([
    ['the public endpoints of Flare', 30, tooMany],
    ['an endpoint that says it otherwise', 80, () => 'block range is too wide'],
    ['an endpoint without a limit', 1_000_000, tooMany],
    ['an endpoint that allows 3 blocks and does not say so', 3, () => 'block range is too wide'],
  ])('are all found at %s', async (_, max, message) => {
    const limited = await startLimited(max, message)
    const chain = chainAt(limited.url)
    const payments = await chain.paymentsBetween(0, tip, places)
    expect(payments.map(({ handle }) => handle)).toEqual(HANDLES)
    await limited.close()
  })

  test('are requested in the largest steps allowed, which are remembered', async () => {
    const limited = await startLimited(30, tooMany)
    const chain = chainAt(limited.url)
    await chain.paymentsBetween(0, tip, places)
    expect(limited.refused()).toBe(1)
    expect(new Set(limited.ranges().slice(0, -1))).toEqual(new Set([30]))
    expect(limited.ranges().reduce((sum, blocks) => sum + blocks, 0)).toBe(tip + 1)
    await chain.paymentsBetween(0, tip, places)
    expect(limited.refused()).toBe(1)
    await limited.close()
  })

  test('are read in the same steps when coin transfers are read too', async () => {
    const limited = await startLimited(30, tooMany)
    const bothWays = { ...places, payTo: devnet.contracts.payTo }
    const paid = await devnet.contracts.sendNative(alice, bothWays.payTo, 1n, HANDLES[0])
    const last = Number(paid.blockNumber)
    const payments = await chainAt(limited.url).paymentsBetween(tip - 40, last, bothWays)
    expect(payments.map(({ way }) => way)).toEqual(['router', 'native'])
    expect(Math.max(...limited.ranges())).toBe(30)
    await limited.close()
  })

  test('are requested in the steps that the endpoint states, however small', async () => {
    const notified = await startLimited(7, tooMany)
    const payments = await chainAt(notified.url).paymentsBetween(0, tip, places)
    expect(payments.map(({ handle }) => handle)).toEqual(HANDLES)
    expect(Math.max(...notified.ranges())).toBe(7)
    await notified.close()
  })

  test('are requested in larger steps again once an endpoint allows them', async () => {
    const limited = await startLimited(40, () => 'block range is too wide')
    // The reader alone: a search for payments reads every header, too.
    const reader = createLogReader()
    const client = createClient({ transport: http(limited.url) })
    const filter = { address: devnet.contracts.router, topics: [] }
    const scan = async () => {
      for (let from = 0; from <= tip; ) {
        const { upTo } = await reader.read(client, filter, from, tip)
        from = upTo + 1
      }
    }
    await scan()
    expect(Math.max(...limited.ranges())).toBeLessThanOrEqual(40)
    limited.allow(1000)
    for (let time = 0; time < 24; time++) await scan()
    expect(Math.max(...limited.ranges())).toBeGreaterThan(40)
    await limited.close()
  })

  test('are not requested block by block for long after one wrong maximum', async () => {
    const limited = await startLimited(1, tooMany)
    const reader = createLogReader()
    const client = createClient({ transport: http(limited.url) })
    const filter = { address: devnet.contracts.router, topics: [] }
    await reader.read(client, filter, 0, tip)
    limited.allow(1000)
    for (let reads = 0; reads < 500; reads++) await reader.read(client, filter, 0, tip)
    expect(Math.max(...limited.ranges())).toBeGreaterThan(30)
    await limited.close()
  })

  test('are not requested in smaller steps after a failure of another kind', async () => {
    const limited = await startLimited(0, () => 'no such method')
    await expect(chainAt(limited.url).paymentsBetween(0, tip, places)).rejects.toThrow()
    // Once with each block from any endpoint, and once with all from one.
    expect(limited.refused()).toBe(2)
    await limited.close()
  })
})

/** The chain behind an endpoint that answers about few blocks at once, as coreth does. */
async function startLimited(
  allowed: number,
  message: (from: number, to: number, max: number) => string,
) {
  const ranges: number[] = []
  let max = allowed
  let refused = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { id, method, params }: { id: number; method: string; params: unknown[] } =
      JSON.parse(body)
    if (method === 'eth_getLogs') {
      const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex }
      const [from, to] = [Number(fromBlock), Number(toBlock)]
      if (to - from + 1 > max) {
        refused += 1
        const error = { code: -32000, message: message(from, to, max) }
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      }
      ranges.push(to - from + 1)
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(devnet.rpcUrl, { method: 'POST', headers, body })
    return response.end(await answer.text())
  })
  const port = await listenOnLoopback(server, 0)
  return {
    url: `http://127.0.0.1:${port}`,
    ranges: () => ranges,
    refused: () => refused,
    allow: (blocks: number) => {
      max = blocks
    },
    close: () => closeServer(server),
  }
}
