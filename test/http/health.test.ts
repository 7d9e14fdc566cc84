import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CONTRACT_REGISTRY_ADDRESS } from '#src/chain/contracts.ts'
import { healthChecks } from '#src/health.ts'
import { createInternalServer } from '#src/http/internal.ts'
import { countFigures } from '#src/jobs/count-figures.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { raiseCanaryAlert } from '#src/jobs/raise-canary.ts'
import { sendHeartbeat } from '#src/jobs/send-heartbeat.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { findProblems, readFigures } from '#src/kernel/health.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { CHAIN_WATCH_TYPES } from '#src/watches/types/index.ts'
import { setToDatabaseTime, testClock } from '../support/clock.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { serviceOnly } from '../support/harness.ts'
import { seriesOf } from '../support/metrics.ts'
import { MIGRATIONS } from '../support/migrations.ts'
import { request } from '../support/people.ts'

const signal = new AbortController().signal
const calls: { readonly path: string | undefined; readonly body: string }[] = []
let status = 200
const monitor = createServer(async (request, response) => {
  calls.push({ path: request.url, body: await text(request) })
  response.writeHead(status).end('OK')
})
let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  monitor.listen(0, '127.0.0.1')
  await once(monitor, 'listening')
  const address = monitor.address()
  const port = typeof address === 'object' ? address?.port : 0
  service = await serviceOnly(
    {
      HEARTBEAT_URL: `http://127.0.0.1:${port}/check`,
      WEBHOOK_ALLOW_PRIVATE: 'false',
    },
    testClock(),
    silentLogger,
    hostClock,
  )
})
beforeEach(async () => {
  calls.length = 0
  status = 200
  await setToDatabaseTime(service.clock, service.sql)
  await service.sql`truncate observation_cursors, alerts, delivery_queue, delivery_log`
  await headAt(service.clock.now())
  await canary()
})
afterAll(async () => {
  await service.close()
  monitor.close()
})

let hostAheadMs = 0
const hostClock = { now: () => new Date(systemClock.now().getTime() + hostAheadMs) }

const TYPES = CHAIN_WATCH_TYPES.map(({ name }) => name)

/** Records that the newest block is of this time, and that the watches of these types are judged up to it now. */
async function headAt(at: Date, types: readonly string[] = TYPES): Promise<void> {
  for (const type of ['chain', ...types]) {
    const row = { type, block_number: 7, block_at: at, observed_at: service.clock.now() }
    await service.sql`
      insert into observation_cursors ${service.sql(row)}
      on conflict (type) do update set block_at = excluded.block_at, observed_at = excluded.observed_at`
  }
}

/** Raises a synthetic alert and sends it. */
async function canary(): Promise<void> {
  await raiseCanaryAlert.run(service.app, signal, CHECK_EVERYTHING)
  await deliverAll(service.app)
}

const ago = (seconds: number) => new Date(service.clock.now().getTime() - seconds * 1000)

async function ready() {
  const server = createInternalServer(service.app.health, [])
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/readyz' })
  await server.close()
  return { statusCode, ...JSON.parse(payload) }
}

const beat = () => sendHeartbeat.run(service.app, signal, CHECK_EVERYTHING)

test('a healthy service is ready and calls its monitor', async () => {
  const behindSeconds = Object.fromEntries(TYPES.map((type) => [type, 0]))
  const figures = { behindSeconds }
  expect(await ready()).toEqual({ statusCode: 200, status: 'ok', problems: [], figures })
  await beat()
  expect(calls).toEqual([
    { path: '/check/start', body: '' },
    { path: '/check', body: '' },
  ])
})

test('a chain without new blocks or a watch type without data degrades the service, and the monitor gets the reason', async () => {
  await headAt(ago(91))
  await service.sql`
    update observation_cursors set observed_at = ${ago(91)} where type = 'feed-move'`
  const problems = [
    { name: 'chain', problem: 'no new block for 91 s' },
    { name: 'evaluation', problem: 'no current data: feed-move for 91 s' },
  ]
  const figures = { behindSeconds: Object.fromEntries(TYPES.map((type) => [type, 91])) }
  expect(await ready()).toMatchObject({ statusCode: 200, status: 'degraded', problems, figures })
  await beat()
  const body = 'chain: no new block for 91 s\nevaluation: no current data: feed-move for 91 s'
  expect(calls).toEqual([
    { path: '/check/start', body: '' },
    { path: '/check/fail', body },
  ])
})

test('a chain that cannot be read is named with the host and the cause', async () => {
  await service.sql`truncate observation_cursors`
  const other = await serviceOnly({ FLARE_RPC_URLS: 'http://nobody.invalid/geheim' })
  try {
    const asked = other.app.chain.confirmedBlock(1)
    await expect(asked).rejects.toThrow('dependency_unavailable')
    const { payload } = await other.internal.inject({ method: 'GET', url: '/readyz' })
    expect(JSON.parse(payload).problems).toContainEqual({
      name: 'chain',
      problem: 'no block has been read yet (nobody.invalid: connection failed: ENOTFOUND)',
    })
  } finally {
    await other.close()
  }
})

