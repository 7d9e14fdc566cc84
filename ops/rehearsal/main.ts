import { setTimeout as wait } from 'node:timers/promises'
import { startReceiver } from '#sandbox/receiver.ts'
import { connect } from '#src/db/connection.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import {
  ROOT,
  type ServiceProcess,
  startServiceProcess,
} from '../../test/support/service-process.ts'
import { startBouncer } from './bouncer.ts'
import { type Cluster, startCluster, startStandby } from './cluster.ts'
import { ask, call, judge, newLoad, PERSON, signIn, walletOf, watchCredits, write } from './load.ts'

/**
 * Rehearses the loss of the primary database under load: two `api` processes through a PgBouncer in
 * transaction mode, with lists from the standby; two processes of the other roles on sessions; a
 * synchronous standby. The primary is killed, the standby promoted two seconds later, and the PgBouncer
 * pointed to it. Prints one JSON line and fails when an acknowledged write was lost, an alert was not
 * delivered, lists were not read from the standby, or a process took more than ten seconds.
 */

const BEFORE_MS = 8000
const UNTIL_PROMOTION_MS = 2000
const AFTER_MS = 15_000
const FOUND_WITHIN_MS = 10_000
const WRITERS = 4
/** Connections of the PgBouncer to the server. */
const SERVERS = 5

const primary = await startCluster(
  "synchronous_standby_names = 'standby'\nsynchronous_commit = local",
)
const standby = await startStandby(primary, 'standby')
await primary.tool('psql', '-c', "alter system set synchronous_commit = 'on'")
await primary.tool('psql', '-c', 'select pg_reload_conf()')
const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
const url = `postgres://postgres@${hosts}/watchdog`
const receiver = await startReceiver()
const bouncer = await startBouncer(primary.url, SERVERS)
const throughBouncer = { DATABASE_POOLER_URL: bouncer.url, DATABASE_READ_URL: standby.url }
const workers = [await start('watcher,delivery'), await start('watcher,delivery')]
const apis = [await start('api', throughBouncer), await start('api', throughBouncer)]
const [api] = apis
const database = connect(url, { max: WRITERS, waitMs: 2000, answerMs: 2000 })
const stop = new AbortController()
const load = newLoad()
try {
  if (api === undefined) throw new Error('no process')
  const token = await signIn(api.url)
  await watchCredits(api.url, token, receiver.url())
  const { version: _, ...settings } = await call(api.url, token, 'GET', '/settings')
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    write(database, index === 0 ? PERSON.address : walletOf(index), {
      ...{ load, pauseMs: index === 0 ? 400 : 5, stop: stop.signal },
    }),
  )
  const askers = apis.map(({ url: base }) =>
    ask(base, token, { load, pauseMs: 200, stop: stop.signal }),
  )
  await wait(BEFORE_MS)
  const listsFromStandby = await countConnections(standby)
  const answeredBefore = { answered: load.answered, failed: load.failures.length }
  const killedAt = performance.now()
  await primary.kill()
  await wait(UNTIL_PROMOTION_MS)
  await standby.promote()
  const promotedAt = performance.now()
  await bouncer.pointTo(standby.url)
  const deliveredBefore = receiver.deliveries.length
  const foundMs = await Promise.all(
    apis.map(async (api) => {
      await untilWritable(api, token, settings)
      return performance.now() - promotedAt
    }),
  )
  const alertsDeadline = promotedAt + MINUTE_MS
  while (receiver.deliveries.length === deliveredBefore && performance.now() < alertsDeadline)
    await wait(20)
  const alertsAfterMs = performance.now() - promotedAt
  await wait(AFTER_MS)
  stop.abort()
  await Promise.all([...writers, ...askers])
  const result = {
    ...(await judge(database, load, receiver.deliveries)),
    promotedAfterMs: Math.round(promotedAt - killedAt),
    apisFoundItMs: foundMs.map(Math.round),
    alertsAfterMs: Math.round(alertsAfterMs),
    listsFromStandby,
    requestsBefore: answeredBefore,
    requests: { answered: load.answered, failed: load.failures.length },
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
  const isSlow = [...foundMs, alertsAfterMs].some((ms) => ms > FOUND_WITHIN_MS)
  const isLost = result.lostWrites + result.undelivered > 0
  if (isLost || isSlow || listsFromStandby === 0 || answeredBefore.failed > 0) process.exitCode = 1
} finally {
  stop.abort()
  await Promise.all([...apis, ...workers].map((process) => process.stop()))
  await Promise.all([database.close(), receiver.close(), bouncer.close()])
  await Promise.all([primary.remove(), standby.remove()])
}

function start(roles: string, over: Readonly<Record<string, string>> = {}) {
  return startServiceProcess({ DATABASE_URL: url, ROLES: roles, ...over }, ROOT)
}

/** Connections of the service to a server. */
async function countConnections(cluster: Cluster): Promise<number> {
  const text = "select count(*) from pg_stat_activity where application_name = 'flare-watchdog'"
  return Number(await cluster.tool('psql', '-Atc', text))
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
