import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tooManyMessages } from '#sandbox/telegram/faults.ts'
import { credit } from '#src/billing/account/service.ts'
import { transact } from '#src/db/connection.ts'
import { createReadings } from '#src/metrics.ts'
import { linkChat } from '../support/destinations.ts'
import { harness, serviceOnly, type World } from '../support/harness.ts'
import { seriesOf } from '../support/metrics.ts'
import { type Client, request, signIn, withTrial } from '../support/people.ts'

/** Answer of a running service at `/metrics` after work of every kind. */

const FLR = 10n ** 18n

let world: World
let alice: Client
let chat: number

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  chat = (await linkChat(world, alice)).chat
  await world.deliver()
  await raiseAlert()
})
afterAll(() => world.close())

async function raiseAlert(): Promise<void> {
  const { bob, carol } = world.devnet.people
  await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: 'Treasury',
    target: { address: bob.account.address, asset: 'FLR' },
    settings: { threshold: '100' },
  })
  await world.observe()
  await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
  await world.observe()
  await world.deliver()
}

/** Values of a running service's metrics by name and labels. */
async function scrape({ service }: Pick<World, 'service'>): Promise<ReadonlyMap<string, number>> {
  const { payload } = await service.internal.inject({ method: 'GET', url: '/metrics' })
  return seriesOf(payload)
}

const host = () => new URL(world.rpc.url).host

test('the age of the newest confirmed block, by RPC endpoint', async () => {
  const { at } = await world.app.chain.confirmedBlock(2)
  world.clock.set(new Date(at.getTime() + 40_000))
  expect((await scrape(world)).get(`watchdog_head_lag_seconds{endpoint="${host()}"}`)).toBe(40)
})

test('requests to endpoints, their failures and their duration', async () => {
  const name = (outcome: string) =>
    `watchdog_rpc_requests_total{endpoint="${host()}",outcome="${outcome}"}`
  const before = await scrape(world)
  expect(before.get(name('answered'))).toBeGreaterThan(5)
  world.rpc.failNext(1, { status: 500 })
  await world.app.chain.confirmedBlock(2).catch(() => undefined)
  const after = await scrape(world)
  const bad = (values: ReadonlyMap<string, number>) =>
    (values.get(name('failed')) ?? 0) + (values.get(name('refused')) ?? 0)
  expect(bad(after)).toBe(bad(before) + 1)
  const count = after.get(`watchdog_rpc_seconds_count{endpoint="${host()}"}`)
  expect(count).toBe((after.get(name('answered')) ?? 0) + bad(after))
})

test('no path of an endpoint, which may be a key, is in a label', async () => {
  const only = await serviceOnly({ FLARE_RPC_URLS: 'http://127.0.0.1:1/v1/private-9f/rpc?k=77' })
  try {
    await expect(only.app.chain.confirmedBlock(2)).rejects.toThrow()
    const { payload } = await only.service.internal.inject({ method: 'GET', url: '/metrics' })
    expect(payload).toContain('watchdog_rpc_requests_total{endpoint="127.0.0.1:1",outcome=')
    expect(payload).not.toMatch(/private-9f|k=77/)
  } finally {
    await only.close()
  }
})

test('the time from an alert to its channel, and the outbox', async () => {
  const values = await scrape(world)
  for (const channel of ['telegram', 'webhook']) {
    expect(values.get(`watchdog_alert_to_sent_seconds_count{channel="${channel}"}`)).toBe(1)
    expect(values.get(`watchdog_deliveries_due{channel="${channel}"}`)).toBe(0)
    expect(values.get(`watchdog_deliveries_oldest_due_seconds{channel="${channel}"}`)).toBe(0)
  }
  expect(values.has('watchdog_alert_to_sent_seconds_count{channel="email"}')).toBe(false)
})

test('responses 429 of Telegram, to alerts and to the bot', async () => {
  const count = async () => (await scrape(world)).get('watchdog_telegram_limited_total') ?? 0
  expect(await count()).toBe(0)
  const { bob, carol } = world.devnet.people
  await world.devnet.transfer(carol.account.address, bob.account.address, 300n * FLR)
  await world.observe()
  world.telegram.failNext(1, tooManyMessages(1))
  await world.deliver()
  expect(await count()).toBe(1)
  world.telegram.failNext('sendMessage', tooManyMessages(1))
  world.telegram.send(chat, '/help')
  await expect.poll(count).toBe(2)
})

test('confirmation mails as attempts to send', async () => {
  const sent = async (outcome: string) =>
    (await scrape(world)).get(
      `watchdog_delivery_attempts_total{channel="email",outcome="${outcome}"}`,
    )
  world.inbox.refuse('mail', { responseCode: 550, message: 'Sender refused' })
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  await world.sendConfirmations()
  expect([await sent('temporary'), await sent('delivered')]).toEqual([1, 0])
  const failing = async () => (await scrape(world)).get('watchdog_mail_failing_seconds')
  world.clock.advance(60)
  expect(await failing()).toBe(60)
  world.inbox.refuse('mail', undefined)
  await world.sendConfirmations()
  expect([await sent('temporary'), await sent('delivered')]).toEqual([1, 1])
  expect(await failing()).toBe(0)
})

