import { afterEach, expect, test } from 'vitest'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { newDeliveryId } from '#src/delivery/delivery-id.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'

/** Processes on hosts whose clocks are wrong. */

const databases: FreshDatabase[] = []
const services: Service[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop()
  for (const database of databases.splice(0)) await database.drop()
})

/** Starts a process on a host that is some milliseconds ahead. */
async function start(database: FreshDatabase, hostAheadMs: number): Promise<Service> {
  const hostClock = { now: () => new Date(systemClock.now().getTime() + hostAheadMs) }
  const config = loadConfig(testEnvironment({ ROLES: 'api' }))
  const service = createApp(config, { databaseUrl: database.nearUrl, log: silentLogger, hostClock })
  services.push(service)
  await service.start()
  return service
}

async function problemsOf(service: Service): Promise<readonly string[]> {
  const { payload } = await service.internal.inject({ method: 'GET', url: '/readyz' })
  const { problems } = JSON.parse(payload) as { problems: { name: string; problem: string }[] }
  return problems.flatMap(({ name, problem }) => (name === 'clock' ? [problem] : []))
}

test('two processes on hosts a year ahead and behind go by the clock of the database, and say what is wrong', async () => {
  const database = await freshDatabase()
  databases.push(database)
  const ahead = await start(database, 400 * DAY_MS)
  const behind = await start(database, -400 * DAY_MS)
  for (const { app } of [ahead, behind]) {
    const [row] = await database.sql<{ ms: number }[]>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`
    expect(Math.abs(app.clock.now().getTime() - (row?.ms ?? 0))).toBeLessThan(2000)
  }
  expect(await problemsOf(ahead)).toEqual([
    expect.stringMatching(/^clock of this host is 345\d{5} s ahead of that of the database$/),
  ])
  expect(await problemsOf(behind)).toEqual([
    expect.stringMatching(/^clock of this host is 345\d{5} s behind that of the database$/),
  ])
})

test('a start after the clock of the database was set back by an hour makes due what was written before', async () => {
  const database = await freshDatabase()
  databases.push(database)
  const later = new Date(systemClock.now().getTime() + HOUR_MS)
  await database.sql`
    insert into delivery_queue (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position, envelope,
      kind, recovery, test, urgency, status, attempts, next_attempt_at, leased_until, created_at)
    values (${newDeliveryId(later)}, '', 1, 'webhook', '', '', ${later}, 1, '{}',
      'alert', false, false, 0, 'pending', 0, ${later}, ${new Date(later.getTime() + 60_000)}, ${later})`
  const { app } = await start(database, 0)
  const [row] = await database.sql<{ due: Date; leased: Date; written: Date }[]>`
    select next_attempt_at as due, leased_until as leased, created_at as written from deliveries`
  const nowMs = app.clock.now().getTime()
  expect(row?.due.getTime()).toBeLessThanOrEqual(nowMs)
  expect(row?.written.getTime()).toBeLessThanOrEqual(nowMs)
  expect(row?.leased.getTime()).toBeLessThanOrEqual(nowMs + 60_000)
})
