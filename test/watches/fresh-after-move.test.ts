import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everySlice } from '#src/db/slices.ts'
import { observeWatches } from '#src/jobs/observe-watches.ts'
import { readTip } from '#src/jobs/read-tip.ts'
import { startJobs } from '#src/jobs/runner.ts'
import { scanRounds } from '#src/jobs/scan-rounds.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/**
 * A first start while the contract registry names a newer registry of voters, and the voters of the reward epoch in
 * force are in the former one, which nothing names any more.
 */

const EPOCH = 452
/** First topic of the event with which a signing policy is fixed. */
const POLICY_TOPIC = '0x91d0280e969157fc6c5b8f952f237b03d934b18534dafcac839075bbc33522f8'

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld([], {
    unwatched: ['Healthy', 'Silent'],
    newerFrom: EPOCH + 1,
    isAlone: true,
  })
  await world.simulation().playRounds(1)
  await world.simulation().playToRegistration()
  await world.behave('Silent', 'no-commit')
}, 60_000)
afterAll(() => world.close())

/** Starts another service with an empty database, with a watch for each of both providers. */
async function freshService() {
  const lines: string[] = []
  const warn = (fields: object, message: string) =>
    lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { ...silentLogger, warn }
  const fresh = await world.fresh(log)
  const { alice } = fresh
  const watches = new Map<string, number>()
  for (const name of ['Healthy', 'Silent']) {
    const { identity } = world.simulation().provider(name).accounts
    const body = {
      type: 'provider-fsp',
      target: { provider: identity.address },
      settings: {},
    }
    const made = await alice.request('POST', '/watches', body)
    expect(made.status).toBe(201)
    watches.set(name, made.body.id)
  }
  const jobs = await startJobs({ ...fresh.app, slices: everySlice() }, fresh.service.sql, [
    readTip,
    scanRounds,
    observeWatches,
  ])
  return {
    lines,
    /** What other types of watches know of a provider. */
    state: async (name: string) => {
      const { app } = fresh
      const { signal } = new AbortController()
      const tip = await app.chain.confirmedBlock(app.confirmations, signal)
      const { identity } = world.simulation().provider(name).accounts
      const [found] = await app.facts.providers([identity.address], tip, signal)
      return found
    },
    eventsOf: async (name: string): Promise<string[]> => {
      const { body } = await alice.request('GET', `/alerts?watchId=${watches.get(name)}&limit=250`)
      return body.data.map(({ event }: { readonly event: string }) => event)
    },
    rounds: async () => {
      const [row] = await fresh.app.db.execute<{ count: number }>(
        'select count(*)::int as count from fsp_rounds',
      )
      return row?.count ?? 0
    },
    /** Whether providers were judged at the present time of the clock, and have current data. */
    isCurrent: async () => {
      const [row] = await fresh.app.db.execute<{ observedAt: string | null; since: string | null }>(
        `select observed_at as "observedAt", failing_since as since from observation_cursors
        where type = 'provider-fsp'`,
      )
      if (row?.observedAt == null) return false
      return row.since === null && new Date(row.observedAt) >= world.clock.now()
    },
    async close() {
      await jobs.stop()
      await fresh.close()
    },
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(200)
}

/**
 * Plays rounds until the provider that does not commit is reported. A round begins when the former one is judged: the
 * clock follows the chain, so that a service which is left behind would rightly say that it has no data.
 */
async function playUntilReported(service: Awaited<ReturnType<typeof freshService>>) {
  await until(async () => {
    await world.simulation().playRounds(1)
    await world.devnet.mine(2, 1)
    await until(service.isCurrent)
    return (await service.eventsOf('Silent')).includes('fsp.ftso-commit')
  })
}

test('judges the rounds by the policy that the Relay holds', async () => {
  const service = await freshService()
  await playUntilReported(service)
  expect(await service.eventsOf('Healthy')).toEqual([])
  expect(await service.state('Healthy')).toMatchObject({
    rewardEpochId: EPOCH,
    isRegistered: true,
  })
  await service.close()
})

test('rests no endpoint while the policy cannot be found', async () => {
  world.primary.rewrite('eth_getLogs', (answer, params) =>
    JSON.stringify(params).includes(POLICY_TOPIC) ? [] : answer,
  )
  const service = await freshService()
  const isLogged = (text: string) => service.lines.some((line) => line.includes(text))
  await until(async () => isLogged('no signing policy in force was found'))
  expect(await service.rounds()).toBe(0)
  expect(isLogged('rpc endpoint failed')).toBe(false)
  await service.close()
})
