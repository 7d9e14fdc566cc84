import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Alerts about data providers in a new reward epoch. */

const NAMES = ['Healthy', 'Unregistered', 'Late', 'Pushed', 'Mover', 'Collector'] as const
const EPOCH = 452
const FIRST_ROUND = (EPOCH + 1) * 3360
const MINUTE = 60

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(NAMES)
  const simulation = world.simulation()
  await simulation.behave('Unregistered', 'unregistered')
  await simulation.behave('Late', 'late-registration')
  await simulation.behave('Pushed', 'not-in-policy')
  await simulation.behave('Mover', 'changed-submit-address')
  await simulation.behave('Collector', 'unclaimed-rewards')
}, 60_000)
afterAll(() => world.close())

/** Alerts since the last call, by provider; providers without any are omitted. */
const heard = new Map<string, number>()
async function news(): Promise<Readonly<Record<string, readonly string[]>>> {
  const all = await Promise.all(
    NAMES.map(async (name) => {
      const events = await world.events(name)
      const fresh = events.slice(heard.get(name) ?? 0)
      heard.set(name, events.length)
      return [name, fresh.toSorted()] as const
    }),
  )
  return Object.fromEntries(all.filter(([, events]) => events.length > 0))
}

/** Simulates in full up to a number of minutes after the opening of the registration. */
async function afterOpening(minutes: number): Promise<void> {
  const since = world.simulation().registrationSince ?? 0
  await world.simulation().playTo(since + minutes * MINUTE, { inFull: true })
  await world.scan()
}

test('an open registration causes no alert for 15 minutes', async () => {
  await world.simulation().playRounds(3)
  await world.scan()
  await world.simulation().playToRegistration()
  await world.scan()
  await afterOpening(13)
  expect(await news()).toEqual({})
})

test('after that an unregistered provider fires an alert, and recovers when it registers', async () => {
  await afterOpening(18)
  expect(await news()).toEqual({
    Unregistered: ['fsp.registration critical'],
    Late: ['fsp.registration critical'],
  })
  const [alert] = await world.alerts('Unregistered')
  expect(alert?.data).toMatchObject({
    provider: world.simulation().provider('Unregistered').accounts.identity.address,
    rewardEpochId: EPOCH + 1,
    minutes: 15,
    isClosed: false,
  })
  await afterOpening(24)
  expect(await news()).toEqual({ Late: ['fsp.registration.recovered info'] })
})

test('a provider that is not in the next policy fires an alert when the policy is initialized', async () => {
  await afterOpening(34)
  expect(await news()).toEqual({
    Unregistered: ['fsp.not-in-policy critical'],
    Pushed: ['fsp.not-in-policy critical', 'fsp.registration critical'],
  })
  const alert = (await world.alerts('Pushed')).find(({ event }) => event === 'fsp.not-in-policy')
  expect(alert?.data).toMatchObject({
    rewardEpochId: EPOCH + 1,
    startVotingRoundId: FIRST_ROUND,
    active: false,
  })
})

test('rounds around the beginning of an epoch are judged by the policy of each', async () => {
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(3)
  await world.scan()
  // No alerts: neither for removed providers, nor for one with a new submit address.
  expect(await news()).toEqual({})
  const { identity, submit } = world.simulation().provider('Mover').accounts
  const path = `/provider-fsp?provider=${identity.address}&rounds=6`
  const { body } = await world.alice.request('GET', path)
  expect(body).toMatchObject({ rewardEpoch: EPOCH + 1, addresses: { submit: submit.address } })
  const commits = body.rounds.map((round: { id: number; ftso: { commit: string } }) => [
    round.id - FIRST_ROUND,
    round.ftso.commit,
  ])
  expect(commits.slice(-5)).toContainEqual([-1, 'ok'])
  expect(commits).toContainEqual([0, 'ok'])
  expect(commits).toContainEqual([1, 'ok'])
})

test('rewards that are unclaimed for more than a day fire an alert, which recovers when they are claimed', async () => {
  await world.simulation().playToPublication()
  await world.simulation().playRounds(4)
  await world.scan()
  expect(await news()).toEqual({})
  await world.simulation().playTo(world.clock.now().getTime() / 1000 + 25 * 3600)
  await world.simulation().playRounds(4)
  await world.scan()
  expect(await news()).toEqual({ Collector: ['fsp.rewards-unclaimed info'] })
  const [alert] = await world.alerts('Collector')
  expect(alert?.data).toMatchObject({ epochs: [EPOCH] })
  await world.simulation().recover('Collector')
  await world.simulation().playRounds(3)
  await world.scan()
  expect(await news()).toEqual({ Collector: ['fsp.rewards-unclaimed.recovered info'] })
})

test('a provider that is registered and in the policy again recovers', async () => {
  await world.simulation().recover('Unregistered')
  await world.simulation().recover('Pushed')
  await world.simulation().recover('Late')
  await world.simulation().playToRegistration()
  await world.scan()
  await afterOpening(5)
  expect(await news()).toEqual({
    Unregistered: ['fsp.registration.recovered info'],
    Pushed: ['fsp.registration.recovered info'],
  })
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(2)
  await world.scan()
  expect(await news()).toEqual({
    Unregistered: ['fsp.not-in-policy.recovered info'],
    Pushed: ['fsp.not-in-policy.recovered info'],
  })
  expect(await world.events('Healthy')).toEqual([])
  expect(await world.events('Mover')).toEqual([])
})
