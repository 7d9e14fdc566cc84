import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
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
  },
  120_000,
)

/** Waits until a round is stored. */
async function judged({ sql }: RoundWorld, round: number): Promise<void> {
  for (;;) {
    const [row] = await sql`select max(round)::int as round from fsp_rounds`
    if (Number(row?.['round'] ?? -1) >= round) return
    await wait(50)
  }
}
