import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FREE_TIER_DAILY_CALLS } from '#src/billing/price-list.ts'
import { createMeter } from '#src/http/meter.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { serviceOnly } from '../support/harness.ts'

const warnings: string[] = []
const log: Logger = { ...silentLogger, warn: (_fields, text) => void warnings.push(text) }

beforeEach(() => warnings.splice(0))

type Behind = Awaited<ReturnType<typeof behind>>

/** A service that listens behind proxies, and its requests through them. */
async function behind(trustProxy: string) {
  const service = await serviceOnly({ TRUST_PROXY: trustProxy }, undefined, log)
  const { meter } = createMeter(service.server, service.app)
  service.server.get('/metered', { preHandler: meter('providers-rewards') }, async () => 'paid')
  const origin = await service.server.listen({ host: '127.0.0.1', port: 0 })
  /** Number of requests that the client of this header may still send. */
  const leftOf = async (forwarded: string) => {
    const { headers } = await fetch(`${origin}/api/x402/stats`, {
      headers: { 'x-forwarded-for': forwarded },
    })
    return Number(/;r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1])
  }
  const leftOfEach = async (list: readonly string[]) => {
    const left: number[] = []
    for (const forwarded of list) left.push(await leftOf(forwarded))
    return left
  }
  const statusOfCall = async (forwarded: string) => {
    const headers = { 'x-forwarded-for': forwarded }
    return (await fetch(`${origin}/metered`, { headers })).status
  }
  return { leftOfEach, statusOfCall, close: service.close }
}

describe('behind one proxy', () => {
  let proxy: Behind
  beforeAll(async () => {
    proxy = await behind('1')
  })
  afterAll(() => proxy.close())

  test('connections of a client share its limit, also if the proxy adds their ports', async () => {
    const ofIPv4 = ['203.0.113.9', '203.0.113.9:1001', '203.0.113.9:1002', '::ffff:203.0.113.9']
    expect(await proxy.leftOfEach(ofIPv4)).toEqual([119, 118, 117, 116])
    const ofIPv6 = ['2001:db8::1', '[2001:db8::1]:443', '[2001:db8::1]:444', '[2001:db8::2]']
    expect(await proxy.leftOfEach(ofIPv6)).toEqual([119, 118, 117, 116])
    expect(warnings).toEqual([])
  })

  test('free calls are those of an address, from however many ports they come', async () => {
    const ports = Array.from({ length: FREE_TIER_DAILY_CALLS + 5 }, (_, n) => 1024 + n)
    const statuses: number[] = []
    for (const port of ports) statuses.push(await proxy.statusOfCall(`203.0.113.77:${port}`))
    expect(statuses.filter((status) => status === 200)).toHaveLength(FREE_TIER_DAILY_CALLS)
    expect(statuses.slice(FREE_TIER_DAILY_CALLS)).toEqual([402, 402, 402, 402, 402])
    expect(await proxy.statusOfCall('203.0.113.78:1024')).toBe(200)
  })

  test('clients without an address share one limit, and the log says so once', async () => {
    const left = await proxy.leftOfEach(['unknown', '_hidden', 'client-7', '"203.0.113.9"'])
    expect(left).toEqual([119, 118, 117, 116])
    expect(warnings).toEqual([
      'X-Forwarded-For does not contain an address; such clients share one limit',
    ])
  })
})

test('a proxy that is trusted by its address is one also if the next proxy adds its port', async () => {
  const proxies = await behind('127.0.0.1, 10.0.0.0/8, 2001:db8:1::/48')
  const first = ['203.0.113.1, 10.0.0.2', '203.0.113.1:7, 10.0.0.2:4431']
  const second = ['203.0.113.2, 10.0.0.2:4431', '203.0.113.2, [2001:db8:1::5]:80, 10.0.0.2']
  expect(await proxies.leftOfEach([...first, ...second])).toEqual([119, 118, 119, 118])
  // A client cannot name itself: the address before a hop that is not trusted is not read.
  expect(await proxies.leftOfEach(['203.0.113.3, 192.0.2.7', '203.0.113.4, 192.0.2.7'])).toEqual([
    119, 118,
  ])
  await proxies.close()
})