test('a watch type that is judged now, but up to blocks far behind the newest one, degrades the service', async () => {
  await service.sql`
    update observation_cursors set block_at = ${ago(662)} where type in ('provider-fsp', 'feed-move')`
  const problem = 'no current data: feed-move for 662 s, provider-fsp for 572 s'
  expect(await ready()).toMatchObject({
    status: 'degraded',
    problems: [{ name: 'evaluation', problem }],
    figures: { behindSeconds: { 'feed-move': 662, 'provider-fsp': 662, 'wallet-balance': 0 } },
  })
})

test('a watch type that was never judged degrades the service 90 seconds after the first try', async () => {
  await service.sql`
    update observation_cursors set block_number = null, block_at = null, observed_at = null,
      failing_since = ${ago(89)}
    where type = 'provider-fsp'`
  expect(await ready()).toMatchObject({
    status: 'ok',
    figures: { behindSeconds: { 'provider-fsp': 89 } },
  })
  service.clock.advance(2)
  const problem = 'no current data: provider-fsp for 91 s'
  expect(await ready()).toMatchObject({ problems: [{ name: 'evaluation', problem }] })
})

test.each([
  [-1, 'clock of this host is 86400 s behind that of the database'],
  [1, 'clock of this host is 86400 s ahead of that of the database'],
])('a host clock that is %d day off degrades the service', async (days, problem) => {
  hostAheadMs = days * DAY_MS
  expect(await ready()).toMatchObject({ status: 'degraded', problems: [{ name: 'clock' }] })
  const { problems } = await ready()
  // The database's goes on meanwhile.
  expect(problems[0].problem.replace(/8\d{4} s/, '86400 s')).toBe(problem)
  await beat()
  expect(calls.at(-1)).toMatchObject({ path: '/check/fail' })
  expect(calls.at(-1)?.body.replace(/8\d{4} s/, '86400 s')).toBe(`clock: ${problem}`)
  hostAheadMs = 0
})

test('a clock of the database that is behind the chain degrades the service', async () => {
  await headAt(ago(-600))
  const problem = 'clock of the database is 600 s behind the newest block'
  expect(await ready()).toMatchObject({
    status: 'degraded',
    problems: [{ name: 'clock', problem }],
  })
  await headAt(ago(-299))
  expect(await ready()).toMatchObject({ status: 'ok' })
})

test('a clock of the service that stands still for more than five minutes is a problem', async () => {
  const of = (stillForMs: number) => {
    const { db } = service.app
    const { clock, sql } = service
    const checks = healthChecks({
      ...{ db, clock, sql, migrations: MIGRATIONS, hasCanary: false },
      ...{ chainIdChecks: [], endpoints: [], sources: [] },
      hostAheadMs: async () => 0,
      stillForMs: () => stillForMs,
      bot: () => undefined,
      contracts: { isMissing: () => false, registry: CONTRACT_REGISTRY_ADDRESS },
    })
    return checks.find(({ name }) => name === 'clock')?.findProblem()
  }
  expect(await of(300_000)).toBeUndefined()
  expect(await of(3_600_000)).toBe(
    'clock of the service stands still for 3600 s: that of the database was set back; restart all processes',
  )
})

test('a monitor that refuses the call causes no failure', async () => {
  status = 500
  await beat()
  expect(calls.map(({ path }) => path)).toEqual(['/check/start', '/check'])
})

test('a service with a migration that is not applied is down', async () => {
  await service.sql`
    create table held as select * from drizzle.__drizzle_migrations order by id desc limit 1`
  await service.sql`delete from drizzle.__drizzle_migrations where id in (select id from held)`
  expect(await ready()).toMatchObject({
    statusCode: 503,
    status: 'down',
    problems: [{ name: 'migrations', problem: '1 pending' }],
  })
  await service.sql`insert into drizzle.__drizzle_migrations select * from held`
  expect(await ready()).toMatchObject({ status: 'ok' })
})

test('deliveries that wait too long degrade the service', async () => {
  const at = ago(121)
  await service.sql`
    insert into delivery_queue (id, wallet, alert_id, recipient_id, channel, partition_key, order_key, fired_at,
      position, envelope, kind, recovery, test, urgency, status, attempts, next_attempt_at, created_at)
    values (gen_random_uuid(), '', null, 1, 'webhook', '', '', ${at}, 1, '{}', 'alert', false,
      false, 0, 'pending', 0, ${at}, ${at})`
  await service.sql`
    insert into delivery_heads (recipient_id, channel, partition_key, urgency, due_at, is_silent, version)
    values (1, 'webhook', '', 0, ${at}, false, 0)
    on conflict (recipient_id) do update set channel = excluded.channel, due_at = excluded.due_at`
  expect(await ready()).toMatchObject({
    status: 'degraded',
    problems: [{ name: 'outbox', problem: 'deliveries wait: webhook' }],
  })
  await service.sql`truncate delivery_queue, delivery_heads`
})