test('the duration of runs of jobs', async () => {
  const values = await scrape(world)
  expect(values.get('watchdog_job_seconds_count{name="show-live-messages"}')).toBeGreaterThan(0)
  expect(values.get('watchdog_job_seconds_sum{name="show-live-messages"}')).toBeGreaterThan(0)
})

test('waits for connections, by pool', async () => {
  const values = await scrape(world)
  expect(values.get('watchdog_pool_wait_seconds_count{pool="requests"}')).toBeGreaterThan(10)
})

test('requests by operation, pages and unknown paths as one each', async () => {
  await request(world, 'GET', '/stats')
  await request(world, 'GET', '/watches')
  await world.server.inject({ method: 'GET', url: '/nowhere/1' })
  await world.server.inject({ method: 'GET', url: '/nowhere/2' })
  const values = await scrape(world)
  const counted = (operation: string, status: string) =>
    values.get(`watchdog_http_requests_total{operation="${operation}",status="${status}"}`)
  expect(counted('getStats', '2xx')).toBe(1)
  expect(counted('listWatches', '4xx')).toBe(1)
  expect(counted('unknown', '4xx')).toBe(2)
  expect(values.get('watchdog_http_seconds_count{operation="getStats"}')).toBe(1)
  expect([...values.keys()].filter((name) => name.includes('nowhere'))).toEqual([])
})

test('credits sold and spent', async () => {
  const only = await serviceOnly()
  try {
    await transact(only.app.db, (tx) =>
      credit(tx, {
        wallet: `0x${'1'.padStart(40, '0')}`,
        at: only.clock.now(),
        type: 'topup',
        amountCredits: 70,
        reference: 'topup:1',
      }),
    )
    const values = await scrape(only)
    expect(values.get('watchdog_credits_sold')).toBe(70)
    expect(values.get('watchdog_credits_spent')).toBe(0)
  } finally {
    await only.close()
  }
})

test('a second scrape within five seconds does not query outbox and ledger again', async () => {
  let asked = 0
  const db = new Proxy(world.app.db, {
    get(target, name, receiver) {
      if (name === 'select' || name === 'execute') asked += 1
      return Reflect.get(target, name, receiver)
    },
  })
  const readings = createReadings({ ...world.service.app, db }, world.service.release)
  const kept = readings.filter(({ name }) => /deliveries|ledger/.test(name))
  const readAll = () => Promise.all(kept.map(({ read }) => read()))
  await readAll()
  const first = asked
  expect(first).toBe(2)
  await readAll()
  expect(asked).toBe(first)
})

test('the age of a delivery is that at the time of the query, also some seconds later', async () => {
  const only = await serviceOnly()
  try {
    const name = 'watchdog_deliveries_oldest_due_seconds{channel="webhook"}'
    expect((await scrape(only)).get(name)).toBe(0)
    only.clock.advance(4)
    expect((await scrape(only)).get(name)).toBe(0)
  } finally {
    await only.close()
  }
})

describe('rules and dashboard', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const rules = [...read('ops/prometheus/rules.yaml').matchAll(/expr: >-\n((?: {10}.+\n)+)/g)]
  const queries = [...read('ops/grafana/dashboard.json').matchAll(/"expr": (".+")/g)]
  const expressions = [
    ...rules.map(([, expr = '']) => expr),
    ...queries.map(([, expr = '""']): string => JSON.parse(expr)),
  ]
  /** Labels that Prometheus sets, and those of buckets. */
  const added = ['job', 'instance', 'le', 'chain', 'version']

  async function labelsByMetric(): Promise<ReadonlyMap<string, readonly string[]>> {
    const metrics = await world.app.meters.registry.getMetricsAsArray()
    return new Map(
      metrics.map((metric) => [
        metric.name,
        'labelNames' in metric ? z.array(z.string()).parse(metric.labelNames) : [],
      ]),
    )
  }

  test('use only labels that their metrics have', async () => {
    const labels = await labelsByMetric()
    expect(expressions.length).toBeGreaterThan(30)
    for (const expr of expressions) {
      const names = [...expr.matchAll(/watchdog_\w+/g)].map(([name]) => name)
      const known = names.flatMap((name) => labels.get(name.replace(/_bucket$/, '')) ?? [])
      const used = [
        ...[...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, all = '']) =>
          all.split(', '),
        ),
        ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, name = '']) => name),
      ]
      const unknown = used.filter((name) => !known.includes(name) && !added.includes(name))
      expect([expr, unknown]).toEqual([expr, []])
    }
  })

  test('no metric has a label that Prometheus itself sets and would therefore rename', async () => {
    for (const [name, labels] of await labelsByMetric()) {
      if (!name.startsWith('watchdog_')) continue
      expect([name, labels.filter((label) => added.includes(label))]).toEqual([name, []])
    }
  })
})
