import { setTimeout as wait } from 'node:timers/promises'
import { startReceiver } from '#sandbox/receiver.ts'
import { connect } from '#src/db/connection.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { type ServiceProcess, startServiceProcess } from '../../test/support/process.ts'
import { PROGRAMS, startCluster, startStandby } from './cluster.ts'
import { call, judge, newLoad, PERSON, signIn, walletOf, watchCredits, write } from './load.ts'

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
const load = newLoad()
try {
  const token = await signIn(processes[0]?.url ?? '')
  await watchCredits(processes[0]?.url ?? '', token, receiver.url())
  const { version: _, ...settings } = await call(processes[0]?.url ?? '', token, 'GET', '/settings')
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    write(database, index === 0 ? PERSON.address : walletOf(index), {
      ...{ load, pauseMs: index === 0 ? 400 : 5, stop: stop.signal },
    }),
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
    ...(await judge(database, load, receiver.deliveries)),
    promotedAfterMs: Math.round(promotedAt - killedAt),
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
