import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import {
  extendTerms,
  extendTrials,
  lockRunning,
  updateSubscription,
} from '#src/billing/subscriptions/store.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { createWatch } from '#src/watches/manage/service.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { NewWatch } from '#src/watches/model.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** Billing is switched off and on again. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let bob: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const signal = new AbortController().signal

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  bob = await signIn(service, 'bob')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, subscriptions, trials, trial_accounts, capacity_changes,
      billing_pauses, watches, targets cascade`
  for (const client of [alice, bob]) {
    await client.request('POST', '/account/terms', { version: '2026-11' })
  }
})
afterAll(() => service.close())

const at = (days: number) => new Date(START.getTime() + days * DAY_MS)
const withBilling = (enabled: boolean): typeof service.app => ({
  ...service.app,
  billing: { ...service.app.billing, enabled },
})

/** Runs the jobs that depend on the clock, a number of days after the purchase. */
async function runJobsAt(days: number, billing: 'on' | 'off', app = withBilling(billing === 'on')) {
  service.clock.set(at(days))
  await renewDueSubscriptions(app, signal)
  await sendDueReminders(app, signal)
  await fitWalletsWithChangedSlots(app, signal)
}

async function buy(client: Client, order: object, credits = 5000) {
  await giveCredits(service.app, client.caller.wallet, credits)
  const body = { quantity: 1, periods: 1, autoRenew: true, ...order }
  expect((await client.request('POST', '/subscriptions', body)).status).toBe(201)
}

const charges = async (client: Client) => {
  const { body } = await client.request('GET', '/account?limit=250')
  const isCharge = ({ type }: { type: string }) => type === 'subscription'
  return body.ledger.data.filter(isCharge).length
}
const readSubscriptions = async (client: Client) =>
  (await client.request('GET', '/subscriptions')).body
const only = async (client: Client) => (await readSubscriptions(client)).data[0]
const watchOf = (client: Client) => {
  const target = { address: client.caller.wallet, asset: 'FLR' }
  const input = { type: 'wallet-balance', target, settings: { threshold: '1' } }
  return createWatch(service.app, client.caller, NewWatch.parse(input))
}
/** All rows that the end of a pause writes. */
const stored = () => service.sql`
  select (select jsonb_agg(s order by id) from subscriptions s) as terms, (select jsonb_agg(t) from trials t) as trials,
    (select jsonb_agg(c order by wallet, at) from capacity_changes c) as changes, (select jsonb_agg(p) from billing_pauses p) as pauses`

test('months without billing are not charged, and terms resume with the time they had left', async () => {
  await buy(alice, {})
  await buy(bob, { autoRenew: false })
  await runJobsAt(10, 'off')
  for (const days of [35, 70, 110]) await runJobsAt(days, 'off')
  await runJobsAt(130, 'on')
  for (const client of [alice, bob]) {
    expect(await only(client)).toMatchObject({
      status: 'active',
      startsAt: at(120).toISOString(),
      endsAt: at(150).toISOString(),
    })
    expect(await charges(client)).toBe(1)
    expect((await readSubscriptions(client)).capacity.purchased).toBe(1)
  }
  await runJobsAt(149.9, 'on')
  expect([await charges(alice), (await readSubscriptions(bob)).capacity.purchased]).toEqual([1, 1])
  await runJobsAt(150, 'on')
  expect([await charges(alice), (await readSubscriptions(bob)).capacity.purchased]).toEqual([2, 0])
  expect(await only(alice)).toMatchObject({ endsAt: at(180).toISOString() })
})

test('a renewal that was due before billing was switched off is charged once, for the term that begins when it is on again', async () => {
  await buy(alice, {})
  await buy(bob, { autoRenew: false })
  // Nothing ran between the purchase and the switch.
  await runJobsAt(100, 'off')
  await runJobsAt(160, 'on')
  await runJobsAt(160, 'on')
  expect(await charges(alice)).toBe(2)
  expect(await only(alice)).toMatchObject({
    startsAt: at(160).toISOString(),
    endsAt: at(190).toISOString(),
  })
  expect(await only(bob)).toMatchObject({ status: 'active', endsAt: at(163).toISOString() })
})

test('a wallet without credits keeps its slots at the switch and has its whole grace period', async () => {
  await buy(alice, {}, 500)
  await runJobsAt(30, 'on')
  expect(await only(alice)).toMatchObject({ status: 'grace' })
  await runJobsAt(31.5, 'on')
  await runJobsAt(31.5, 'off')
  await runJobsAt(99, 'off')
  await runJobsAt(101.5, 'on')
  expect(await only(alice)).toMatchObject({ status: 'grace', endsAt: at(100).toISOString() })
  await runJobsAt(102.9, 'on')
  expect((await readSubscriptions(alice)).capacity.purchased).toBe(1)
  await runJobsAt(103, 'on')
  expect((await readSubscriptions(alice)).capacity.purchased).toBe(0)
})

test('switching off and on again and again adds no more than the time it was off', async () => {
  await buy(alice, {})
  for (let n = 0; n < 20; n += 1) {
    await runJobsAt(1 + n / 10, 'off')
    await runJobsAt(1 + n / 10 + 0.05, 'on')
    await runJobsAt(1 + n / 10 + 0.05, 'on')
  }
  expect(await only(alice)).toMatchObject({ endsAt: at(31).toISOString() })
  expect(await charges(alice)).toBe(1)
})

test('a trial has the days it had left, and a purchase after the switch is not moved', async () => {
  expect((await alice.request('POST', '/subscriptions/trial')).status).toBe(201)
  await runJobsAt(4, 'off')
  await runJobsAt(50, 'off')
  service.clock.set(at(104))
  await buy(bob, {})
  await runJobsAt(104, 'on')
  expect(await readSubscriptions(alice)).toMatchObject({
    capacity: { trial: 1 },
    trial: { endsAt: at(114).toISOString() },
  })
  expect(await only(bob)).toMatchObject({ endsAt: at(134).toISOString() })
  const changes =
    await service.sql`select at from capacity_changes where wallet = ${alice.caller.wallet}`
  expect(changes).toEqual([{ at: at(114) }])
})

test('when billing is switched on, watches without a slot are suspended', async () => {
  await buy(alice, {})
  await runJobsAt(1, 'off')
  for (const { caller } of [alice, bob]) {
    for (const threshold of ['1', '2', '3']) {
      const target = { address: caller.wallet, asset: 'FLR' }
      const input = { type: 'wallet-balance', target, settings: { threshold } }
      await createWatch(withBilling(false), caller, NewWatch.parse(input))
    }
  }
  await runJobsAt(60, 'off')
  const states = async (client: Client) =>
    (await client.request('GET', '/watches')).body.data.map(
      ({ status }: { status: string }) => status,
    )
  expect(await states(bob)).toEqual(['active', 'active', 'active'])
  await runJobsAt(61, 'on')
  expect((await states(alice)).toSorted()).toEqual(['active', 'suspended', 'suspended'])
  expect(await states(bob)).toEqual(['suspended', 'suspended', 'suspended'])
})

test('a switch is applied once when five runs of the job see it at the same time', async () => {
  await buy(alice, {})
  service.clock.set(at(10))
  await Promise.all(
    Array.from({ length: 5 }, () => renewDueSubscriptions(withBilling(false), signal)),
  )
  service.clock.set(at(60))
  await Promise.all(
    Array.from({ length: 5 }, () => renewDueSubscriptions(withBilling(true), signal)),
  )
  expect(await only(alice)).toMatchObject({ endsAt: at(80).toISOString() })
  const pauses = await service.sql`select off_at, on_at from billing_pauses`
  expect(pauses).toEqual([{ off_at: at(10), on_at: at(60) }])
})

test.each([
  'subscriptions',
  'trials',
  'capacity_changes',
  'billing_pauses',
])('a process killed while it writes %s has moved nothing, and the next one moves everything once', async (table) => {
  await buy(alice, {})
  expect((await bob.request('POST', '/subscriptions/trial')).status).toBe(201)
  await watchOf(bob)
  await runJobsAt(10, 'off')
  await service.sql.unsafe(`
      create function die() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return new; end';
      create trigger die before insert or update on ${table} for each row execute function die()`)
  const before = await stored()
  service.clock.set(at(60))
  const billing = withBilling(true)
  await expect(renewDueSubscriptions(billing, signal)).rejects.toThrow()
  await service.sql.unsafe(`drop function die cascade`)
  expect(await stored()).toEqual(before)
  await runJobsAt(60, 'on')
  expect(await only(alice)).toMatchObject({ endsAt: at(80).toISOString() })
  expect(await readSubscriptions(bob)).toMatchObject({ trial: { endsAt: at(64).toISOString() } })
  expect(await charges(alice)).toBe(1)
})

test('a pause that begins again at once, or by a clock that is behind, is added to the one before without gap or overlap', async () => {
  await buy(alice, {})
  await runJobsAt(10, 'off')
  await runJobsAt(15, 'on')
  await runJobsAt(15, 'off')
  await runJobsAt(20, 'on')
  // Another process is a second behind, and still has billing off.
  await runJobsAt(20 - 1 / 86_400, 'off')
  await runJobsAt(25.123456, 'on')
  const end = START.getTime() + 30 * DAY_MS + Math.trunc(15.123456 * DAY_MS)
  expect(await only(alice)).toMatchObject({ endsAt: new Date(end).toISOString() })
})

test('processes that see billing on and off at the same time extend by exactly the recorded pauses', async () => {
  await buy(alice, {})
  for (let minute = 1; minute <= 12; minute += 1) {
    service.clock.set(new Date(START.getTime() + minute * 61_234))
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        renewDueSubscriptions(withBilling((index + minute) % 2 === 0), signal),
      ),
    )
  }
  service.clock.set(at(2))
  await renewDueSubscriptions(withBilling(true), signal)
  const pauses = await service.sql<{ off_at: Date; on_at: Date }[]>`
    select off_at, on_at from billing_pauses order by number`
  expect(pauses.length).toBeGreaterThan(0)
  let paused = 0
  for (const [index, { off_at, on_at }] of pauses.entries()) {
    paused += on_at.getTime() - off_at.getTime()
    const next = pauses[index + 1]?.off_at ?? on_at
    expect(next.getTime()).toBeGreaterThanOrEqual(on_at.getTime())
  }
  const end = new Date(START.getTime() + 30 * DAY_MS + paused)
  expect(await only(alice)).toMatchObject({ endsAt: end.toISOString() })
})

test('a change that the end of the pause waits for is not lost', async () => {
  await buy(alice, {})
  await runJobsAt(10, 'off')
  service.clock.set(at(15))
  const isLocked = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const renewal = service.app.db.transaction(async (tx) => {
    const [row] = await lockRunning(tx, alice.caller.wallet)
    if (row === undefined) throw new Error('there is no subscription')
    await updateSubscription(tx, row, { endsAt: at(60), dueAt: at(60) })
    isLocked.resolve()
    await mayEnd.promise
  })
  await isLocked.promise
  const switched = renewDueSubscriptions(withBilling(true), signal)
  await expect.poll(() => service.sql`select from pg_locks where not granted`).not.toHaveLength(0)
  mayEnd.resolve()
  await Promise.all([renewal, switched])
  expect(await only(alice)).toMatchObject({ endsAt: at(65).toISOString() })
})

test('a pause over a change of the clocks has its length in seconds, whatever the time zone of the session', async () => {
  await buy(alice, {})
  expect((await bob.request('POST', '/subscriptions/trial')).status).toBe(201)
  // In New York the clocks are changed on March 14.
  const pause = { offAt: at(10), onAt: at(150) }
  await service.app.db.transaction(async (tx) => {
    await tx.execute(sql`set local time zone 'America/New_York'`)
    await extendTerms(tx, pause)
    await extendTrials(tx, pause)
  })
  expect(await only(alice)).toMatchObject({ endsAt: at(170).toISOString() })
  expect(await readSubscriptions(bob)).toMatchObject({ trial: { endsAt: at(154).toISOString() } })
})

test('reminders move with the ends, and an end that was over is announced once more', async () => {
  await buy(alice, {})
  await buy(bob, { autoRenew: false })
  const reminders = async () =>
    (await service.sql`select remind_at from subscriptions order by id`).map(
      (row) => row['remind_at'],
    )
  expect(await reminders()).toEqual([at(23), at(23)])
  await runJobsAt(10, 'off')
  await runJobsAt(20, 'on')
  expect(await reminders()).toEqual([at(33), at(33)])
  await runJobsAt(39.5, 'on')
  expect(await reminders()).toEqual([null, null])
  // Both were due before billing was switched off, and no job had run since.
  await runJobsAt(41, 'off')
  await runJobsAt(50, 'on')
  expect(await reminders()).toEqual([at(73), at(52)])
  expect(await only(bob)).toMatchObject({ endsAt: at(53).toISOString() })
})

test('a trial that was paused loses no watch and causes no reminder, whichever job runs first', async () => {
  expect((await alice.request('POST', '/subscriptions/trial')).status).toBe(201)
  await watchOf(alice)
  await runJobsAt(4, 'off')
  const endings: unknown[] = []
  const app = {
    ...service.app,
    notices: {
      ...service.app.notices,
      trialEnds: async (_: unknown, ending: unknown) => void endings.push(ending),
    },
  }
  const state = async () => (await alice.request('GET', '/watches')).body.data[0].status
  // The service was down meanwhile, and starts again with billing on.
  for (const days of [13, 20]) {
    service.clock.set(at(days))
    await sendDueReminders(app, signal)
    await fitWalletsWithChangedSlots(app, signal)
    expect([await state(), endings]).toEqual(['active', []])
  }
  await runJobsAt(20, 'on', app)
  expect([await state(), endings]).toEqual(['active', []])
  await runJobsAt(28.5, 'on', app)
  expect([await state(), endings.length]).toEqual(['active', 1])
  await runJobsAt(30, 'on', app)
  expect(await state()).toBe('suspended')
})
