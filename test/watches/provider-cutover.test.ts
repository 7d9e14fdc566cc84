import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** The registry of voters and the Relay move: from the next reward epoch on there are newer ones. */

const EPOCH = 452

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(['Healthy', 'Unregistered'], { newerFrom: EPOCH + 1 })
  const { identity } = world.simulation().provider('Healthy').accounts
  await world.watch('Healthy')
  const made = await world.alice.request('POST', '/watches', {
    type: 'provider-eligibility',
    target: { provider: identity.address },
    settings: {},
  })
  expect(made.status).toBe(201)
  await world.behave('Unregistered', 'unregistered')
  await world.simulation().playRounds(4)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

async function view(name: string) {
  const { identity } = world.simulation().provider(name).accounts
  const path = `/provider-fsp?provider=${identity.address}&rounds=6`
  const { body } = await world.alice.request('GET', path)
  return body
}

/** State of the running service. */
async function state(name: string) {
  const { app } = world
  const running = world.running()
  const signal = new AbortController().signal
  const tip = await running.chain.confirmedBlock(app.confirmations, signal)
  const { identity } = world.simulation().provider(name).accounts
  const [found] = await running.facts.providers([identity.address], tip, signal)
  return found
}

test('after a restart between the move and the next epoch providers are known by the former registry', async () => {
  await world.simulation().playToRegistration()
  const before = Number((await world.sql`select max(round) as round from fsp_rounds`)[0]?.['round'])
  world.restart()
  await world.simulation().playRounds(3)
  await world.scan()
  const kept = await world.sql`select round from fsp_rounds where round > ${before}`
  expect(kept.length).toBeGreaterThan(0)
  expect(await state('Healthy')).toMatchObject({ rewardEpochId: EPOCH, isRegistered: true })
  expect(await state('Unregistered')).toMatchObject({ rewardEpochId: EPOCH, isRegistered: true })
  expect(await view('Healthy')).toMatchObject({
    rewardEpoch: EPOCH,
    registered: true,
    registeredNext: true,
    inPolicy: true,
    stale: false,
  })
  expect(await view('Unregistered')).toMatchObject({ registered: true, registeredNext: false })
  expect(await world.events('Healthy')).toEqual([])
})

test('a provider that is not in the newer registry has an alert in that time', async () => {
  const since = world.simulation().registrationSince ?? 0
  await world.simulation().playTo(since + 18 * 60, { inFull: true })
  world.restart()
  await world.scan()
  expect(await world.events('Unregistered')).toEqual(['fsp.registration critical'])
  expect(await world.events('Healthy')).toEqual([])
})

test('after a restart around the beginning of the epoch rounds of the former Relay are judged as before', async () => {
  await world.simulation().playToEpochEnd()
  world.restart()
  await world.simulation().playRounds(3)
  await world.scan()
  expect(await world.events('Healthy')).toEqual([])
  const body = await view('Healthy')
  expect(body).toMatchObject({ rewardEpoch: EPOCH + 1, registered: true, inPolicy: true })
  const last = body.rounds.find(({ id }: { readonly id: number }) => id === (EPOCH + 1) * 3360 - 1)
  expect(last.ftso).toEqual({ commit: 'ok', reveal: 'ok', signature: 'ok' })
})
