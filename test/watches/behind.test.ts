import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordAlerts } from '#src/alerts/service.ts'
import type { Db } from '#src/db/connection.ts'
import { createSlices, SLICES, type Slices } from '#src/db/slices.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { observeSlices } from '#src/watches/observe/observe.ts'
import { readProgress } from '#src/watches/observe/progress.ts'
import { noticeOutages, publishTip } from '#src/watches/observe/publish-tip.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Types that are not observed although the chain can be read. */

const { signal } = new AbortController()
let world: WatchWorld
beforeEach(async () => {
  world = await watchWorld()
})
afterEach(() => world.close())

const balance = () =>
  world.watch(
    'wallet-balance',
    { address: world.devnet.people.bob.account.address, asset: 'FLR' },
    { threshold: '100' },
  )
const deps = () => ({
  ...world.app,
  recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) =>
    recordAlerts(world.app, tx, candidates),
})
const member = () => createSlices({ db: world.app.db, sql: world.sql, name: 'targets', wakes: [] })
const failing = async () => {
  const { types } = await readProgress(world.app.db)
  return types.flatMap(({ type, failingSince }) => (failingSince === null ? [] : [type]))
}

const health = async (id: number) =>
  (await world.alice.request('GET', `/watches/${id}`)).body.health

/** Time passes on the chain; the leader and these observers run every 15 seconds. */
async function pass(seconds: number, observers: readonly Slices[]): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 15) {
    await world.devnet.increaseTime(15)
    await world.devnet.mine(2, 1)
    await world.follow()
    await publishTip(deps(), signal)
    for (const slices of observers) await observeSlices({ ...deps(), slices }, signal)
    await noticeOutages(deps())
  }
}

test('watches whose observer keeps losing its slices say so, and when they are observed again', async () => {
  const { id } = await balance()
  await world.see()
  const [former, next] = [member(), member()]
  await former.share()
  await world.sql`update slice_members set expires_at = expires_at - interval '1 hour'`
  await next.share()
  expect(former.held()).toHaveLength(SLICES)
  await pass(90, [former])
  expect(await world.events(id)).toEqual([])
  expect(await health(id)).toBe('ok')
  await pass(120, [former])
  expect(await world.events(id)).toEqual(['fsp.monitoring'])
  expect(await health(id)).toBe('no_data')
  expect(await failing()).toContain('wallet-balance')
  await pass(30, [next])
  expect(await world.events(id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
  expect(await failing()).toEqual([])
  expect(await health(id)).toBe('ok')
})

test('a type is not observed while one of its slices is not, however the others go on', async () => {
  const { id } = await balance()
  await world.see()
  const [one, other] = [member(), member()]
  for (const slices of [one, other, one, other]) await slices.share()
  expect(one.held()).toHaveLength(SLICES / 2)
  await pass(210, [one])
  expect(await world.events(id)).toEqual(['fsp.monitoring'])
  expect(await health(id)).toBe('no_data')
  await pass(30, [one, other])
  expect(await world.events(id)).toEqual(['fsp.monitoring', 'fsp.monitoring.recovered'])
})

test('time in which the service was stopped does not count', async () => {
  const { id } = await balance()
  await world.see()
  await world.devnet.increaseTime(DAY_MS / 1000)
  await pass(15, [])
  expect(await failing()).toContain('wallet-balance')
  await world.see()
  expect(await failing()).toEqual([])
  expect(await world.events(id)).toEqual([])
})
