import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningJobs } from '#src/jobs/runner.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** The only endpoint is an ordinary node, which keeps the states of its newest 32 blocks. */

const STATE_BLOCKS = 32

let world: RoundWorld
let jobs: RunningJobs | undefined

beforeAll(async () => {
  world = await roundWorld(['Healthy', 'Silent', 'Poor'], { isAlone: true })
  world.primary.behave({ stateBlocks: STATE_BLOCKS })
  await world.behave('Silent', 'no-commit')
  await world.simulation().playRounds(6, 30)
}, 60_000)
afterAll(async () => {
  await jobs?.stop()
  await world.close()
})

async function lastRound(): Promise<number> {
  const [row] = await world.sql`select max(round) as round from fsp_rounds`
  return Number(row?.['round'] ?? -1)
}

/** Waits until the last complete round is stored and judged. */
async function follow(): Promise<void> {
  const complete = world.simulation().round - 3
  const indexed = async () => {
    const [row] = await world.sql`select block_number as block from fsp_progress`
    return Number(row?.['block'] ?? -1)
  }
  const judged = async () => {
    const [row] = await world.sql`
      select block_number as block from observation_cursors where type = 'provider-fsp'`
    return Number(row?.['block'] ?? -1)
  }
  while ((await lastRound()) < complete || (await judged()) < (await indexed())) await wait(50)
}

/** Plays one round after another, and waits after each as a service that follows the chain. */
async function playAndFollow(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await world.simulation().playRounds(1)
    await world.devnet.mine(2, 1)
    await follow()
  }
}

/**
 * Alerts about a provider. The clock of this world leaps by a round, which the service sees as time without data, so
 * alerts about that are left out.
 */
const eventsOf = async (name: string) =>
  (await world.events(name))
    .map((event) => event.split(' ')[0])
    .filter((event) => !event?.startsWith('fsp.monitoring'))

test('a first start judges the rounds before the states that the node has, and follows the chain', async () => {
  jobs = await world.start()
  await follow()
  await playAndFollow(3)
  expect(await eventsOf('Silent')).toContain('fsp.ftso-commit')
  expect(await eventsOf('Healthy')).toEqual([])
})

test('what is only in the state is seen while the service follows the chain', async () => {
  await world.behave('Poor', 'low-balance')
  await playAndFollow(3)
  expect(await eventsOf('Poor')).toContain('fsp.balance-low')
})

test('after an absence of half an hour the rounds in between are judged, and no state that is gone is waited for', async () => {
  await jobs?.stop()
  const before = await lastRound()
  await world.simulation().recover('Silent')
  await world.simulation().playRounds(20, 30)
  world.restart()
  jobs = await world.start()
  await follow()
  const rounds =
    await world.sql`select count(*)::int as count from fsp_rounds where round > ${before}`
  expect(rounds[0]?.['count']).toBeGreaterThanOrEqual(18)
  expect(await eventsOf('Silent')).toContain('fsp.ftso-commit.recovered')
  await playAndFollow(2)
  expect(await eventsOf('Healthy')).toEqual([])
  expect(world.primary.traffic().refused.pruned).toBeGreaterThan(0)
})
