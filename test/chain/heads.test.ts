import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startDevnet } from '#sandbox/devnet.ts'
import { createHeads } from '#src/chain/blocks/heads.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createMeters } from '#src/kernel/meters.ts'

/** An endpoint's WebSocket that says whatever a test wants. */
async function startEndpoint(onConnection: (socket: WebSocket) => void = () => undefined) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const connections: { socket: WebSocket; asked: string[]; key: unknown }[] = []
  server.on('connection', (socket, request) => {
    const asked: string[] = []
    connections.push({ socket, asked, key: request.headers['x-api-key'] })
    socket.on('message', (data) => asked.push(String(data)))
    onConnection(socket)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}/key-7f`,
    connections,
    /** Reports a head on the newest connection. */
    report(number: number) {
      connections.at(-1)?.socket.send(headOf(number))
    },
    /** Waits until the client has got all messages of the newest connection. */
    async received() {
      const socket = connections.at(-1)?.socket
      const answered = socket && once(socket, 'pong')
      socket?.ping()
      await answered
    },
    close() {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}

function headOf(number: number): string {
  const result = { number: `0x${number.toString(16)}`, hash: `0x${'11'.repeat(32)}` }
  const params = { subscription: '0x1', result }
  return JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params })
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Heads that are followed, with the number of times they asked for a reading. */
function follow(urls: readonly string[], options: Partial<Parameters<typeof createHeads>[0]> = {}) {
  const state = {
    ...{ woken: 0, warnings: [] as unknown[] },
    lines: [] as { endpoint?: number; reason?: string; message: string }[],
  }
  const warn = (fields: object, message: string) => {
    state.warnings.push(fields)
    state.lines.push({ ...fields, message })
  }
  const log = { ...silentLogger, warn }
  const heads = createHeads({
    sockets: urls.map((url, endpoint) => ({ endpoint, url, headers: { 'x-api-key': 'secret' } })),
    ...{ confirmations: 2, longestMs: 2000 },
    log,
    pausesMs: { min: 1, max: 8 },
    ...options,
  })
  const stop = heads.follow(() => {
    state.woken += 1
  })
  ends.push(stop)
  return { heads, state, stop }
}

async function endpoint(onConnection?: (socket: WebSocket) => void) {
  const started = await startEndpoint(onConnection)
  ends.push(() => started.close())
  return started
}

describe('new heads', () => {
  test('of a real chain start a poll for each block', async () => {
    const devnet = await startDevnet({ contracts: false })
    ends.push(() => devnet.close())
    const meters = createMeters()
    const { heads, state } = follow([devnet.socketUrl], { meters })
    // The subscription is there when a block is reported.
    await expect
      .poll(async () => {
        await devnet.mine()
        return state.woken
      })
      .toBeGreaterThan(0)
    heads.read(Number(await devnet.client.getBlockNumber()) - 1)
    const before = state.woken
    await devnet.mine()
    await expect.poll(() => state.woken).toBeGreaterThan(before)
    const { origin } = new URL(devnet.rpcUrl)
    expect(await meters.registry.metrics()).toContain(
      `watchdog_new_heads_total{endpoint="${origin.slice(7)}",outcome="confirmed"} 1`,
    )
  })

  test('are subscribed to with the configured HTTP headers of the endpoint', async () => {
    const node = await endpoint()
    follow([node.url])
    await expect.poll(() => node.connections[0]?.asked).toHaveLength(1)
    expect(node.connections[0]?.key).toBe('secret')
    expect(JSON.parse(node.connections[0]?.asked[0] ?? '')).toMatchObject({
      method: 'eth_subscribe',
      params: ['newHeads'],
    })
  })

  test('cause another poll if the polled endpoint does not have the block yet', async () => {
    const node = await endpoint()
    const { heads, state } = follow([node.url])
    await expect.poll(() => node.connections.length).toBe(1)
    node.report(100)
    await expect.poll(() => state.woken).toBe(1)
    heads.read(98)
    await expect.poll(() => state.woken).toBe(2)
    heads.read(98)
    await expect.poll(() => state.woken).toBe(3)
    heads.read(99)
    expect(state.warnings).toEqual([])
  })

  test('that polls confirm keep the connection open, however many they are', async () => {
    const node = await endpoint()
    const { heads, state } = follow([node.url])
    await expect.poll(() => node.connections.length).toBe(1)
    for (let number = 1; number <= 50; number += 1) {
      node.report(number)
      await expect.poll(() => state.woken).toBe(number)
      heads.read(Math.max(number - 1, 0))
    }
    expect(node.connections).toHaveLength(1)
    expect(heads.nextMs()).toBe(2000)
  })

  test('of a hundred blocks during one poll keep the connection open, and share the poll', async () => {
    const node = await endpoint((socket) => {
      for (let number = 1; number <= 100; number += 1) socket.send(headOf(number))
    })
    const { heads, state } = follow([node.url])
    await expect.poll(() => state.woken).toBe(1)
    await node.received()
    expect(state.woken).toBe(1)
    heads.read(40)
    await expect.poll(() => state.woken).toBe(2)
    heads.read(100)
    expect(node.connections).toHaveLength(1)
    expect(state.warnings).toEqual([])
  })

  test('of five blocks that no poll finds close the connection', async () => {
    const node = await endpoint()
    const { heads, state } = follow([node.url], { pausesMs: { min: 60_000, max: 60_000 } })
    await expect.poll(() => node.connections.length).toBe(1)
    for (let number = 10; number < 15; number += 1) {
      node.report(number)
      await node.received()
      // A head is looked for four times.
      for (let reading = 0; reading < 4; reading += 1) heads.read(5)
    }
    node.report(15)
    await expect.poll(() => state.warnings).toHaveLength(1)
    expect(state.warnings[0]).toMatchObject({ reason: 'heads that no endpoint has' })
    expect(JSON.stringify(state.warnings)).not.toMatch(/key-7f|secret/)
  })

  test('of blocks that were read already cause no poll', async () => {
    const node = await endpoint()
    const { heads, state } = follow([node.url])
    await expect.poll(() => node.connections.length).toBe(1)
    heads.read(5000)
    // A node that catches up reports each block that it gets.
    for (let number = 4001; number <= 4500; number += 1) {
      node.report(number)
      heads.read(5000)
    }
    node.report(5002)
    await expect.poll(() => state.woken).toBeGreaterThan(0)
    expect(state.woken).toBe(1)
    expect(node.connections).toHaveLength(1)
  })

  test.each([
    ['old heads', headOf(7)],
    ['responses', '{"id":1,"result":"0x1"}'],
  ])('close the connection if there are too many messages: %s', async (_, message) => {
    const node = await endpoint((socket) => {
      for (let count = 0; count < 2000; count += 1) socket.send(message)
    })
    const { heads, state } = follow([node.url], { pausesMs: { min: 60_000, max: 60_000 } })
    heads.read(100)
    await expect
      .poll(() => state.warnings)
      .toEqual([expect.objectContaining({ reason: 'too many messages' })])
    expect(state.woken).toBe(0)
  })

  test.each([
    ['far ahead', headOf(50_000), 'too far ahead'],
    ['not JSON', 'head!', 'malformed'],
    [
      'of another shape',
      '{"method":"eth_subscription","params":{"result":{"number":7}}}',
      'malformed',
    ],
    ['a refusal', '{"id":1,"error":{"code":-32601,"message":"no"}}', 'malformed'],
    ['a number of 400 digits', headOf(10).replace('0xa"', `0x${'f'.repeat(400)}"`), 'malformed'],
    ['larger than a head can be', JSON.stringify({ id: 1, result: 'x'.repeat(100_000) }), 'closed'],
  ])('cause no poll and close the connection if a message is %s', async (_, message, reason) => {
    const node = await endpoint((socket) => socket.send(message))
    const { heads, state } = follow([node.url], { pausesMs: { min: 60_000, max: 60_000 } })
    heads.read(10)
    await expect.poll(() => state.warnings).toEqual([expect.objectContaining({ reason })])
    expect(state.woken).toBe(0)
  })

  test('are subscribed to again if an endpoint is silent or closes, which is logged once', async () => {
    const silent = await endpoint()
    const closing = await endpoint((socket) => socket.close())
    const gone = await endpoint()
    gone.close()
    const { state, stop } = follow([silent.url, closing.url, gone.url], { silentMs: 1 })
    await expect.poll(() => silent.connections.length).toBeGreaterThan(2)
    await expect.poll(() => closing.connections.length).toBeGreaterThan(2)
    await expect.poll(() => state.warnings).toHaveLength(3)
    stop()
    expect(state.woken).toBe(0)
  })

  test('that end are lines apart from those that never began, whose cause is named', async () => {
    const closing = await endpoint((socket) => socket.close())
    const gone = await endpoint()
    gone.close()
    const { state } = follow([closing.url, gone.url], { pausesMs: { min: 60_000, max: 60_000 } })
    await expect.poll(() => state.lines).toHaveLength(2)
    const lines = state.lines.map(({ endpoint: of, reason, message }) => [of, reason, message])
    expect(lines.toSorted()).toEqual([
      [0, 'closed', 'new heads of an endpoint ended'],
      [1, 'ECONNREFUSED', 'endpoint cannot be connected for new heads'],
    ])
  })

  test('of one endpoint are received while another sends garbage', async () => {
    const wrong = await endpoint((socket) => socket.send('nonsense'))
    const right = await endpoint()
    const { state } = follow([wrong.url, right.url])
    await expect.poll(() => right.connections.length).toBe(1)
    right.report(1)
    await expect.poll(() => state.woken).toBe(1)
    await expect.poll(() => wrong.connections.length).toBeGreaterThan(1)
    expect(right.connections).toHaveLength(1)
  })

  test('end when their follower stops', async () => {
    const node = await endpoint()
    const { stop } = follow([node.url])
    await expect.poll(() => node.connections.length).toBe(1)
    const socket = node.connections[0]?.socket
    stop()
    await expect.poll(() => socket?.readyState).toBe(WebSocket.CLOSED)
    expect(node.connections).toHaveLength(1)
  })
})
