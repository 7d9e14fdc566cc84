import { afterAll, beforeAll, expect, test } from 'vitest'
import { getProviderView } from '#src/watches/provider-view.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** The error budgets of the minimal conditions, in reward epochs of 100 rounds. */

const TIMING = {
  roundsPerEpoch: 100,
  initializationSeconds: 900,
  randomAcquisitionSeconds: 90,
  registrationSeconds: 300,
  uptimeVoteSeconds: 180,
  publicationSeconds: 360,
}
const NAMES = ['Healthy', 'Offband', 'Voteless', 'Offline', 'Idle'] as const
const GOOD_ROUNDS = 16
const BAD_ROUNDS = 26

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(NAMES, { timing: TIMING })
  // The epoch in force began before the service.
  await world.simulation().playToEpochEnd()
  await world.scan()
}, 120_000)
afterAll(() => world.close())

async function play(rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    await world.simulation().playRounds(1)
    await world.publish()
    await world.read()
  }
  await world.scan()
}

async function conditionsOf(name: (typeof NAMES)[number]): Promise<readonly string[]> {
  const events = await world.events(name)
  return events.filter((event) => event.startsWith('fsp.mc-'))
}

test('an alert tells once how much of the budget is used, and that it does not last', async () => {
  await play(GOOD_ROUNDS)
  for (const name of NAMES) expect([name, await conditionsOf(name)]).toEqual([name, []])
  await world.behave('Offband', 'anchors-out-of-band')
  await world.behave('Voteless', 'no-bit-vote')
  await world.behave('Offline', 'validator-offline')
  await world.behave('Idle', 'no-fast-updates')
  await play(BAD_ROUNDS)
  const all = ['warning', 'warning', 'critical']
  expect(await conditionsOf('Healthy')).toEqual([])
  expect(await conditionsOf('Offband')).toEqual(all.map((severity) => `fsp.mc-anchor ${severity}`))
  expect(await conditionsOf('Voteless')).toEqual(['fsp.mc-fdc warning'])
  expect(await conditionsOf('Offline')).toEqual(all.map((severity) => `fsp.mc-uptime ${severity}`))
  const alerts = await world.alerts('Offband')
  const budgets = alerts.filter(({ event }) => event === 'fsp.mc-anchor')
  expect(budgets.map(({ data }) => data['stage']).toSorted()).toEqual(['early', 'most', 'spent'])
}, 240_000)

test('the view of a provider has the budget of each condition', async () => {
  const provider = world.simulation().provider('Offband').accounts.identity.address
  const { minimalConditions } = await getProviderView(world.running(), { provider, rounds: 1 })
  expect(minimalConditions.anchor?.used).toBeGreaterThan(1)
  expect(minimalConditions.anchor).toMatchObject({ minimum: 0.8, roundsToMiss: 0 })
  expect(minimalConditions.fdc).toMatchObject({ rate: 1, used: 0, roundsToMiss: 40 })
  expect(minimalConditions.uptime).toMatchObject({ rate: 1, used: 0 })
  expect(minimalConditions.fastUpdates?.used).toBeLessThan(1)
}, 60_000)

test('a new reward epoch has a new budget', async () => {
  for (const name of NAMES) await world.simulation().recover(name)
  await world.simulation().playToEpochEnd()
  await world.scan()
  await play(4)
  for (const [name, id] of [
    ['Offband', 'mc-anchor'],
    ['Offline', 'mc-uptime'],
  ] as const) {
    expect((await conditionsOf(name)).at(-1)).toBe(`fsp.${id}.recovered info`)
  }
}, 120_000)
