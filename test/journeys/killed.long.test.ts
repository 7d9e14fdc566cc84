import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'
import { runs } from '../support/runs.ts'
import { startServiceProcess } from '../support/service-process.ts'

/** The process may die at any moment: the alert exists once and arrives. */

const FLR = 10n ** 18n
/** Longest lifetime of a process after it is ready: it dies while observing, raising or sending. */
const LIFE_MS_MAX = 300
/** Random lifetimes, one of each equal part of that time. */
const KILLS = runs(2, 8)
const LIVES_MS = Array.from(
  { length: KILLS },
  (_, part) => ((part + Math.random()) * LIFE_MS_MAX) / KILLS,
)

let world: World
let alice: Client

beforeAll(async () => {
  world = await harness()
  // The processes use the machine's clock.
  world.clock.set(new Date(Date.now()))
  alice = await withTrial(await signIn(world, 'alice'))
  const { body } = await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  world.receiver.setSecret('main', body.secret)
  await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    target: { address: world.devnet.people.bob.account.address, asset: 'FLR' },
    settings: { threshold: '1' },
  })
  await world.observe()
})
afterAll(() => world.close())

function startWorker() {
  return startServiceProcess({
    DATABASE_URL: world.database.url,
    FLARE_RPC_URLS: world.rpc.url,
    ROLES: 'watcher,delivery',
    EVALUATION_INTERVAL_MS: '50',
    // A watcher killed a moment ago keeps its lock until the server notices.
  })
}

test('a process killed between the transfer and the delivery loses and repeats nothing', async () => {
  const { devnet, receiver } = world
  const [carol, bob] = [devnet.people.carol.account.address, devnet.people.bob.account.address]
  await devnet.transfer(carol, bob, 5n * FLR)
  await devnet.mine(2)

  for (const lifeMs of LIVES_MS) {
    const worker = await startWorker()
    await wait(lifeMs)
    await worker.kill()
  }
  const worker = await startWorker()
  await receiver.waitFor(({ hook }) => hook === 'main', 90_000)
  await worker.stop()

  const { body } = await alice.request('GET', '/alerts')
  expect(body.data).toHaveLength(1)
  expect(body.data[0]).toMatchObject({ data: { changeAmount: (5n * FLR).toString() } })
  const ids = receiver.deliveries.map(({ json }) => (json as { deliveryId: string }).deliveryId)
  expect(new Set(ids).size).toBe(1)
}, 180_000)
