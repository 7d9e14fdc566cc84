import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, expect, test } from 'vitest'
import * as alerts from '#src/alerts/service.ts'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { type ObserveDeps, observeWatches } from '../support/observe.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Targets are judged together: one that fails, or waits, harms itself alone. */

const FLR = 10n ** 18n
const STRANGER = '0x00000000000000000000000000000000000f1a7e'

let closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
  closing = []
})

/** Three watched wallets, all observed once. */
async function begin() {
  const world = await watchWorld({})
  closing.push(world.close)
  const { alice, bob, carol } = world.devnet.people
  const watch = (address: string) =>
    world.watch('wallet-balance', { address, asset: 'FLR' }, { threshold: '100' })
  const watches = {
    alice: await watch(alice.account.address),
    bob: await watch(bob.account.address),
    carol: await watch(carol.account.address),
  }
  await world.see()
  return { world, watches, people: { alice, bob, carol } }
}

/** Statements that a function sends. */
async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent: string[] = []
  const add = (text: unknown) => sent.push(String(text))
  subscribe(STATEMENT_CHANNEL, add)
  await work()
  unsubscribe(STATEMENT_CHANNEL, add)
  return sent
}

async function observedAt(world: WatchWorld): Promise<readonly (string | undefined)[]> {
  const rows = await world.sql`
    select observation ->> 'position' as position from targets order by id`
  return rows.map(({ position }) => position)
}

test('targets are written in one statement, also if one fires', async () => {
  const { world, watches, people } = await begin()
  const before = await observedAt(world)
  // All three balances change, but only that of Carol by more than the threshold.
  await world.devnet.transfer(people.carol.account.address, STRANGER, 500n * FLR)
  await world.devnet.transfer(people.alice.account.address, people.bob.account.address, FLR)
  const sent = await statementsOf(() => world.see())
  expect(sent.filter((text) => text.includes('insert into signal_states'))).toHaveLength(1)
  const after = await observedAt(world)
  expect(after.every((position, index) => position !== before[index])).toBe(true)
  expect(await world.events(watches.alice.id)).toEqual([])
  expect(await world.events(watches.bob.id)).toEqual([])
  expect(await world.events(watches.carol.id)).toEqual(['wallet-balance.moved'])
})

const THROWERS = {
  'a watch that cannot be read': async ({ world, watches }) => {
    await world.sql`update watches set settings = '{"threshold":"x"}' where id = ${watches.bob.id}`
    return world.see
  },
  'a watch whose alert cannot be recorded': async ({ world, watches }) => {
    const app = world.running()
    const recordAlerts: ObserveDeps['recordAlerts'] = async (tx, candidates) => {
      if (candidates.some(({ watch }) => watch.id === watches.bob.id))
        throw new Error('it cannot be rendered')
      await alerts.recordAlerts(app, tx, candidates)
    }
    return async () => {
      await world.devnet.mine(2, 1)
      await observeWatches({ ...app, recordAlerts }, new AbortController().signal)
    }
  },
  'a target whose observation cannot be written': async ({ world, people }) => {
    await world.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end';
      create trigger refuse before update of observation on targets for each row
        when (old.target ->> 'address' ilike '${people.bob.account.address}') execute function refuse()`)
    return world.see
  },
} satisfies Record<
  string,
  (begun: Awaited<ReturnType<typeof begin>>) => Promise<() => Promise<unknown>>
>

test.each(Object.entries(THROWERS))('%s harms itself alone', async (_, spoil) => {
  const begun = await begin()
  const { world, watches, people } = begun
  const target = { address: people.bob.account.address, asset: 'FLR' }
  const beside = await world.watch('wallet-balance', target, { threshold: '100' })
  await world.see()
  const see = await spoil(begun)
  for (const { account } of [people.alice, people.bob, people.carol])
    await world.devnet.transfer(account.address, STRANGER, 200n * FLR)
  await see()
  const isTargetBad = world
    .running()
    .quarantine.read()
    .some(({ kind }) => kind === 'target')
  expect(await world.events(watches.alice.id)).toEqual(['wallet-balance.moved'])
  expect(await world.events(watches.carol.id)).toEqual(['wallet-balance.moved'])
  expect(await world.events(watches.bob.id)).toEqual([])
  expect(await world.events(beside.id)).toEqual(isTargetBad ? [] : ['wallet-balance.moved'])
  const unjudged = await world.sql`
    select watch_id as id from signal_states where signal = '' and phase = 'unknown' order by id`
  const { bob } = watches
  expect(unjudged.map(({ id }) => id)).toEqual(isTargetBad ? [bob.id, beside.id] : [bob.id])
})

test('a target that another transaction has locked holds up no other', async () => {
  const { world, watches, people } = await begin()
  const before = await observedAt(world)
  await world.devnet.transfer(people.carol.account.address, people.alice.account.address, FLR)
  await world.devnet.transfer(people.carol.account.address, people.bob.account.address, FLR)
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holder = world.sql.begin(async (sql) => {
    await sql`select from targets t join watches w on w.target_id = t.id
      where w.id = ${watches.alice.id} for update of t`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const seen = world.see()
  await expect.poll(async () => (await observedAt(world))[1]).not.toBe(before[1])
  expect((await observedAt(world))[0]).toBe(before[0])
  release.resolve()
  await Promise.all([holder, seen])
  expect((await observedAt(world))[0]).not.toBe(before[0])
})
