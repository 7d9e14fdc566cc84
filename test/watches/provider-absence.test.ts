import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Alerts about data providers after a pause longer than the states that nodes keep. */

const NAMES = ['Healthy', 'Unregistered', 'Late', 'Mute'] as const
const MINUTE = 60

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(NAMES.slice(0, 3), { unwatched: ['Mute'] })
  await world.watch('Mute', [
    { id: 'fast-updates', enabled: true, parameters: { probability: 1e-3 } },
  ])
  await world.simulation().playRounds(4)
  await world.scan()
}, 60_000)
afterAll(() => world.close())

const heard = new Map<string, number>()
async function news(): Promise<Readonly<Record<string, readonly string[]>>> {
  const all = await Promise.all(
    NAMES.map(async (name) => {
      const events = await world.events(name)
      const fresh = events.slice(heard.get(name) ?? 0)
      heard.set(name, events.length)
      return [name, fresh.filter((event) => !/monitoring/.test(event)).toSorted()] as const
    }),
  )
  return Object.fromEntries(all.filter(([, events]) => events.length > 0))
}

/**
 * Simulates up to a number of minutes after the next opening of the registration, without
 * observing.
 */
async function absentUntil(minutes: number): Promise<void> {
  await world.simulation().playToRegistration()
  const since = world.simulation().registrationSince ?? 0
  await world.simulation().playTo(since + minutes * MINUTE, { inFull: true })
}

test('a registration that is missing when the service starts again after 19 minutes fires an alert, and recovers', async () => {
  await world.behave('Unregistered', 'unregistered')
  await world.behave('Late', 'late-registration')
  await absentUntil(19)
  world.restart()
  await world.scan()
  expect(await news()).toEqual({
    Unregistered: ['fsp.registration critical'],
    Late: ['fsp.registration critical'],
  })
  const since = world.simulation().registrationSince ?? 0
  await world.simulation().playTo(since + 24 * MINUTE, { inFull: true })
  await world.scan()
  expect(await news()).toEqual({ Late: ['fsp.registration.recovered info'] })
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(3)
  await world.scan()
  expect(await news()).toEqual({ Unregistered: ['fsp.not-in-policy critical'] })
})

test('a registration that came late while the service was stopped fires an alert and recovers', async () => {
  await world.simulation().recover('Unregistered')
  await absentUntil(29)
  world.restart()
  await world.scan()
  expect(await news()).toEqual({
    Late: ['fsp.registration critical', 'fsp.registration.recovered info'],
    Unregistered: ['fsp.registration.recovered info'],
  })
  const [, , alert] = await world.alerts('Late')
  expect(alert?.data).toMatchObject({ minutes: 15, isClosed: false })
  await world.simulation().playToEpochEnd()
  await world.simulation().playRounds(3)
  await world.scan()
  expect(await news()).toEqual({ Unregistered: ['fsp.not-in-policy.recovered info'] })
})

test('fast updates that were missing while the service was stopped fire an alert, and recover', async () => {
  await world.behave('Mute', 'no-fast-updates')
  const { round, timing } = world.simulation()
  const begins = timing.firstRoundStart + round * timing.roundSeconds
  await world.simulation().playRounds(9, 25)
  expect(world.clock.now().getTime() / 1000 - begins).toBeGreaterThan(600)
  world.restart()
  await world.scan()
  expect(await news()).toEqual({ Mute: ['fsp.fast-updates critical'] })
  await world.simulation().recover('Mute')
  await world.simulation().playRounds(9)
  world.restart()
  await world.scan()
  expect(await news()).toEqual({ Mute: ['fsp.fast-updates.recovered info'] })
})
