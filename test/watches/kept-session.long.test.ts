import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningJobs } from '#src/jobs/runner.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** What was read and proven is not read again after a failure of the only endpoint. */

let world: RoundWorld
let jobs: RunningJobs | undefined

beforeAll(async () => {
  world = await roundWorld(['Silent'], { isAlone: true })
  await world.simulation().playRounds(4, 30)
}, 60_000)
afterAll(async () => {
  await jobs?.stop()
  await world.close()
})

/** Numbers of the blocks whose transactions are read, through the first endpoint. */
function recordBlocks(): number[] {
  const read: number[] = []
  world.primary.rewrite('eth_getBlockByNumber', (answer, params) => {
    const [block, isWhole] = params as [string, boolean]
    if (isWhole) read.push(Number(block))
    return answer
  })
  return read
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(50)
}

async function lastRound(): Promise<number> {
  const [row] = await world.sql`select max(round) as round from fsp_rounds`
  return Number(row?.['round'] ?? -1)
}

/** Adds a block, and waits until the last confirmed one is read. */
async function readNext(read: readonly number[]): Promise<number> {
  await world.devnet.mine(1, 1)
  const tip = Number(await world.devnet.client.getBlockNumber())
  const confirmed = tip - world.app.confirmations + 1
  await until(async () => read.includes(confirmed))
  return confirmed
}

test('the blocks of open rounds are read once, however often the endpoint refuses to go on', async () => {
  const read = recordBlocks()
  jobs = await world.start()
  await until(async () => (await lastRound()) >= world.simulation().round - 3)
  // When the second block is read, the run that read the first has ended.
  const known = await readNext(read)
  await readNext(read)
  read.length = 0
  world.primary.resetCounts()
  // Pauses between failures grow, so more of them would take minutes.
  const syncing = { code: -32000, message: 'node is syncing' }
  world.primary.failNext(5, syncing, 'eth_getBlockByNumber')
  await world.simulation().playRounds(1, 30)
  await until(async () => world.primary.traffic().refused.fault >= 5)
  await world.simulation().playRounds(1, 30)
  await world.devnet.mine(2, 1)
  await until(async () => (await lastRound()) >= world.simulation().round - 3)
  expect(read.length).toBeGreaterThan(10)
  expect(read.filter((block) => block <= known)).toEqual([])
})
