import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import { createApp, type Service } from '#src/app.ts'
import { proveLedger } from '#src/billing/account/proof.ts'
import { loadConfig } from '#src/config.ts'
import { migrate } from '#src/db/migrate.ts'
import { everySlice } from '#src/db/slices.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { judgeLedgers } from '#src/jobs/judge-ledgers.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type Cluster, startCluster } from '../../ops/rehearsal/cluster.ts'
import { testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { deliverAll } from '../support/deliver-all.ts'
import { testEnvironment } from '../support/environment.ts'
import { MIGRATIONS } from '../support/migrations.ts'
import { request, signIn, withTrial } from '../support/people.ts'

const signal = new AbortController().signal
const clock = testClock()
const services: Service[] = []
let cluster: Cluster
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  ;[cluster, receiver] = await Promise.all([startCluster(), startReceiver({ clock })])
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await Promise.all([cluster.remove(), receiver.close()])
})

function start(databaseUrl: string): Service {
  const service = createApp(loadConfig(testEnvironment()), {
    databaseUrl,
    log: silentLogger,
    clock,
    slices: everySlice(),
  })
  services.push(service)
  return service
}

test('a restored backup has its ledger, its tokens and its waiting deliveries', async () => {
  const before = start(cluster.url)
  await migrate(before.sql, MIGRATIONS)
  const alice = await withTrial(await signIn(before, 'alice'))
  await giveCredits(before.app, alice.caller.wallet, 700)
  await alice.request('PUT', '/channels/webhook', { url: receiver.url() })
  const watch = { type: 'credits-balance', target: {}, settings: { limit: 1000 } }
  expect((await alice.request('POST', '/watches', watch)).status).toBe(201)
  await judgeLedgers.run(before.app, signal, CHECK_EVERYTHING)
  const account = await alice.request('GET', '/account')
  const list = await alice.request('GET', '/alerts')
  expect(list.body.data).toHaveLength(1)

  await cluster.tool('pg_dump', '--format=custom', '--file=backup', 'watchdog')
  // Changes after the backup, which are lost with the database.
  await giveCredits(before.app, alice.caller.wallet, 5000)
  await before.stop()
  await cluster.tool('createdb', 'restored')
  await cluster.tool('pg_restore', '--dbname=restored', '--exit-on-error', 'backup')

  const after = start(cluster.url.replace('/watchdog', '/restored'))
  await migrate(after.sql, MIGRATIONS)
  const headers = { authorization: `Bearer ${alice.token}` }
  const get = (path: string) => request(after, 'GET', path, undefined, headers)
  expect((await get('/account')).body).toEqual(account.body)
  expect((await get('/alerts')).body).toEqual(list.body)
  expect(await proveLedger(after.app, signal)).toMatchObject({ wallets: 1, wrong: [] })
  await deliverAll(after.app)
  expect(receiver.deliveries.map(({ json }) => json)).toMatchObject([
    { event: 'credits.low-balance', alertId: list.body.data[0].id },
  ])
})
