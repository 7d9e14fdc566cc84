import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, type TestContext, test } from 'vitest'
import { z } from 'zod'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'
import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { connect } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { seriesOf } from '../support/metrics.ts'
import { signIn, withTrial } from '../support/people.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { type SeveringProxy, startSeveringProxy } from '../support/severing-proxy.ts'

/**
 * Running processes in an outage of what they depend on: the log stays short and names what to do, and the check that
 * rules of Prometheus read finds a problem.
 */

/** Most lines of a log in a minute. */
const LINES_MAX = 10
const MINUTE_MS = 60_000
const HEALTHY = { timeout: 60_000 }

let devnet: DevnetWithContracts
let simulation: ProviderSimulation
const running = new AbortController()
let stepping: Promise<void>

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: new Date(Date.now() - 600_000) })
  simulation = await createProviderSimulation(devnet, {
    providers: ['Alpha', 'Bravo', 'Charlie'].map((name) => ({ name })),
  })
  const play = () => simulation.playTo(Math.floor(Date.now() / 1000), { inFull: true })
  await play()
  stepping = (async () => {
    while (!running.signal.aborted) {
      await play()
      await wait(2000)
    }
  })()
})
afterAll(async () => {
  running.abort()
  await stepping
  await devnet.close()
})

/** What a process depends on. */
interface Parts {
  readonly database: FreshDatabase
  /** Between the process and its database. */
  readonly server: SeveringProxy
  readonly rpc: RpcProxy
  readonly telegram: TelegramApi
  readonly inbox: Inbox
}

async function startParts(stack: AsyncDisposableStack): Promise<Parts> {
  const database = await freshDatabase()
  stack.defer(() => database.drop())
  const { hostname: host, port } = new URL(database.url)
  const server = await startSeveringProxy({ host, port: Number(port) })
  stack.defer(() => server.close().catch(() => undefined))
  const rpc = await startRpcProxy(devnet.rpcUrl)
  stack.defer(() => rpc.close())
  const telegram = await startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME })
  stack.defer(() => telegram.close())
  const inbox = await startMailServer({ offersLogin: true })
  stack.defer(() => inbox.close())
  return { database, server, rpc, telegram, inbox }
}

/** Starts a process with all roles and watches of a wallet and of a data provider. */
async function startProcess(
  { database, server, rpc, telegram, inbox }: Parts,
  over: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const environment = {
    FLARE_RPC_URLS: rpc.url,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    NATIVE_PAY_TO: devnet.people.carol.account.address,
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    SMTP_URL: inbox.url.replace('//', '//user:password@'),
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
  }
  const parts = { databaseUrl: database.nearUrl, log: silentLogger }
  const idle = createApp(loadConfig(testEnvironment(environment)), parts)
  const alice = await withTrial(await signIn(idle, 'alice'))
  await giveCredits(idle.app, alice.caller.wallet, 100_000)
  await alice.request('POST', '/subscriptions', { quantity: 5, periods: 12 })
  const address = devnet.people.bob.account.address
  const provider = simulation.provider('Alpha').accounts.identity.address
  for (const watch of [
    {
      ...{ type: 'wallet-balance', target: { address, asset: 'FLR' } },
      settings: { threshold: '1000' },
    },
    { type: 'provider-fsp', target: { provider }, settings: {} },
  ])
    expect((await alice.request('POST', '/watches', watch)).status).toBe(201)
  await idle.stop()
  const url = new URL(database.url)
  url.port = String(server.port)
  return startServiceProcess({ ...environment, DATABASE_URL: url.href, ...over })
}

/** The checks of `/readyz` that find a problem, as the metrics say it. */
async function problemsOf({ internalUrl }: ServiceProcess): Promise<readonly string[]> {
  const response = await fetch(`${internalUrl}/metrics`)
  return [...seriesOf(await response.text())].flatMap(([name, value]) => {
    const check = /^watchdog_problem\{check="(\w+)"\}$/.exec(name)?.[1]
    return check !== undefined && value === 1 ? [check] : []
  })
}

const Line = z.looseObject({
  level: z.string(),
  msg: z.string(),
  time: z.coerce.date(),
  todo: z.string().optional(),
  finding: z.string().optional(),
  alertId: z.number().optional(),
})

interface Outage {
  readonly name: string
  /** The check that finds the problem. */
  readonly check: string
  /** Settings of a process that is in the outage from its start. */
  over?(parts: Parts): Readonly<Record<string, string>>
  begin?(parts: Parts): Promise<void> | void
}

