import { setTimeout as wait } from 'node:timers/promises'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startReceiver } from '#sandbox/receiver.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { type Connection, connect, transact } from '#src/db/connection.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { type ServiceProcess, startServiceProcess } from '../../test/support/process.ts'
import { PROGRAMS, startCluster, startStandby } from './cluster.ts'

/**
 * Rehearses the loss of the primary database: two whole service processes and a synchronous standby, under
 * load; the primary is killed, the standby promoted two seconds later. Prints one JSON line and fails when
 * an acknowledged write was lost, an alert was not delivered, or a process took more than ten seconds.
 */

const BEFORE_MS = 8000
const UNTIL_PROMOTION_MS = 2000
const AFTER_MS = 15_000
const FOUND_WITHIN_MS = 10_000
const WRITERS = 4
/** Credits of the watched wallet move around this limit. */
const LIMIT = 1000

interface Load {
  /** References of the ledger entries whose transactions were acknowledged. */
  readonly acknowledged: string[]
  /** Times of the acknowledgements, in milliseconds of `performance.now()`. */
  readonly times: number[]
}

if (PROGRAMS === undefined) throw new Error('install the Debian package postgresql first')
const primary = await startCluster(
  "synchronous_standby_names = 'standby'\nsynchronous_commit = local",
)
const standby = await startStandby(primary, 'standby')
await primary.tool('psql', '-c', "alter system set synchronous_commit = 'on'")
await primary.tool('psql', '-c', 'select pg_reload_conf()')
const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
const url = `postgres://postgres@${hosts}/watchdog`
const receiver = await startReceiver()
const processes = [await startProcess(url), await startProcess(url)]
const database = connect(url, { max: WRITERS, waitMs: 2000, answerMs: 2000 })
const stop = new AbortController()
const load: Load = { acknowledged: [], times: [] }
try {
  const ann = PEOPLE.alice.account
  const token = await signIn(processes[0]?.url ?? '')
  await watchCredits(processes[0]?.url ?? '', token, receiver.url())
  const { version: _, ...settings } = await call(processes[0]?.url ?? '', token, 'GET', '/settings')
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    write(database, index === 0 ? ann.address : walletOf(index), index === 0 ? 400 : 5),
  )
  await wait(BEFORE_MS)
  const killedAt = performance.now()
  await primary.kill()
  await wait(UNTIL_PROMOTION_MS)
  await standby.promote()
  const promotedAt = performance.now()
  const foundMs = await Promise.all(
    processes.map(async (one) => {
      await untilWritable(one, token, settings)
      return performance.now() - promotedAt
    }),
  )
  await wait(AFTER_MS)
  stop.abort()
  await Promise.all(writers)
  const result = {
    ...(await judge(killedAt, promotedAt)),
    processesFoundItMs: foundMs.map(Math.round),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
  const isSlow = foundMs.some((ms) => ms > FOUND_WITHIN_MS)
  if (result.lostWrites + result.undelivered > 0 || isSlow) process.exitCode = 1
} finally {
  stop.abort()
  await Promise.all(processes.map((one) => one.stop()))
  await Promise.all([database.close(), receiver.close()])
  await Promise.all([primary.remove(), standby.remove()])
}

function startProcess(databaseUrl: string): Promise<ServiceProcess> {
  return startServiceProcess({ DATABASE_URL: databaseUrl, ROLES: 'api,watcher,delivery' })
}

function walletOf(index: number): Address {
  return `0x${index.toString(16).padStart(40, '0')}`
}

async function call(base: string, token: string, method: string, path: string, body?: object) {
  const response = await fetch(`${base}/api/x402${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5000),
  })
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function signIn(base: string): Promise<string> {
  const { account } = PEOPLE.alice
  const asked = { wallet: account.address, scopes: ['write', 'spend'], label: 'rehearsal' }
  const { message } = await call(base, '', 'POST', '/auth/challenge', asked)
  const signature = await account.signMessage({ message })
  const { token } = await call(base, '', 'POST', '/auth/token', { message, signature })
  return token
}

/** A watch of the wallet's own credits that sends each change to the receiver. */
async function watchCredits(base: string, token: string, hook: string): Promise<void> {
  const { currentVersion } = await call(base, token, 'GET', '/account/terms')
  await call(base, token, 'POST', '/account/terms', { version: currentVersion })
  await call(base, token, 'POST', '/subscriptions/trial')
  await call(base, token, 'PUT', '/channels/webhook', { url: hook })
  await call(base, token, 'POST', '/watches', {
    type: 'credits-balance',
    target: {},
    settings: { limit: LIMIT },
    cooldownSeconds: 0,
  })
}

/** Credits and debits a wallet across the limit until the load stops, and records what is acknowledged. */
async function write({ db }: Connection, wallet: Address, pauseMs: number): Promise<void> {
  let isHigh = false
  for (let count = 0; !stop.signal.aborted; count += 1) {
    const reference = `rehearsal:${wallet}:${count}`
    const entry = { wallet, amountCredits: count === 0 ? LIMIT - 5 : 10, reference, at: new Date() }
    try {
      await transact(db, async (tx) => {
        if (isHigh) await debit(tx, { ...entry, type: 'usage' })
        else await credit(tx, { ...entry, type: 'topup' })
      })
      load.acknowledged.push(reference)
      load.times.push(performance.now())
      if (count > 0) isHigh = !isHigh
    } catch {
      // Whether it was written is unknown: the next entry has another reference.
    }
    await wait(pauseMs)
  }
}

/** Waits until a process has written to the database, at most a minute. */
async function untilWritable(
  { url: base }: ServiceProcess,
  token: string,
  settings: object,
): Promise<void> {
  const deadline = performance.now() + MINUTE_MS
  for (;;) {
    try {
      await call(base, token, 'PUT', '/settings', settings)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await wait(100)
    }
  }
}

async function judge(killedAt: number, promotedAt: number) {
  const { sql } = database
  const rows = await sql<{ reference: string }[]>`
    select reference from ledger_entries where reference like 'rehearsal:%'`
  const stored = new Set(rows.map(({ reference }) => reference))
  const alerts = await sql<{ id: string }[]>`select id::text from alerts`
  const deadline = performance.now() + MINUTE_MS
  const missing = () => {
    const arrived = new Set(receiver.deliveries.map(({ json }) => String(alertOf(json))))
    return alerts.filter(({ id }) => !arrived.has(id)).length
  }
  while (missing() > 0 && performance.now() < deadline) await wait(200)
  const ids = receiver.deliveries.map(({ headers }) => headers['webhook-id'])
  const gapsMs = load.times.map((at, index) => at - (load.times[index - 1] ?? at))
  return {
    acknowledgedWrites: load.acknowledged.length,
    lostWrites: load.acknowledged.filter((reference) => !stored.has(reference)).length,
    promotedAfterMs: Math.round(promotedAt - killedAt),
    longestWithoutWritesMs: Math.round(Math.max(...gapsMs)),
    alerts: alerts.length,
    undelivered: missing(),
    deliveredTwice: ids.length - new Set(ids).size,
  }
}

function alertOf(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'alertId' in json ? json.alertId : undefined
}
