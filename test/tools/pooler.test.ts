import { sql as query } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { everySlice } from '#src/db/slices.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { judgeLedgers } from '#src/jobs/judge-ledgers.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type Bouncer, startBouncer } from '../../ops/rehearsal/bouncer.ts'
import { testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { testEnvironment } from '../support/environment.ts'
import { signIn, withTrial } from '../support/people.ts'

/** The service whose queries pass a PgBouncer in transaction mode with two connections to the server. */

const SERVERS = 2
const signal = new AbortController().signal

let database: FreshDatabase
let bouncer: Bouncer
let service: Service
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  const clock = testClock()
  ;[database, receiver] = await Promise.all([freshDatabase(), startReceiver({ clock })])
  bouncer = await startBouncer(database.url, SERVERS)
  const config = loadConfig(testEnvironment({ DATABASE_POOLER_URL: bouncer.url }))
  service = createApp(config, {
    databaseUrl: database.url,
    log: silentLogger,
    clock,
    slices: everySlice(),
  })
})
afterAll(async () => {
  await service.stop()
  await bouncer.close()
  await Promise.all([database.drop(), receiver.close()])
})

test('its statements and transactions share the connections of the pooler', async () => {
  const { db } = service.app
  const pid = query`select pg_backend_pid() as pid, pg_sleep(0.01), ${'x'}::text as parameter`
  const seen = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      if (index % 2 === 0) return await db.execute<{ pid: number }>(pid)
      return await db.transaction(async (tx) => {
        const [first] = await tx.execute<{ pid: number }>(pid)
        const [second] = await tx.execute<{ pid: number }>(pid)
        expect(second?.pid).toBe(first?.pid)
        return first === undefined ? [] : [first]
      })
    }),
  )
  expect(new Set(seen.flatMap((rows) => rows.map((row) => row.pid))).size).toBe(SERVERS)
})

test('requests, charges, evaluation and delivery work through it', async () => {
  const alice = await withTrial(await signIn(service, 'alice'))
  await giveCredits(service.app, alice.caller.wallet, 700)
  await alice.request('PUT', '/channels/webhook', { url: receiver.url() })
  const watch = { type: 'credits-balance', target: {}, settings: { limit: 1000 } }
  const made = await Promise.all(
    Array.from({ length: 8 }, () => alice.request('POST', '/watches', watch)),
  )
  expect(made.filter(({ status }) => status === 201)).not.toEqual([])
  expect(made.filter(({ status }) => status >= 500)).toEqual([])
  await judgeLedgers.run(service.app, signal, CHECK_EVERYTHING)
  await deliverAll(service.app)
  const { body } = await alice.request('GET', '/alerts')
  expect(body.data.length).toBeGreaterThan(0)
  expect(receiver.deliveries).toHaveLength(body.data.length)
})