const REFUSED = { error_code: 401, description: 'Unauthorized' }
const TAKEN = {
  error_code: 409,
  description: 'Conflict: terminated by other getUpdates request',
}

async function setReadOnly({ database }: Parts): Promise<void> {
  const server = new URL(inject('databaseServerUrl'))
  server.pathname = '/postgres'
  const administration = connect(server.href, { max: 1 })
  const name = new URL(database.url).pathname.slice(1)
  await administration.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
  await administration.sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
  await administration.close()
}

const OUTAGES: readonly Outage[] = [
  { name: 'a database that refuses', check: 'database', begin: ({ server }) => server.close() },
  { name: 'a database that hangs', check: 'database', begin: ({ server }) => server.freeze() },
  { name: 'a read-only database', check: 'database', begin: setReadOnly },
  { name: 'endpoints that refuse', check: 'chain', begin: ({ rpc }) => rpc.down() },
  { name: 'endpoints that hang', check: 'chain', begin: ({ rpc }) => rpc.hang() },
  {
    ...{ name: 'an endpoint that withholds transactions', check: 'evaluation' },
    begin: ({ rpc }) =>
      rpc.rewrite('eth_getBlockByNumber', (block) => ({ ...Object(block), transactions: [] })),
  },
  {
    ...{ name: 'a refused token', check: 'bot' },
    begin: ({ telegram }) => telegram.failNext({ method: 'getUpdates', times: 1000 }, REFUSED),
  },
  {
    ...{ name: 'another program with the token', check: 'bot' },
    begin: ({ telegram }) => telegram.failNext({ method: 'getUpdates', times: 1000 }, TAKEN),
  },
  {
    ...{ name: 'a refused log-in for mail', check: 'mail' },
    begin: ({ inbox }) =>
      inbox.refuse('auth', { responseCode: 535, message: 'Authentication failed' }),
  },
  {
    ...{ name: 'an address without registry', check: 'contracts' },
    over: () => ({ FLARE_CONTRACT_REGISTRY: `0x${'a'.repeat(40)}` }),
  },
  {
    ...{ name: 'a standby that is none', check: 'standby' },
    over: ({ database }) => ({ DATABASE_READ_URL: database.url }),
  },
]

/** Those of which one notices nothing while nothing is sent begin before the process. */
const BEFORE = ['a refused log-in for mail']

/** Plays an outage. @returns all lines, and those of its first 70 seconds or more, until its check finds the problem */
async function play({ name, check, over, begin }: Outage, { expect }: Pick<TestContext, 'expect'>) {
  await using stack = new AsyncDisposableStack()
  const parts = await startParts(stack)
  if (BEFORE.includes(name)) await begin?.(parts)
  const service = await startProcess(parts, over?.(parts) ?? {})
  stack.defer(() => service.kill())
  const isEarly = begin === undefined || BEFORE.includes(name)
  if (!isEarly) await expect.poll(() => problemsOf(service), HEALTHY).toEqual([])
  const from = isEarly ? service.messages.indexOf('ready') + 1 : service.lines.length
  if (!isEarly) await begin?.(parts)
  const patience = { timeout: 3 * MINUTE_MS, interval: 2000 }
  await wait(MINUTE_MS + 10_000)
  await expect.poll(() => problemsOf(service), patience).toContain(check)
  const all = service.lines.map((line) => Line.parse(JSON.parse(line)))
  // Lines about alerts are as many as alerts, in an outage or not.
  return { all, lines: all.slice(from).filter(({ alertId }) => alertId === undefined) }
}

test.concurrent.for(OUTAGES)(
  'in an outage by $name no minute has more than ten lines, each with what to do, and the check $check says so',
  { timeout: 400_000 },
  async (outage, { expect }) => {
    const { all, lines } = await play(outage, { expect })
    const seconds = lines.map(({ time }) => time.getTime() / 1000)
    for (const [at, second] of seconds.entries()) {
      const inMinute = seconds.slice(at).filter((other) => other - second < 60).length
      expect([outage.name, inMinute, lines.map(({ msg }) => msg)]).toEqual([
        outage.name,
        Math.min(inMinute, LINES_MAX),
        lines.map(({ msg }) => msg),
      ])
    }
    const bad = all.filter(({ level }) => level === 'error' || level === 'warn')
    expect(bad.length).toBeGreaterThan(0)
    const silent = bad.filter(({ todo, finding }) => !`${todo}${finding}`.includes(' '))
    expect(silent.map(({ msg }) => msg)).toEqual([])
  },
)
