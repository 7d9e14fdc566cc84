import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUND_CHECKS, type RoundCheck } from '#src/fsp/protocol/verdict.ts'
import { OtherProviders, OutageCost } from '#src/kernel/outage-figures.ts'
import { compareAll, liftLimits } from './compared.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'
import type { Notified } from './world.ts'

/**
 * A replay of rounds in which a provider fails alone, then with others, then alone again. What its alerts say of the others
 * and of the cost is compared with the stored rounds and the published rewards.
 */

const WATCHED = ['Alpha', 'Bravo']
const OTHERS = ['Charlie', 'Delta', 'Echo', 'Foxtrot', 'Golf', 'Hotel', 'India', 'Juliett']
const FAILING = OTHERS.slice(0, 4)
/** All providers but the one that an alert is about. */
const TOTAL = WATCHED.length + OTHERS.length
const ROUNDS_PER_EPOCH = 3360

const CHECKS_OF: Readonly<Record<string, readonly RoundCheck[]>> = {
  'fsp.ftso-commit': ['commit'],
  'fsp.ftso-reveal': ['reveal', 'feedValues'],
  'fsp.ftso-signature': ['signature'],
  'fsp.fdc-bitvote': ['bitVote'],
  'fsp.fdc-signature': ['fdcSignature'],
}

let world: RoundWorld
let alerts: readonly Notified[]

async function play(rounds: number): Promise<void> {
  await world.simulation().playRounds(rounds)
  await world.scan()
}

beforeAll(async () => {
  world = await roundWorld(WATCHED, { unwatched: OTHERS })
  liftLimits(world.app)
  await play(4)
  // The watches begin with the newest round, and so must the backtests.
  await world.sql`delete from fsp_rounds where round < (select max(round) from fsp_rounds)`
  await world.behave('Alpha', 'silent')
  await play(3)
  for (const name of [...FAILING, 'Bravo']) await world.behave(name, 'no-commit')
  await play(3)
  for (const name of FAILING) await world.simulation().recover(name)
  await play(3)
  for (const name of WATCHED) await world.simulation().recover(name)
  await play(3)
  await world.follow()
  alerts = (await Promise.all(WATCHED.map((name) => world.alerts(name)))).flat()
}, 240_000)
afterAll(() => world.close())

/** Counts from the stored rounds alone: the letters of the check of all providers in the rounds that an alert counts. */
async function countStored({ event, data }: Notified) {
  const checks = CHECKS_OF[event]
  if (checks === undefined) return undefined
  const places = checks.map((check) => ROUND_CHECKS.indexOf(check))
  const last = Number(data['votingRoundId'])
  const rounds = Math.min(Number(data['rounds']), Number(data['streak']))
  const stored = await world.sql`
    select p.key as voter, p.value ->> 'c' as letters
    from fsp_rounds, jsonb_each(providers) as p
    where round > ${last - rounds} and round <= ${last}`
  const byVoter = Map.groupBy(stored, ({ voter }) => voter)
  const verdicts = [...byVoter].flatMap(([voter, rows]) => {
    if (voter === data['provider'] || rows.length < rounds) return []
    const own = rows.map(({ letters }) => places.map((place) => letters[place]))
    const isKnown = own.every((round) => round.includes('b') || round.includes('g'))
    return isKnown ? [own.every((round) => round.includes('b'))] : []
  })
  return { total: verdicts.length, failed: verdicts.filter(Boolean).length }
}

test('every alert about a missed duty counts the others as the stored rounds do', async () => {
  const counted = alerts.filter(({ event }) => CHECKS_OF[event] !== undefined)
  expect(counted.length).toBeGreaterThanOrEqual(7)
  for (const alert of counted) {
    const others = OtherProviders.parse(alert.data['others'])
    expect(others, `${alert.event} ${alert.data['votingRoundId']}`).toEqual(
      await countStored(alert),
    )
  }
})

const commitAlerts = (name: string) => {
  const { address } = world.simulation().provider(name).accounts.identity
  return alerts
    .filter(({ event, data }) => event === 'fsp.ftso-commit' && data['provider'] === address)
    .map(({ severity, data }) => ({ severity, others: data['others'] }))
}

test('a provider that fails alone has an alert of full severity, which stays when others fail later', () => {
  const [first, ...more] = commitAlerts('Alpha')
  expect(first).toEqual({ severity: 'critical', others: { total: TOTAL, failed: 0 } })
  expect(more).toEqual([])
})

test('a provider that fails with others is raised one step lower, and in full when it fails alone', () => {
  const raised = commitAlerts('Bravo')
  expect(raised[0]).toEqual({ severity: 'info', others: { total: TOTAL, failed: 5 } })
  expect(raised.at(-1)?.severity).toBe('critical')
  expect(raised.at(-1)?.others).toEqual({ total: TOTAL, failed: 1 })
})

test('alerts and recoveries say what the rounds cost by the published rewards of the epoch they name', async () => {
  const priced = alerts.filter(({ data }) => data['cost'] !== undefined)
  expect(priced.some(({ event }) => event.endsWith('.recovered'))).toBe(true)
  for (const { event, data } of priced) {
    const { rounds, ofRounds, amountWei, source } = OutageCost.parse(data['cost'])
    expect(ofRounds).toBe(ROUNDS_PER_EPOCH)
    expect(rounds, event).toBe(data['missedRounds'] ?? data['streak'])
    if (source === null) throw new Error(`${event} names no rewards`)
    const [published] = await world.sql`
      select sum(amount_wei)::text as wei from fsp_rewards
      where voter = ${String(data['provider'])} and reward_epoch = ${source.rewardEpochId}`
    expect(source.amountWei).toBe(BigInt(published?.['wei']))
    // The weights of the simulated providers never change.
    expect(source.weightRatio).toBe(1)
    expect(amountWei).toBe((source.amountWei * BigInt(rounds)) / BigInt(ROUNDS_PER_EPOCH))
  }
})

test('a backtest says the same of the others and of the cost as the watch did', async () => {
  const watches = await Promise.all(
    WATCHED.map(async (name) => {
      const { body } = await world.alice.request('GET', `/watches/${world.watchOf(name)}`)
      const { type, target, signals } = body
      return { id: body.id, body: { type, target, signals } }
    }),
  )
  expect(await compareAll(world, watches)).toBe(alerts.length)
})
