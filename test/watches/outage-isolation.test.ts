import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { recordAlerts } from '#src/alerts/service.ts'
import type { Db } from '#src/db/connection.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { fireOutages } from '#src/watches/outage/outages.ts'
import { CHAIN_WATCH_TYPES } from '#src/watches/types/index.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** An outage of the chain reaches every watch, also when another one cannot be notified. */

const RECOVERED = 'fsp.monitoring.recovered'
let world: WatchWorld
beforeAll(async () => {
  world = await watchWorld()
})
afterEach(() => world.renew())
afterAll(() => world.close())

const balance = () =>
  world.watch(
    'wallet-balance',
    { address: world.devnet.people.bob.account.address, asset: 'FLR' },
    { threshold: '100' },
  )
const price = () =>
  world.watch('feed-move', { feed: 'XRP/USD' }, { percent: 5, windowSeconds: 600 })
const bothDown = () => Promise.all([world.primary.down(), world.secondary.down()])
const bothUp = () => Promise.all([world.primary.up(), world.secondary.up()])

async function lookFor(seconds: number, every = 30): Promise<void> {
  for (let passed = 0; passed < seconds; passed += every) {
    world.clock.advance(every)
    await world.look().catch(() => undefined)
  }
}

async function seeAgain(): Promise<void> {
  await bothUp()
  world.clock.advance(30)
  await world.see()
  await lookFor(30)
}

/** Lets every type fail for so long that it is notified. */
async function fail(severity: 'warning' | 'critical' = 'warning'): Promise<void> {
  const minutes = severity === 'warning' ? 3 : 11
  const now = world.clock.now()
  const since = new Date(now.getTime() - minutes * 60_000)
  await world.sql`
    update observation_cursors set observed_at = ${since}, failing_since = ${since}, checked_at = ${now}
    where type <> 'chain'`
}

/** Notifies of outages; raising fails while it contains one of these watches. */
async function fireWithout(
  fails: (candidate: AlertCandidate) => boolean,
  failure: Error = new TypeError('cannot be raised'),
): Promise<void> {
  const app = world.running()
  await fireOutages(
    {
      ...app,
      recordAlerts: async (tx: Db, raised: readonly AlertCandidate[]) => {
        if (raised.some(fails)) throw failure
        await recordAlerts(app, tx, raised)
      },
    },
    CHAIN_WATCH_TYPES,
  )
}

test('a watch that cannot be read does not prevent alerts of other watches about an outage', async () => {
  const [bad, good] = [await balance(), await balance()]
  await world.see()
  await world.sql`update watches set min_severity = 'none' where id = ${bad.id}`
  await bothDown()
  await lookFor(120)
  expect(await world.events(good.id)).toEqual(['fsp.monitoring'])
  expect(world.running().quarantine.read()).toContainEqual({ kind: 'watch', rows: 1 })
  await world.sql`update watches set min_severity = 'info'`
})

test.each([
  ['data', { state: '{"no":1}', phase: 'firing' }],
  ['phase', { state: '{}', phase: 'gone' }],
])('a state whose %s cannot be read prevents only the recovery of its own watch', async (_, row) => {
  const [bad, good] = [await balance(), await balance()]
  await world.see()
  await bothDown()
  await lookFor(120)
  await world.sql`
    update signal_states set state = ${row.state}::text::jsonb, phase = ${row.phase}
    where signal = '' and watch_id = ${bad.id}`
  await seeAgain()
  expect(await world.events(good.id)).toEqual(['fsp.monitoring', RECOVERED])
  expect(await world.events(bad.id)).toEqual(['fsp.monitoring'])
  await bothDown()
  await lookFor(120)
  await seeAgain()
  expect(await world.events(bad.id)).toEqual(['fsp.monitoring', 'fsp.monitoring', RECOVERED])
})

test('a watch whose alert or recovery cannot be recorded is left out alone', async () => {
  const [first, bad, last] = [await balance(), await balance(), await balance()]
  await world.see()
  const cannotRaise = ({ watch }: AlertCandidate) => watch.id === bad.id
  await fail()
  await fireWithout(cannotRaise)
  for (const { id } of [first, last]) expect(await world.events(id)).toEqual(['fsp.monitoring'])
  expect(await world.events(bad.id)).toEqual([])
  await fail('critical')
  await fireWithout(() => false)
  expect(await world.events(bad.id)).toEqual(['fsp.monitoring'])
  await world.sql`update observation_cursors set observed_at = ${world.clock.now()}`
  await fireWithout(cannotRaise)
  for (const { id } of [first, last]) expect(await world.events(id)).toContain(RECOVERED)
  expect(await world.events(bad.id)).not.toContain(RECOVERED)
})

test('an outage whose alerts could not be recorded for want of the database fires when there is one again', async () => {
  const { id } = await balance()
  await world.see()
  await fail()
  const away = new AppError('upstream', 'dependency_unavailable')
  await expect(fireWithout(() => true, away)).rejects.toBe(away)
  expect(await world.events(id)).toEqual([])
  await fireWithout(() => false)
  expect(await world.events(id)).toEqual(['fsp.monitoring'])
})

test('a watch type whose outage cannot be recorded fails alone', async ({ onTestFinished }) => {
  onTestFinished(async () => {
    await world.sql`drop function refuse cascade`
  })
  const [bad, good] = [await balance(), await price()]
  await world.see()
  await fail()
  await world.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end';
    create trigger refuse before insert on observation_cursors
      for each row when (new.type = 'wallet-balance') execute function refuse()`)
  await fireWithout(() => false)
  expect(await world.events(bad.id)).toEqual([])
  expect(await world.events(good.id)).toEqual(['fsp.monitoring'])
})
