import { afterEach, describe, expect, test } from 'vitest'
import { type Notified, type WatchWorld, watchWorld } from './world.ts'

/** Watches of data providers while whole reward epochs are played on a local chain. */

const NAMES = ['Alpha', 'Bravo', 'Charlie', 'Delta', 'Echo']
const EPOCH = 452
const HOUR = 3600

let world: WatchWorld

async function begin(env: Readonly<Record<string, string>> = {}, names = NAMES) {
  world = await watchWorld({ simulation: { providers: names.map((name) => ({ name })) }, env })
}
afterEach(() => world.close())

const identity = (name: string) => world.simulation().provider(name).accounts.identity.address
const watch = (type: string, name: string) => world.watch(type, { provider: identity(name) })
const ends = () => 1_658_430_000 + 90 * 3360 * (EPOCH + 1)

/** Simulates up to each of these hours after the end of the first epoch, and observes then. */
async function lookAt(...hours: readonly number[]): Promise<void> {
  for (const hour of hours) {
    await world.simulation().playTo(ends() + hour * HOUR)
    await world.see()
  }
}

const when = ({ firedAt }: Notified) => (new Date(firedAt).getTime() / 1000 - ends()) / HOUR

describe('a watch of eligibility', () => {
  test('fires when registration is lost and when the published calculation no longer counts the provider, and recovers', async () => {
    await begin()
    const alpha = await watch('provider-eligibility', 'Alpha')
    const bravo = await watch('provider-eligibility', 'Bravo')
    const charlie = await watch('provider-eligibility', 'Charlie')
    await world.simulation().behave('Alpha', 'unregistered')
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.see()
    const [lost] = await world.notified(alpha.id)
    expect(lost).toMatchObject({
      event: 'provider.unregistered',
      severity: 'critical',
      data: { provider: identity('Alpha'), registered: false, rewardEpochId: EPOCH + 1 },
    })
    await world.simulation().recover('Alpha')
    await world.simulation().behave('Charlie', 'not-eligible')
    await world.simulation().playToPublication()
    await world.pass(700)
    const [alert] = await world.notified(charlie.id)
    expect(alert).toMatchObject({
      event: 'provider.eligibility-lost',
      severity: 'critical',
      data: { eligible: false, eligibilityEpochId: EPOCH, registered: true },
    })
    await world.simulation().playToEpochEnd()
    await world.see()
    expect(await world.events(alpha.id)).toEqual(['provider.unregistered', 'provider.recovered'])
    expect(await world.events(bravo.id)).toEqual([])
    // The watch has the provider, whichever of its addresses was given.
    const { accounts } = world.simulation().provider('Charlie')
    for (const role of ['submit', 'submitSignatures', 'signingPolicy', 'delegation'] as const) {
      const { target } = await world.watch('provider-eligibility', {
        provider: accounts[role].address,
      })
      expect(target.provider, role).toBe(accounts.identity.address)
    }
  })

  test('judges no eligibility if no source of calculations is configured', async () => {
    await begin({ PROVIDER_DATASET_URL: '' })
    const alpha = await watch('provider-eligibility', 'Alpha')
    await world.see()
    await world.simulation().behave('Alpha', 'not-eligible')
    await world.simulation().playToEpochEnd()
    await world.simulation().playToPublication()
    await world.pass(700)
    expect(await world.events(alpha.id)).toEqual([])
    const { body } = await world.alice.request('GET', `/watches/${alpha.id}`)
    expect(body.lastObservation).toMatchObject({ registered: true, eligible: null })
  })
})

