import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { providerFsp } from '#src/watches/types/provider-fsp/index.ts'
import { runs } from '../support/runs.ts'
import { compareAll, createWatch } from './compared.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/**
 * Random rounds are judged twice: live, by the jobs with stored alerts, and by a backtest from the same first
 * round. Both give the same alerts at the same times, however late the jobs read the rounds.
 */

/** Number of random histories. Each is played on a local chain of its own. */
const RUNS = runs(1, 10)
const DAY_MS = 86_400_000

const PROVIDERS = ['Alpha', 'Bravo', 'Charlie', 'Delta']
const FAULTS = [
  'silent',
  'no-commit',
  'no-reveal',
  'no-signature',
  'late-reveal',
  'reveal-mismatch',
  'grace-signature',
  'no-bit-vote',
  'no-fdc-signature',
  'no-fast-updates',
  'long-fast-updates',
  'refused-fast-updates',
  'failing-transactions',
  'low-balance',
] as const satisfies readonly Behaviour[]

let world: RoundWorld | undefined
afterEach(() => world?.close())

const four = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.array(arbitrary, { minLength: PROVIDERS.length, maxLength: PROVIDERS.length })

/** One voting round: for each provider a fault or none. */
const step = fc.record({
  faults: four(fc.option(fc.constantFrom(...FAULTS))),
  /** What the jobs do after the round: nothing, read the rounds so far, or read them and judge the watches. */
  looks: fc.constantFrom('none', 'read', 'scan'),
})
const history = fc.record({
  steps: fc.array(step, { minLength: 8, maxLength: 12 }),
  cooldowns: four(fc.constantFrom(0, 180, 600)),
  areRecoveriesNotified: four(fc.boolean()),
})

test('a backtest returns the alerts that a watch of the provider fired in that time', async () => {
  const property = fc.asyncProperty(history, async (played) => {
    await world?.close()
    const running = await roundWorld([], { unwatched: PROVIDERS })
    world = running
    const watches = []
    for (const [index, name] of PROVIDERS.entries()) {
      const provider = running.simulation().provider(name).accounts.identity.address
      const recovery = { recovery: { enabled: played.areRecoveriesNotified[index] === true } }
      const signals = providerFsp.signals.map(({ id, events }) => ({
        id,
        enabled: true,
        ...(events.recovery !== undefined && recovery),
      }))
      const cooldownSeconds = played.cooldowns[index] ?? 0
      const body = { type: 'provider-fsp', target: { provider }, signals, cooldownSeconds }
      watches.push(await createWatch(running, body))
    }
    await running.simulation().playRounds(4)
    await running.scan()
    const [first] = await running.sql`select max(block_at) as at from fsp_rounds`
    for (const { faults, looks } of played.steps) {
      for (const [index, name] of PROVIDERS.entries()) {
        await running.simulation().recover(name)
        const fault = faults[index]
        if (fault != null) await running.behave(name, fault)
      }
      await running.simulation().playRounds(1)
      if (looks === 'scan') await running.scan()
      if (looks === 'read') {
        await running.devnet.mine(2, 1)
        await running.read()
      }
    }
    await running.scan()
    // The backtest of one day then begins with the round that was the newest at the first scan.
    running.clock.set(new Date(first?.['at'].getTime() + DAY_MS))
    alertCount += await compareAll(running, watches, { days: 1 })
  })
  let alertCount = 0
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
  expect(alertCount).toBeGreaterThan(RUNS)
})
