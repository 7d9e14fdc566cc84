import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, expect, test } from 'vitest'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Targets whose watches stay quiet are judged together. */

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

test('quiet targets are written in one statement, a target that fires in another', async () => {
  const { world, watches, people } = await begin()
  const before = await observedAt(world)
  // All three balances change, but only that of Carol by more than the threshold.
  await world.devnet.transfer(people.carol.account.address, STRANGER, 500n * FLR)
  await world.devnet.transfer(people.alice.account.address, people.bob.account.address, FLR)
  const sent = await statementsOf(() => world.see())
  expect(sent.filter((text) => text.includes('insert into signal_states'))).toHaveLength(2)
  const after = await observedAt(world)
  expect(after.every((position, index) => position !== before[index])).toBe(true)
  expect(await world.events(watches.alice.id)).toEqual([])
  expect(await world.events(watches.bob.id)).toEqual([])
  expect(await world.events(watches.carol.id)).toEqual(['wallet-balance.moved'])
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
