import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type WatchWorld, watchWorld } from './world.ts'

/** A running service whose only endpoint refuses what one type of watches needs. */

const FLR = 10n ** 18n
const BLOCKS = 30

let world: WatchWorld

beforeAll(async () => {
  world = await watchWorld({ isAlone: true, env: { EVALUATION_INTERVAL_MS: '50' } })
}, 60_000)
afterAll(() => world.close())

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(50)
}

/** Adds a block, and waits until the observers may read it. */
async function publishBlock(): Promise<void> {
  await world.devnet.mine(1, 1)
  await world.follow()
  const confirmed = Number(await world.devnet.client.getBlockNumber()) - world.app.confirmations + 1
  await until(async () => {
    const [row] = await world.sql`select block_number as block from published_blocks`
    return Number(row?.['block'] ?? -1) >= confirmed
  })
}

test('a type that cannot be read is not tried with every block, and is judged when it can be read again', async () => {
  const { carol, bob } = world.devnet.people
  const target = { address: carol.account.address, asset: 'FLR' }
  const { id } = await world.watch('wallet-balance', target, { threshold: '1' })
  const jobs = await world.start()
  await publishBlock()
  await until(async () => {
    const [row] = await world.sql`select observation from targets where type = 'wallet-balance'`
    return row?.['observation'] !== null
  })
  world.primary.failNext(Number.MAX_SAFE_INTEGER, { code: -32000, message: 'broken' }, 'eth_call')
  world.primary.resetCounts()
  for (let block = 0; block < BLOCKS; block += 1) await publishBlock()
  expect(world.primary.count('eth_call')).toBeGreaterThan(0)
  expect(world.primary.count('eth_call')).toBeLessThan(BLOCKS / 2)
  await world.primary.up()
  await world.devnet.transfer(carol.account.address, bob.account.address, 500n * FLR)
  await publishBlock()
  await publishBlock()
  await until(async () => (await world.events(id)).some((event) => !/monitoring/.test(event)))
  await jobs.stop()
})
