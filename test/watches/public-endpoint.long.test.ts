import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import type { EndpointRules } from '#sandbox/devnet/rpc-proxy.ts'
import type { RunningJobs } from '#src/jobs/runner.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** The service runs with one public endpoint: several nodes behind one address, and limits of every kind. */

let world: RoundWorld | undefined
let jobs: RunningJobs | undefined

afterEach(async () => {
  await jobs?.stop()
  await world?.close()
})

/** Nodes of which some do not have the newest blocks yet. */
const NODES = { behind: [0, 0, 1, 2], order: 'random' } as const

const kinds: readonly (readonly [string, EndpointRules])[] = [
  ['caps events at 30 blocks', { nodes: NODES, logBlocks: { max: 30, refusal: 'quickNodeBare' } }],
  ['caps events at 5 blocks', { nodes: NODES, logBlocks: { max: 5, refusal: 'quickNode' } }],
  ['allows 20 requests a second', { nodes: NODES, rate: { perSecond: 20 } }],
  ['has no receipts of blocks', { nodes: NODES, missingMethods: ['eth_getBlockReceipts'] }],
]

test.each(kinds)(
  'one whose nodes are up to two blocks apart, and that %s, is enough: every round is judged, and it is never taken for one that fails',
  async (_, rules) => {
    const warnings: unknown[] = []
    const record = (fields: object, message: string) => {
      if (message.startsWith('rpc endpoint')) warnings.push({ message, fields })
    }
    const log: Logger = { ...silentLogger, warn: record, error: record }
    const only = await roundWorld(['Healthy', 'Silent'], { isAlone: true, log })
    world = only
    only.primary.behave(rules)
    await only.behave('Silent', 'no-commit')
    await only.simulation().playRounds(5, 30)
    jobs = await only.start()
    const first = only.simulation().round
    for (let round = 0; round < 3; round += 1) {
      await only.simulation().playRounds(1, 30)
      await only.devnet.mine(4, 1)
      await judged(only, only.simulation().round - 3)
    }
    const kept =
      await only.sql`select round from fsp_rounds where round between ${first - 2} and ${first}`
    expect(kept).toHaveLength(3)
    const alerts = async (name: string) =>
      (await only.events(name)).filter((event) => !event.startsWith('fsp.monitoring'))
    await expect
      .poll(() => alerts('Silent'), { timeout: 30_000 })
      .toContain('fsp.ftso-commit warning')
    expect(await alerts('Healthy')).toEqual([])
    expect(warnings).toEqual([])
    // A cap is learned from its first refusals.
    expect(only.primary.traffic().refused.range).toBeLessThanOrEqual(2)
  },
  120_000,
)

const READINGS = 6

test.each([
  [1, 4],
  [12, 1.5],
])('a running service that reads the newest of %i new blocks makes at most %d requests for each', async (blocks, most) => {
  // While this clock stands, the rate of blocks is unknown, and what was read is recent: nothing is read but when the
  // test says so.
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const env = {
      EVALUATION_INTERVAL_MS: '60000',
      FLARE_RPC_PER_MINUTE: '999999',
      ROLES: 'watcher',
    }
    const only = await roundWorld(['Healthy', 'Silent'], { isAlone: true, env })
    world = only
    const simulation = only.simulation()
    await only.behave('Silent', 'no-commit')
    await simulation.playRounds(5, 30)
    await only.service.start()
    await readAll(only)
    await readAll(only)
    let newest = 0
    only.primary.rewrite('eth_getBlockByNumber', (block, params) => {
      if (Object(params)[0] === 'latest') newest += 1
      return block
    })
    only.primary.resetCounts()
    for (let reading = 0; reading < READINGS; reading += 1) {
      await only.devnet.mine(blocks, 1)
      await only.follow()
      await readAll(only)
    }
    const { requests, refused, refusedTwice } = only.primary.traffic()
    expect(newest).toBe(READINGS)
    expect(requests / (READINGS * blocks)).toBeLessThanOrEqual(most)
    expect([...Object.values(refused), refusedTwice]).toEqual(Array(7).fill(0))
  } finally {
    vi.useRealTimers()
  }
})

const tipOf = async ({ devnet }: RoundWorld) => Number(await devnet.client.getBlockNumber())

/** Runs every job, and waits until the watches are judged and the rounds are read up to the newest block. */
async function readAll(world: RoundWorld): Promise<void> {
  const before = await runsOfScan(world)
  world.service.runJobs()
  await expect.poll(() => judgedTo(world), { timeout: 30_000 }).toBe((await tipOf(world)) - 1)
  await expect.poll(() => runsOfScan(world), { timeout: 30_000 }).toBeGreaterThan(before)
}

async function runsOfScan({ app }: RoundWorld): Promise<number> {
  const text = await app.meters.registry.metrics()
  return Number(/^watchdog_job_runs_total.*scan-rounds.*success.* (\d+)$/m.exec(text)?.[1] ?? 0)
}

async function judgedTo({ sql }: RoundWorld): Promise<number> {
  const [row] = await sql`select block_number from observation_cursors where type = 'feed-move'`
  return Number(row?.['block_number'] ?? -1)
}

/** Waits until a round is stored. */
async function judged({ sql }: RoundWorld, round: number): Promise<void> {
  for (;;) {
    const [row] = await sql`select max(round)::int as round from fsp_rounds`
    if (Number(row?.['round'] ?? -1) >= round) return
    await wait(50)
  }
}
