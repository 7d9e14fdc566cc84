import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { readTip } from '#src/watches/observe/tip.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'
import { seriesOf } from '../support/metrics.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

/**
 * Outages of what the running service depends on: `/readyz`, the health of watches, their alerts and the metrics
 * say so, and say when it is over. The chain and the clock of the service run faster than time.
 */

/** The chain's time that passes in a step, in seconds. */
const STEP_SECONDS = 5
/** Longest real time of a step: while something is out, the service cannot follow. */
const STEP_MS_MAX = 400
const RECOVERED = 'fsp.monitoring.recovered'

let database: FreshDatabase
let administration: Connection
let devnet: DevnetWithContracts
let simulation: ProviderSimulation
let endpoints: readonly RpcProxy[]
let clock: TestClock
let service: Service
let alice: Client
let watchOf: Readonly<Record<'balance' | 'provider' | 'token', number>>
const errors: string[] = []
const messages: string[] = []
const running = new AbortController()
let stepping: Promise<void>

beforeAll(async () => {
  database = await freshDatabase()
  const server = new URL(inject('databaseServerUrl'))
  server.pathname = '/postgres'
  administration = connect(server.href, { max: 1 })
  clock = testClock()
  const startsAt = clock.now()
  devnet = await startDevnet({ contracts: true, startsAt })
  simulation = await createProviderSimulation(devnet, {
    providers: ['Alpha', 'Bravo', 'Charlie'].map((name) => ({ name })),
    onTime: (seconds) => clock.set(new Date(seconds * 1000)),
  })
  endpoints = await Promise.all([startRpcProxy(devnet.rpcUrl), startRpcProxy(devnet.rpcUrl)])
})
afterAll(async () => {
  running.abort()
  await stepping
  await service.stop()
  await Promise.all(endpoints.map((endpoint) => endpoint.close()))
  await administration.close()
  await database.drop()
  await devnet.close()
})

function createService(env: Readonly<Record<string, string>> = {}): Service {
  const config = loadConfig(
    testEnvironment({
      FLARE_RPC_URLS: endpoints.map(({ url }) => url).join(','),
      FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
      EVALUATION_INTERVAL_MS: '50',
      ...env,
    }),
  )
  const log = {
    ...silentLogger,
    error: (_: unknown, message: string) => void errors.push(message),
    info: (_: unknown, message: string) => void messages.push(message),
  }
  // The database keeps the machine's time.
  const parts = { databaseUrl: database.nearUrl, log, clock }
  return createApp(config, parts)
}

/** Lets the chain, its providers and the clock go on, as fast as the service follows. */
async function goOn(): Promise<void> {
  while (!running.signal.aborted) {
    await simulation.playTo(clock.now().getTime() / 1000 + STEP_SECONDS, { inFull: true })
    service.runJobs()
    const stepEnd = wait(STEP_MS_MAX, true)
    while (!(await Promise.race([stepEnd, hasFollowed().catch(() => false)]))) {
      await Promise.race([stepEnd, wait(20)])
    }
  }
}

/** Whether the chain was read and every balance judged since the clock went on. */
async function hasFollowed(): Promise<boolean> {
  const now = clock.now()
  const [row] = await service.sql<{ is: boolean }[]>`
    select count(*) = 2 as is from observation_cursors
    where (type = 'chain' and checked_at >= ${now}) or (type = 'wallet-balance' and observed_at >= ${now})`
  return row?.is === true
}

async function ready(of: Service = service) {
  const { statusCode, payload } = await of.internal.inject({ method: 'GET', url: '/readyz' })
  return { statusCode, ...JSON.parse(payload) } as {
    readonly statusCode: number
    readonly status: string
    readonly problems: readonly { readonly name: string; readonly problem: string }[]
  }
}

/** The problem of a check; undefined if there is none. */
const problemOf = async (name: string, of?: Service) =>
  (await ready(of)).problems.find((problem) => problem.name === name)?.problem

async function metric(name: string, of: Service = service): Promise<number> {
  const { payload } = await of.internal.inject({ method: 'GET', url: '/metrics' })
  return seriesOf(payload).get(name) ?? Number.NaN
}

