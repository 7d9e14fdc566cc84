import { afterEach, describe, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'
import type { Notified } from './world.ts'

/** Backtests of eligibility and votes over the rows that the jobs wrote, beside watches that ran meanwhile. */

const HOUR_SECONDS = 3600
const EPOCH = 452
/** The service looks once a minute or less often here; a backtest knows rounds and minutes. */
const CLOCK_TOLERANCE_MS = 40 * 60_000

let world: RoundWorld
afterEach(() => world.close())

const identity = (name: string) => world.simulation().provider(name).accounts.identity.address
const bodyOf = (type: string, name: string) => ({ type, target: { provider: identity(name) } })
const ends = () => 1_658_430_000 + 90 * 3360 * (EPOCH + 1)

async function watch(type: string, name: string): Promise<{ readonly id: number }> {
  const { status, body } = await world.alice.request('POST', '/watches', bodyOf(type, name))
  expect(status).toBe(201)
  return body
}

async function backtest(type: string, name: string) {
  const body = bodyOf(type, name)
  const { status, body: found } = await world.alice.request('POST', '/watches/backtest', body)
  expect(status).toBe(200)
  return found
}

/** Expects the alerts of a live watch in a backtest, at about the same times. */
async function expectSame(type: string, name: string, live: readonly Notified[]) {
  const found = await backtest(type, name)
  const replayed = found.alerts.toReversed()
  const shown = ({ event, severity }: Pick<Notified, 'event' | 'severity'>) =>
    `${event} ${severity}`
  expect(replayed.map(shown)).toEqual(live.map(shown))
  for (const [index, { at }] of replayed.entries()) {
    const apart = Math.abs(Date.parse(at) - Date.parse(live[index]?.firedAt ?? ''))
    expect(apart, `${live[index]?.event} ${live[index]?.firedAt} ${at}`).toBeLessThan(
      CLOCK_TOLERANCE_MS,
    )
  }
  return found
}

/** Plays two rounds and stores them, so that the state of their reward epoch is known. */
async function rounds() {
  await world.simulation().playRounds(2)
  await world.scan()
  // A backtest ends at the service's time.
  await world.follow()
}

describe('a backtest of eligibility', () => {
  test('has the alerts of a registration that is lost and back, from the stored rounds', async () => {
    world = await roundWorld([], { unwatched: ['Alpha', 'Bravo'] })
    const alpha = await watch('provider-eligibility', 'Alpha')
    await rounds()
    await world.simulation().behave('Alpha', 'unregistered')
    await world.simulation().playToEpochEnd()
    await rounds()
    await world.simulation().recover('Alpha')
    await world.simulation().playToEpochEnd()
    await rounds()
    const live = await world.notified(alpha.id)
    expect(live.map(({ event }) => event)).toEqual(['provider.unregistered', 'provider.recovered'])
    const found = await expectSame('provider-eligibility', 'Alpha', live)
    const [recovery, alert] = found.alerts
    for (const [replayed, original] of [
      [alert, live[0]],
      [recovery, live[1]],
    ]) {
      const { rewardEpochId, registered } = replayed.data
      expect({ rewardEpochId, registered }).toEqual({
        rewardEpochId: original?.data['rewardEpochId'],
        registered: original?.data['registered'],
      })
    }
    expect((await backtest('provider-eligibility', 'Bravo')).alerts).toEqual([])
  })

  test('has the alerts of eligibility that ends when a calculation is published again, from the stored publications', async () => {
    world = await roundWorld([], { unwatched: ['Alpha', 'Bravo'] })
    const alpha = await watch('provider-eligibility', 'Alpha')
    await rounds()
    await world.simulation().behave('Alpha', 'not-eligible')
    await world.simulation().playToEpochEnd()
    await rounds()
    await world.simulation().playToPublication()
    await rounds()
    const live = await world.notified(alpha.id)
    expect(live.map(({ event }) => event)).toEqual(['provider.eligibility-lost'])
    const found = await expectSame('provider-eligibility', 'Alpha', live)
    // The calculation of an earlier epoch is published again, with another answer.
    const { eligible, eligibilityEpochId, passes, failures } = live[0]?.data ?? {}
    expect(eligibilityEpochId).toBeLessThan(EPOCH)
    const expected = { eligible, eligibilityEpochId, passes, failures }
    expect(found.alerts[0].data).toMatchObject(expected)
    expect((await backtest('provider-eligibility', 'Bravo')).alerts).toEqual([])
  })

  test('reports that nothing is stored about a provider before its first round, then knows the days of which rounds are stored, and no day between them', async () => {
    world = await roundWorld([], { unwatched: ['Alpha'] })
    const { observations, gaps } = await backtest('provider-eligibility', 'Alpha')
    expect({ observations, gaps: gaps.map(({ code }: { code: string }) => code) }).toEqual({
      observations: 0,
      gaps: ['no_data'],
    })
    await watch('provider-eligibility', 'Alpha')
    for (let time = 0; time < 3; time += 1) await rounds()
    await world.sql`
      update fsp_rounds set block_at = block_at - interval '6 days'
      where round = (select min(round) from fsp_rounds)`
    const { perDay } = await backtest('provider-eligibility', 'Alpha')
    expect(perDay.map(({ known }: { known: boolean }) => known)).toEqual([
      true,
      ...Array.from({ length: 5 }, () => false),
      true,
    ])
  })
})

describe('a backtest of reward signing', () => {
  const FAULTS = {
    Uptime: 'misses-uptime-vote',
    Rewards: 'misses-rewards-vote',
    Other: 'other-vote',
  } as const

  test('tells what a watch told of providers that miss a vote or vote otherwise, from the stored votes', async () => {
    world = await roundWorld([], { unwatched: [...Object.keys(FAULTS), 'Bravo', 'Charlie'] })
    const faulty: { readonly name: string; readonly id: number }[] = []
    for (const [name, fault] of Object.entries(FAULTS)) {
      faulty.push({ name, ...(await watch('reward-signing', name)) })
      await world.simulation().behave(name, fault)
    }
    const bravo = await watch('reward-signing', 'Bravo')
    await world.see()
    await world.simulation().playToEpochEnd()
    for (let hour = 0.5; hour <= 5; hour += 0.5) {
      await world.simulation().playTo(ends() + hour * HOUR_SECONDS)
      await world.see()
    }
    for (const { name, id } of faulty) {
      const live = await world.notified(id)
      expect(live.length, name).toBeGreaterThan(0)
      await expectSame('reward-signing', name, live)
    }
    expect(await world.notified(bravo.id)).toEqual([])
    expect((await backtest('reward-signing', 'Bravo')).alerts).toEqual([])
  })
})
