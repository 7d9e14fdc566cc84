import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testClock } from '../support/clock.ts'
import { buyer, draftOf, ledgerOf, type PayWorld, payWorld, topupOf } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** Several processes look for payments: one at a time, and another when that one dies. */

const PATIENCE = { timeout: 20_000, interval: 100 }

let world: PayWorld
let alice: Client
const watchers: ServiceProcess[] = []

beforeAll(async () => {
  // The processes use the machine's clock.
  world = await payWorld({}, testClock(new Date()))
  alice = await buyer(world, 'alice')
})
afterAll(async () => {
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  await world.close()
})

async function startWatcher(): Promise<ServiceProcess> {
  const { database, environment } = world
  const watcher = await startServiceProcess({
    ...environment,
    DATABASE_URL: database.url,
    ROLES: 'watcher',
    EVALUATION_INTERVAL_MS: '250',
  })
  watchers.push(watcher)
  return watcher
}

/** Pays a quote and waits until a process has credited it. */
async function payAndWait(asset: string): Promise<void> {
  const draft = await draftOf(alice, { asset })
  await world.pay(draft)
  await world.devnet.mine(2)
  await vi.waitFor(async () => {
    expect((await topupOf(alice, draft)).status).toBe('credited')
  }, PATIENCE)
}

test('a payment is credited once by two processes, and by the other one after one was killed', async () => {
  const first = await startWatcher()
  await startWatcher()
  await payAndWait('FLR')
  expect((await ledgerOf(alice)).balance).toBe(10_000)
  await first.kill()
  watchers.shift()
  await payAndWait('WDG')
  await payAndWait('XRP')
  expect((await ledgerOf(alice)).balance).toBe(31_000)
}, 90_000)