/** As `expect.poll`, for a slow machine. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 90_000 })

const health = async (id: number) =>
  (await alice.request('GET', `/watches/${id}`)).body.health as string

/** The newest alert about missing data of a watch. */
async function newestAlert(id: number) {
  const { body } = await alice.request('GET', `/alerts?limit=50&watchId=${id}`)
  const all = body.data as readonly { event: string; severity: string; data: { reason: string } }[]
  return all.find(({ event }) => event.startsWith('fsp.monitoring'))
}

/** Waits until all is well: no problem, every watch has data, and every outage that was alerted is over. */
async function untilWell(): Promise<void> {
  await eventually(() => ready()).toMatchObject({ status: 'ok', problems: [] })
  for (const id of Object.values(watchOf)) {
    await eventually(() => health(id)).toBe('ok')
    await eventually(async () => (await newestAlert(id))?.event ?? RECOVERED).toBe(RECOVERED)
  }
}

test('a registry without contracts is an error and a problem at once, and a service that never judged a round says so after 90 seconds', async () => {
  const registry = devnet.contracts.registry.toLowerCase()
  for (const endpoint of endpoints) {
    endpoint.rewrite('eth_call', (result, params) =>
      JSON.stringify(params).toLowerCase().includes(registry) ? '0x' : result,
    )
  }
  service = createService()
  await service.start()
  alice = await withTrial(await signIn(service, 'alice'))
  await giveCredits(service.app, alice.caller.wallet, 100_000)
  await alice.request('POST', '/subscriptions', { quantity: 5, periods: 12 })
  const create = async (type: string, target: object, settings: object = {}) => {
    const made = await alice.request('POST', '/watches', { type, target, settings })
    expect(made.status, made.text).toBe(201)
    return made.body.id as number
  }
  const address = devnet.people.bob.account.address
  const token = devnet.contracts.wflr
  const provider = simulation.provider('Alpha').accounts.identity.address
  watchOf = {
    balance: await create('wallet-balance', { address, asset: 'FLR' }, { threshold: '1000' }),
    token: await create('wallet-balance', { address, asset: token }, { threshold: '1000' }),
    provider: await create('provider-fsp', { provider }),
  }
  stepping = goOn()
  await eventually(() => problemOf('contracts')).toMatch(
    /^there are no contracts at 0x\w{40} \(FLARE_CONTRACT_REGISTRY\)$/,
  )
  expect(errors.filter((message) => message.includes('registry'))).toEqual(
    // One of each client of the chain that has read it.
    expect.arrayContaining(['there are no contracts at the address of the registry']),
  )
  await eventually(() => problemOf('evaluation')).toMatch(/^no current data: .*provider-fsp for/)
  await eventually(() => health(watchOf.provider)).toBe('no_data')
  await eventually(() => newestAlert(watchOf.provider)).toMatchObject({
    event: 'fsp.monitoring',
    data: { reason: 'behind' },
  })
  expect(await metric('watchdog_evaluation_age_seconds{type="provider-fsp"}')).toBeGreaterThan(90)
  expect(await metric('watchdog_problem{check="contracts"}')).toBe(1)
  expect(await health(watchOf.balance)).toBe('ok')
  expect(messages).not.toContain('watch type can be judged again')

  for (const endpoint of endpoints) await endpoint.up()
  await untilWell()
  expect(await metric('watchdog_problem{check="contracts"}')).toBe(0)
}, 400_000)

test('endpoints that do not answer', async () => {
  const of = { provider: simulation.provider('Alpha').accounts.identity.address }
  const isStale = async () =>
    (await alice.request('GET', `/provider-fsp?provider=${of.provider}`)).body.stale as boolean
  expect(await isStale()).toBe(false)
  await Promise.all(endpoints.map((endpoint) => endpoint.down()))
  await eventually(() => problemOf('chain')).toMatch(/^no new block for/)
  await eventually(() => problemOf('evaluation')).toMatch(/wallet-balance for .*provider-fsp for/)
  for (const id of Object.values(watchOf)) {
    await eventually(() => health(id)).toBe('no_data')
    await eventually(() => newestAlert(id)).toMatchObject({
      event: 'fsp.monitoring',
      data: { reason: 'no_answer' },
    })
    // It stays so while the outage lasts.
    expect(await health(id)).toBe('no_data')
  }
  expect((await readTip(service.app)).failingSince).not.toBeNull()
  expect(await isStale()).toBe(true)

  await Promise.all(endpoints.map((endpoint) => endpoint.up()))
  await untilWell()
  expect(await isStale()).toBe(false)
}, 400_000)

