import { randomInt } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChatHooks } from '#sandbox/chat-hooks.ts'
import { startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { findPort } from '#sandbox/world/ports.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type EmbeddedDatabase, startEmbedded } from '#src/db/embedded/embedded.ts'
import { migrate } from '#src/db/migrate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { canonicalJson } from '#src/kernel/canonical-json.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { linkChat } from '#src/recipients/chats.ts'
import { createRecipient } from '#src/recipients/service.ts'
import { insertWatch, joinTarget } from '#src/watches/store.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { testEnvironment } from '../support/environment.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { isWhole } from '../support/runs.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { startCustomers, WEBHOOK_FAULTS } from './customers.ts'

/**
 * The service under faults: a fifth of the recipients fail in every way, endpoints of the chain are slow or
 * refuse, PostgreSQL restarts, and two processes are killed at random moments. The whole soak
 * has 1,000 recipients, 30 kills and two restarts; the small one has every fault, 4 kills and one restart.
 * Nothing is lost, and nothing arrives twice except deliveries that a killed process was sending.
 */

/** `npm run test:soak` runs the whole soak; the suite runs a smaller one. Five wallets have all faults. */
const WALLETS = isWhole ? 50 : 5
const HEALTHY = { webhook: 11, email: 3, telegram: 1, hook: 1 } as const
const FAILING_PER_WALLET = 4
const KILLS = isWhole ? 30 : 4
/** Numbers of kills after which PostgreSQL is restarted. */
const RESTARTS_AFTER: ReadonlySet<number> = new Set(isWhole ? [10, 20] : [2])
/** Longest lifetime of a process before it is killed, in milliseconds. */
const LIFE_MS_MAX = 1500
const TRANSFER_EVERY_MS = 400
/** Duration of a fault of an endpoint. */
const SPOIL_MS = isWhole ? 2500 : 1000
const ENDPOINT_FAULTS = 4
const FLR = 10n ** 18n
const LEASE_MS = 60_000
const SETTLE_MS = 240_000

const OTHER_FAULTS = [
  'mail refused for now',
  'mail refused for good',
  'blocked by the person',
  'thrown out of the group',
  'muted in the group',
  'hook is gone',
  'cannot be opened',
] as const
type Fault = (typeof WEBHOOK_FAULTS)[number] | (typeof OTHER_FAULTS)[number]
const FAULTS: readonly Fault[] = [...WEBHOOK_FAULTS, ...OTHER_FAULTS]

interface Wallet {
  readonly caller: Caller
  /** Account that the wallet's watch observes. */
  readonly watched: Address
  readonly watchId: number
  transferred: bigint
}

let folder: string
let database: EmbeddedDatabase
let service: Service
let devnet: Devnet
let world: Awaited<ReturnType<typeof openWorld>>
const wallets: Wallet[] = []
/** Recipients whose destination works, by channel. */
const healthy = new Map<number, string>()

beforeAll(async () => {
  folder = await mkdtemp(join(await databaseFolder(), 'watchdog-soak-'))
  await chmod(folder, 0o755)
  database = await startDatabase()
  devnet = await startDevnet({ blockTimeSeconds: 1 })
  world = await openWorld()
  service = createApp(loadConfig(testEnvironment(world.environment)), {
    databaseUrl: database.url,
    log: silentLogger,
  })
  await migrate(service.sql, join(import.meta.dirname, '../../migrations'))
  for (let index = 0; index < WALLETS; index += 1) wallets.push(await openWallet(index))
  await service.app.db.execute(sql`
    update recipients set status = 'active', verified_at = now() where status = 'pending'`)
  await service.app.db.execute(sql`delete from confirmation_mails`)
}, 300_000)

afterAll(async () => {
  await service?.stop()
  await world?.close()
  await devnet?.close()
  await database?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Port of PostgreSQL, kept across its restarts. */
let databasePort: number | undefined
async function startDatabase(): Promise<EmbeddedDatabase> {
  databasePort ??= await findPort()
  return startEmbedded({
    dataDir: folder,
    sharedDir: join(folder, 'shared'),
    logger: silentLogger,
    port: databasePort,
    durable: false,
  })
}

async function openWorld() {
  const [customers, inbox, hooks, telegram, first, second] = await Promise.all([
    startCustomers(),
    startMailServer(),
    startChatHooks(),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME }),
    startRpcProxy(devnet.rpcUrl),
    startRpcProxy(devnet.rpcUrl),
  ])
  return {
    customers,
    inbox,
    hooks,
    telegram,
    endpoints: [first, second],
    environment: {
      DATABASE_URL: database.url,
      FLARE_RPC_URLS: `${first.url},${second.url}`,
      CONFIRMATIONS: '1',
      // Blocks come once a second.
      EVALUATION_INTERVAL_MS: '500',
      SMTP_URL: inbox.url,
      EMAIL_FROM: 'Watchdog <watchdog@example.org>',
      TELEGRAM_BOT_TOKEN: BOT_TOKEN,
      TELEGRAM_API_ROOT: telegram.url,
      LOG_LEVEL: 'info',
    },
    close: async () => {
      await Promise.all([customers.close(), inbox.close(), hooks.close(), telegram.close()])
      await Promise.all([first.close(), second.close()])
    },
  }
}

/** A wallet with twenty recipients and a watch that names none: all of them are notified. */
async function openWallet(index: number): Promise<Wallet> {
  const hex = (kind: number) => `${kind}`.padStart(2, '0') + `${index}`.padStart(38, '0')
  const caller = { wallet: `0x${hex(11)}`, scopes: ['read', 'write'], via: 'http' } as const
  const watched = `0x${hex(22)}` as const
  for (let number = 0; number < HEALTHY.webhook; number += 1) {
    const url = (id: number) => world.customers.healthyUrl(index, id)
    await addHealthy(caller, 'webhook', url)
  }
  for (let number = 0; number < HEALTHY.email; number += 1) {
    await addHealthy(caller, 'email', () => `desk${number}@customer${index}.example.org`)
  }
  const isDiscord = index % 2 === 0
  await addHealthy(caller, isDiscord ? 'discord' : 'slack', () =>
    isDiscord ? world.hooks.discordUrl() : world.hooks.slackUrl(),
  )
  for (let number = 0; number < FAILING_PER_WALLET; number += 1) {
    const nth = index * FAILING_PER_WALLET + number
    await addFailing(caller, FAULTS[nth % FAULTS.length] ?? 'hang', nth)
  }
  const { id } = world.telegram.person({ firstName: 'Ann', languageCode: 'en', started: true })
  healthy.set(await addChat(caller, id), 'telegram')
  return { caller, watched, watchId: await addWatch(caller.wallet, watched), transferred: 0n }
}

type Typed = 'webhook' | 'email' | 'discord' | 'slack'

let made = 0
async function add(caller: Caller, channel: Typed, place: string): Promise<number> {
  made += 1
  const where = channel === 'email' ? { address: place } : { url: place }
  const input = { name: `R${made}`, channel, ...where, default: true }
  return (await createRecipient(service.app, caller, input)).id
}

/** @param place destination of the recipient, from the id that it will have */
async function addHealthy(caller: Caller, channel: Typed, place: (id: number) => string) {
  const [next] = await service.app.db.execute<{ id: number }>(
    sql`select coalesce(max(id), 0) + 1 as id from recipients`,
  )
  healthy.set(await add(caller, channel, place(next?.id ?? 1)), channel)
}

async function addFailing(caller: Caller, fault: Fault, nth: number): Promise<void> {
  const { telegram, hooks, customers, inbox } = world
  switch (fault) {
    case 'mail refused for now':
    case 'mail refused for good': {
      const address = `full${nth}@customer.example.org`
      inbox.setMailbox(address, fault === 'mail refused for now' ? 'temporary' : 'permanent')
      await add(caller, 'email', address)
      return
    }
    case 'blocked by the person': {
      const { id } = telegram.person({ firstName: 'Bo', languageCode: 'en', started: true })
      await addChat(caller, id)
      telegram.block(id)
      return
    }
    case 'thrown out of the group':
    case 'muted in the group': {
      const owner = telegram.person({ firstName: 'Cy', languageCode: 'en', started: true }).id
      const { id } = telegram.group({ title: `Crew ${nth}`, members: [owner], admins: [owner] })
      await addChat(caller, id)
      if (fault === 'muted in the group') telegram.mute(id)
      else telegram.kick(id)
      return
    }
    case 'hook is gone': {
      const url = nth % 2 === 0 ? hooks.discordUrl() : hooks.slackUrl()
      await add(caller, nth % 2 === 0 ? 'discord' : 'slack', url)
      hooks.remove(url)
      return
    }
    case 'cannot be opened': {
      const id = await add(caller, 'webhook', customers.healthyUrl(1000 + nth, 0))
      await service.app.db.execute(
        sql`update recipients set destination = 'sealed with another key' where id = ${id}`,
      )
      return
    }
    default:
      await add(caller, 'webhook', customers.failingUrl(fault, 2000 + nth))
  }
}

async function addChat({ wallet }: Caller, chatId: number): Promise<number> {
  made += 1
  const { recipient } = await linkChat(service.app, {
    chat: { id: chatId, title: `Chat ${chatId}` },
    by: { id: Math.abs(chatId) },
    locale: 'en',
    wallet,
    scopes: ['read'],
    name: null,
    at: service.app.clock.now(),
  })
  return recipient.id
}

async function addWatch(wallet: Address, address: Address): Promise<number> {
  const { db, clock } = service.app
  const target = { address, asset: 'FLR' }
  const key = canonicalJson(target)
  const targetId = await joinTarget(db, { type: 'wallet-balance', key, target })
  const now = clock.now()
  return insertWatch(db, {
    wallet,
    type: 'wallet-balance',
    targetId,
    label: 'Treasury',
    settings: { threshold: '1', direction: 'any' },
    signals: [],
    recipientIds: null,
    minSeverity: 'info',
    cooldownSeconds: 0,
    status: 'active',
    suspendedAt: null,
    mutedUntil: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  })
}

test('no alert is lost, and only deliveries claimed by a killed process arrive twice', async () => {
  const processes = await Promise.all([startService(), startService()])
  await untilBaselines()
  const stop = new AbortController()
  const traffic = sendTransfers(stop.signal)
  const faults = spoilEndpoints(stop.signal)
  const outages = createOutages()
  const inHand = new Map<string, number[]>()

  for (let kills = 1; kills <= KILLS; kills += 1) {
    // In the small soak both are dead at the end, so that leases need not be waited for, and one had a delivery in hand.
    const left = KILLS - kills
    const isLast = !isWhole && left < processes.length
    if (isLast && left > 0) await world.customers.holdOne()
    else await wait(randomInt(LIFE_MS_MAX))
    const place = kills % 2
    const killedAt = Date.now()
    await processes[place]?.kill()
    for (const key of await listInHand()) {
      inHand.set(key, [...(inHand.get(key) ?? []), killedAt])
    }
    if (isLast) continue
    if (RESTARTS_AFTER.has(kills)) {
      const end = outages.begin()
      await database.stop()
      database = await startDatabase()
      processes[place] = await startService()
      end()
    } else processes[place] = await startService()
  }
  if (!isWhole) {
    await endLeases()
    processes.splice(0, processes.length, await startService())
  }
  stop.abort()
  await Promise.all([traffic, faults])
  for (const endpoint of world.endpoints) await endpoint.up()
  await devnet.mine(1)
  await settled()
  await Promise.all(processes.map((running) => running.stop()))

  const rows = await listDeliveries()
  const { arrivals } = world.customers
  const ofWebhooks = rows.filter(({ recipientId }) => healthy.get(recipientId) === 'webhook')
  const twice = [...arrivals.values()].filter(({ times }) => times > 1)
  const latencies = ofWebhooks.flatMap((row) => {
    const arrival = arrivals.get(row.id)
    return arrival === undefined ? [] : [{ ...row, ms: arrival.atMs - row.createdAt.getTime() }]
  })
  const unhindered = latencies.filter(
    ({ createdAt, orderKey }) =>
      !outages.includes(createdAt) && !isBehind(inHand.get(orderKey), createdAt),
  )
  report({
    recipients: made,
    kills: KILLS,
    alerts: new Set(rows.map(({ alertId }) => alertId)).size,
    deliveries: rows.length,
    twice: twice.length,
    all: percentiles(latencies),
    outsideOutages: percentiles(unhindered),
  })

  expect(rows.filter(({ status }) => status !== 'delivered')).toEqual([])
  expect(ofWebhooks.filter(({ id }) => !arrivals.has(id))).toEqual([])
  const keys = new Map(ofWebhooks.map(({ id, orderKey }) => [id, orderKey]))
  const unexplained = twice.filter(({ deliveryId }) => !inHand.has(keys.get(deliveryId) ?? ''))
  expect(unexplained).toEqual([])
  // The one that was in hand at the end has arrived before and after.
  if (!isWhole) expect(twice).not.toEqual([])
  expect(overtakings(ofWebhooks)).toEqual([])
}, 900_000)

function startService(): Promise<ServiceProcess> {
  return startServiceProcess({ ...world.environment, DATABASE_URL: database.url })
}

/** Waits until each watch has a first observation: changes before it raise no alert. */
async function untilBaselines(): Promise<void> {
  await until(async () => {
    const [row] = await service.app.db.execute<{ missing: number }>(
      sql`select count(*)::int as missing from targets where observation is null`,
    )
    return row?.missing === 0
  })
}

/** Moves FLR to the watched accounts in turn. */
async function sendTransfers(signal: AbortSignal): Promise<void> {
  const from = devnet.people.carol.account.address
  await devnet.setBalance(from, 1_000_000n * FLR)
  for (let index = 0; !signal.aborted; index += 1) {
    const wallet = wallets[index % WALLETS]
    if (wallet === undefined) return
    await devnet.transfer(from, wallet.watched, 2n * FLR)
    wallet.transferred += 2n * FLR
    await wait(TRANSFER_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Makes one endpoint after the other slow, refusing, disconnecting or silent for a while, each at least once. */
async function spoilEndpoints(signal: AbortSignal): Promise<void> {
  for (let turn = 0; !signal.aborted || turn < ENDPOINT_FAULTS; turn += 1) {
    const endpoint = world.endpoints[turn % 2]
    if (endpoint === undefined) return
    const fault = turn % ENDPOINT_FAULTS
    if (fault === 0) endpoint.delay(400)
    if (fault === 1) endpoint.failNext(20, { status: 429 })
    if (fault === 2) await endpoint.down()
    if (fault === 3) endpoint.hang()
    await wait(SPOIL_MS, undefined, turn < ENDPOINT_FAULTS ? {} : { signal }).catch(() => undefined)
    await endpoint.up()
  }
}

function createOutages() {
  const spans: { readonly from: number; to: number }[] = []
  return {
    begin: () => {
      const span = { from: Date.now(), to: Number.POSITIVE_INFINITY }
      spans.push(span)
      return () => {
        span.to = Date.now()
      }
    },
    includes: (at: Date) =>
      spans.some(({ from, to }) => at.getTime() >= from - 5000 && at.getTime() <= to),
  }
}

/** Whether a delivery waits for the lease of one that a killed process had claimed. */
function isBehind(killedAt: readonly number[] = [], createdAt: Date): boolean {
  return killedAt.some((at) => Math.abs(createdAt.getTime() - at) < LEASE_MS)
}

/** Ends the leases of killed processes, as their minute would. Only while no process runs: all leases are theirs then. */
async function endLeases(): Promise<void> {
  for (const table of [sql`delivery_queue`, sql`sent_messages`]) {
    await service.app.db.execute(
      sql`update ${table} set leased_until = now() where leased_until > now()`,
    )
  }
  await service.app.db.execute(sql`update delivery_heads set due_at = now() where due_at > now()`)
}

/** Order keys of claimed and unfinished deliveries. */
async function listInHand(): Promise<readonly string[]> {
  const rows = await service.app.db.execute<{ orderKey: string }>(sql`
    select distinct order_key as "orderKey" from deliveries
    where leased_until is not null and status in ('pending', 'retrying')`)
  return rows.map(({ orderKey }) => orderKey)
}

interface Row extends Record<string, unknown> {
  readonly id: string
  readonly recipientId: number
  readonly alertId: number
  readonly orderKey: string
  readonly status: string
  readonly createdAt: Date
  readonly position: number
}

/** Deliveries of alerts to healthy recipients. */
async function listDeliveries(): Promise<readonly Row[]> {
  const ids = [...healthy.keys()]
  return await service.app.db.execute<Row>(sql`
    select id, recipient_id as "recipientId", alert_id::int as "alertId", order_key as "orderKey",
      status, created_at as "createdAt", position::int as position
    from deliveries
    where recipient_id = any(${sql.param(ids)}::int[]) and alert_id is not null
    order by position, id`)
}

/** Waits until every transfer is in an alert, and every healthy recipient has them all. */
async function settled(): Promise<void> {
  await until(async () => {
    const moved = await service.app.db.execute<{ watchId: number; sum: string }>(sql`
      select watch_id::int as "watchId", sum((data->>'changeAmount')::numeric)::text as sum
      from alerts group by watch_id`)
    const sums = new Map(moved.map(({ watchId, sum }) => [watchId, BigInt(sum)]))
    if (wallets.some(({ watchId, transferred }) => (sums.get(watchId) ?? 0n) !== transferred)) {
      return false
    }
    const rows = await listDeliveries()
    return rows.every(({ status }) => status === 'delivered')
  })
}

/** Deliveries that arrived before a delivery of the same watch from an earlier block. */
function overtakings(rows: readonly Row[]): readonly string[] {
  const { arrivals } = world.customers
  return [...Map.groupBy(rows, ({ orderKey }) => orderKey).values()].flatMap((all) => {
    const times = all.map(({ id }) => arrivals.get(id)?.atMs ?? 0)
    return all.flatMap(({ id }, index) =>
      (times[index - 1] ?? 0) > (times[index] ?? 0) ? [id] : [],
    )
  })
}

function percentiles(all: readonly { readonly ms: number }[]) {
  const sorted = all.map(({ ms }) => ms).sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  return { deliveries: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1) }
}

function report(figures: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`soak ${JSON.stringify(figures)}\n`)
}

/** Waits for a condition, with a deadline far above the time that a healthy service needs. */
async function until(isDone: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + SETTLE_MS
  while (performance.now() < endsAt) {
    if (await isDone().catch(() => false)) return
    await wait(250)
  }
}