test('the problem of a wrong registry has its address, and a frozen database does not keep the answer back', async () => {
  const frozen = new Proxy(service.app.db, {
    get: (target, name, receiver) => {
      if (name === 'select') return () => ({ from: () => new Promise(() => undefined) })
      return Reflect.get(target, name, receiver)
    },
  })
  const { clock, sql } = service
  const checks = healthChecks({
    ...{ db: frozen, clock, sql, bot: () => undefined },
    ...{ hostAheadMs: async () => 0, stillForMs: () => 0 },
    contracts: { isMissing: () => true, registry: CONTRACT_REGISTRY_ADDRESS },
    ...{ chainIdChecks: [{ problem: () => undefined }], endpoints: [], sources: [] },
    ...{ hasCanary: false, migrations: MIGRATIONS },
  })
  const [problems, figures] = await Promise.all([findProblems(checks), readFigures(checks)])
  expect(figures).toEqual({})
  expect(problems).toContainEqual({
    name: 'contracts',
    isVital: false,
    problem: `there are no contracts at ${CONTRACT_REGISTRY_ADDRESS} (FLARE_CONTRACT_REGISTRY)`,
  })
}, 20_000)

test('the stored progress is read once for all checks', async () => {
  let asked = 0
  const db = new Proxy(service.app.db, {
    get(target, name, receiver) {
      if (name === 'select') asked += 1
      return Reflect.get(target, name, receiver)
    },
  })
  const { clock, sql } = service
  const parts = {
    db,
    clock,
    hostAheadMs: async () => 0,
    stillForMs: () => 0,
    sql,
    bot: () => undefined,
    contracts: { isMissing: () => false, registry: CONTRACT_REGISTRY_ADDRESS },
    chainIdChecks: [{ problem: () => undefined }],
    endpoints: [],
    sources: [],
    hasCanary: false,
  }
  await findProblems(healthChecks({ ...parts, migrations: MIGRATIONS }))
  expect(asked).toBe(1)
})

test('a check that throws is reported as a problem', async () => {
  await service.sql`alter table observation_cursors rename to elsewhere`
  expect(await ready()).toMatchObject({
    status: 'degraded',
    problems: [{ name: 'chain', problem: 'does not answer' }, { name: 'evaluation' }],
  })
  await service.sql`alter table elsewhere rename to observation_cursors`
})

test('a synthetic alert passes through all stages, up to the HTTP request', async () => {
  service.clock.advance(300)
  await canary()
  const [alert] = await service.sql`select id, wallet from alerts order by id desc limit 1`
  const sent = await service.sql`
    select channel, status, attempts, last_status_code from deliveries where alert_id = ${alert?.['id']}`
  expect(sent).toEqual([
    { channel: 'webhook', status: 'delivered', attempts: 1, last_status_code: 200 },
  ])
  const recipients = await service.sql`select target from recipients`
  expect(recipients).toEqual([{ target: 'discard.invalid' }])
  const { payload } = await service.internal.inject({ method: 'GET', url: '/metrics' })
  const at = service.clock.now().getTime() / 1000
  const series = seriesOf(payload)
  expect(series.get('watchdog_canary_arrived_timestamp_seconds')).toBe(at)
  expect(series.get('watchdog_canary_seconds')).toBe(0)
})

test('a missing synthetic alert degrades the service, and synthetic alerts are in no public figure', async () => {
  service.clock.advance(300)
  await raiseCanaryAlert.run(service.app, signal, CHECK_EVERYTHING)
  service.clock.advance(421)
  await headAt(service.clock.now())
  const { problems } = await ready()
  expect(problems).toContainEqual({ name: 'alerts', problem: 'no synthetic alert for 721 s' })
  await deliverAll(service.app)
  expect((await ready()).problems).toEqual([])
  await countFigures.run(service.app, signal, CHECK_EVERYTHING)
  const { body } = await request(service, 'GET', '/stats')
  expect(body).toMatchObject({ wallets: 0, alerts24h: 0, deliveries24h: 0 })
})

test('a service without a monitor raises no synthetic alert', async () => {
  const other = await serviceOnly()
  try {
    await raiseCanaryAlert.run(other.app, signal, CHECK_EVERYTHING)
    expect(await other.sql`select id from alerts`).toEqual([])
    const { payload } = await other.internal.inject({ method: 'GET', url: '/metrics' })
    expect(payload).not.toContain('watchdog_canary')
  } finally {
    await other.close()
  }
})