test('a single target that cannot be read', async () => {
  const code = await devnet.client.getCode({ address: devnet.contracts.wflr })
  // Reverts with a mebibyte.
  await devnet.client.setCode({ address: devnet.contracts.wflr, bytecode: '0x621000006000fd' })
  await eventually(() => health(watchOf.token)).toBe('no_data')
  const isTold = { event: 'fsp.monitoring', data: { reason: 'target_unreadable' } }
  await eventually(() => newestAlert(watchOf.token)).toMatchObject(isTold)
  await eventually(() => health(watchOf.balance)).toBe('ok')
  await eventually(() => ready()).toMatchObject({ status: 'ok' })
  await devnet.client.setCode({ address: devnet.contracts.wflr, bytecode: code ?? '0x' })
  await untilWell()
  // The contract is gone.
  await devnet.client.setCode({ address: devnet.contracts.wflr, bytecode: '0x' })
  await eventually(() => newestAlert(watchOf.token)).toMatchObject(isTold)
  await devnet.client.setCode({ address: devnet.contracts.wflr, bytecode: code ?? '0x' })
  await untilWell()
}, 400_000)

test('a database that can only be read', async () => {
  const name = new URL(database.url).pathname.slice(1)
  const setReadOnly = async (is: 'on' | 'off') => {
    await administration.sql.unsafe(
      `alter database ${name} set default_transaction_read_only = ${is}`,
    )
    await administration.sql`
      select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  }
  await setReadOnly('on')
  await eventually(() => ready()).toMatchObject({
    statusCode: 503,
    status: 'down',
    problems: expect.arrayContaining([
      {
        name: 'database',
        problem: 'cannot be written: cannot execute INSERT in a read-only transaction',
      },
    ]),
  })
  expect(await metric('watchdog_problem{check="database"}')).toBe(1)
  await eventually(() => problemOf('evaluation')).toMatch(/wallet-balance for/)
  // Who asks is counted in the database, so that nobody can ask for a watch.
  expect((await alice.request('GET', `/watches/${watchOf.balance}`)).status).toBe(503)
  await setReadOnly('off')
  // No alert can be recorded meanwhile, and afterwards the watches have data again.
  await untilWell()
}, 400_000)

test('a database that does not answer', async () => {
  const name = new URL(database.url).pathname.slice(1)
  const age = await metric('watchdog_chain_head_age_seconds')
  await administration.sql.unsafe(`alter database ${name} with allow_connections false`)
  await administration.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  await eventually(() => ready()).toMatchObject({ statusCode: 503, status: 'down' })
  expect(await metric('watchdog_problem{check="database"}')).toBe(1)
  await eventually(() => metric('watchdog_chain_head_age_seconds')).toBeGreaterThan(age + 180)
  await eventually(() =>
    metric('watchdog_evaluation_age_seconds{type="wallet-balance"}'),
  ).toBeGreaterThan(180)
  expect((await alice.request('GET', `/watches/${watchOf.balance}`)).status).toBe(503)
  await administration.sql.unsafe(`alter database ${name} with allow_connections true`)
  await untilWell()
}, 400_000)

test('an endpoint of another chain at the first start', async () => {
  const other = await freshDatabase()
  const config = loadConfig(
    testEnvironment({ CHAIN_ID: '19', FLARE_RPC_URLS: endpoints.map(({ url }) => url).join(',') }),
  )
  const parts = { databaseUrl: other.nearUrl, log: silentLogger, clock }
  const second = createApp(config, parts)
  try {
    await second.start()
    await eventually(() => problemOf('chain', second)).toBe(
      'endpoint 0 answered chain 14 instead of 19, endpoint 1 answered chain 14 instead of 19',
    )
    await eventually(() => problemOf('evaluation', second)).toMatch(
      /feed-move for .*provider-fsp for/,
    )
    const types = 'watchdog_evaluation_age_seconds{type="feed-move"}'
    for (const name of ['watchdog_chain_head_age_seconds', types])
      await eventually(() => metric(name, second)).toBeGreaterThan(90)
  } finally {
    await second.stop()
    await other.drop()
  }
}, 400_000)