describe('a watch of reward signing', () => {
  test('fires once for each vote that was concluded without the signature or with another, and not for a provider that signs', async () => {
    await begin({}, [...NAMES, 'Foxtrot', 'Golf'])
    const alpha = await watch('reward-signing', 'Alpha')
    const bravo = await watch('reward-signing', 'Bravo')
    const charlie = await watch('reward-signing', 'Charlie')
    await world.simulation().behave('Bravo', 'misses-uptime-vote')
    await world.simulation().behave('Charlie', 'other-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await lookAt(0.5, 1.5, 2.5, 3.5, 5)
    expect(await world.events(alpha.id)).toEqual([])
    const notified = await world.notified(bravo.id)
    expect(notified.map(({ event, severity }) => `${event} ${severity}`)).toEqual([
      'signing.missed critical',
    ])
    expect(notified[0]?.data).toMatchObject({
      provider: identity('Bravo'),
      rewardEpochId: EPOCH,
      vote: 'uptime',
      signedOtherHash: false,
    })
    // The vote was opened and concluded between two looks.
    const { openedAt, concludedAt } = notified[0]?.data ?? {}
    const opened = new Date(String(openedAt)).getTime()
    const concluded = new Date(String(concludedAt)).getTime()
    expect(concluded).toBeGreaterThan(opened)
    expect(concluded - opened).toBeLessThan(HOUR * 1000)
    expect(await world.events(charlie.id)).toEqual(['signing.missed', 'signing.missed'])
  })

  test('fires on an open uptime vote after two hours, and recovers with the signature', async () => {
    await begin()
    const alpha = await watch('reward-signing', 'Alpha')
    const echo = await watch('reward-signing', 'Echo')
    for (const name of NAMES.slice(0, 3))
      await world.simulation().behave(name, 'misses-uptime-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await lookAt(0.5, 1.5, 2, 2.5, 3)
    const [open] = await world.notified(alpha.id)
    expect(open).toMatchObject({ event: 'signing.uptime-open', severity: 'warning' })
    expect(open && when(open)).toBeGreaterThanOrEqual(2)
    expect(open && when(open)).toBeLessThan(2.6)
    expect(open?.data).toMatchObject({ vote: 'uptime', weightSignedPercent: 40 })
    expect(await world.events(echo.id)).toEqual([])
    for (const name of NAMES.slice(0, 3)) await world.simulation().recover(name)
    await lookAt(4)
    expect(await world.events(alpha.id)).toEqual(['signing.uptime-open', 'signing.done'])
  })

  test('fires on unsigned rewards two hours after they were published, and again after twelve', async () => {
    await begin()
    const alpha = await watch('reward-signing', 'Alpha')
    for (const name of NAMES.slice(0, 3))
      await world.simulation().behave(name, 'misses-rewards-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await lookAt(0.5, 2.5, 3, 4, 4.5, 5, 8, 12, 14, 14.5, 15, 15.5, 16)
    const notified = await world.notified(alpha.id)
    expect(notified.map(({ event }) => event)).toEqual([
      'signing.rewards-open',
      'signing.rewards-reminder',
    ])
    const [open, reminder] = notified.map(when)
    // Published after two hours and a half, and seen within half an hour.
    expect(open).toBeGreaterThanOrEqual(4.5)
    expect(open).toBeLessThan(5.1)
    expect((reminder ?? 0) - (open ?? 0)).toBeCloseTo(10, 0)
    for (const name of NAMES.slice(0, 3)) await world.simulation().recover(name)
    await lookAt(17)
    expect((await world.events(alpha.id)).at(-1)).toBe('signing.done')
  })

  test('counts rewards as published at the first vote on them if no source is configured', async () => {
    await begin({ REWARD_DATA_URLS: '' })
    const alpha = await watch('reward-signing', 'Alpha')
    for (const name of NAMES.slice(0, 3))
      await world.simulation().behave(name, 'misses-rewards-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await lookAt(0.5, 2.5, 3, 4, 5)
    expect(await world.events(alpha.id)).toEqual(['signing.rewards-open'])
  })

  test('counts rewards as not published while there is no vote on them, however long the vote is open', async () => {
    await begin({ REWARD_DATA_URLS: '' })
    const alpha = await watch('reward-signing', 'Alpha')
    for (const name of NAMES) await world.simulation().behave(name, 'misses-rewards-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.simulation().playTo(ends() + 30 * HOUR)
    await world.see()
    expect(await world.events(alpha.id)).toEqual([])
  })

  test('fires once after hours without the service, for votes that were concluded in that time', async () => {
    await begin()
    const alpha = await watch('reward-signing', 'Alpha')
    await world.simulation().behave('Alpha', 'misses-uptime-vote', 'misses-rewards-vote')
    await world.see()
    await world.simulation().playToEpochEnd()
    await world.simulation().playTo(ends() + 30 * HOUR)
    world.restart()
    await world.see()
    await world.pass(60)
    expect(
      (await world.notified(alpha.id)).map(({ event, data }) => `${event} ${data['vote']}`),
    ).toEqual(['signing.missed uptime', 'signing.missed rewards'])
    world.restart()
    await world.pass(120)
    expect(await world.events(alpha.id)).toHaveLength(2)
  })
})
