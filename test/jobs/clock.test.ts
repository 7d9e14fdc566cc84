import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { countFigures } from '#src/jobs/count-figures.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { fitWatches } from '#src/jobs/fit-watches.ts'
import { proveLedger } from '#src/jobs/prove-ledger.ts'
import { prune } from '#src/jobs/prune.ts'
import { remindExpiring } from '#src/jobs/remind-expiring.ts'
import { renewSubscriptions } from '#src/jobs/renew-subscriptions.ts'
import { retain } from '#src/jobs/retain.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { setToDatabaseTime, testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** A host whose clock is wrong, beside a database whose clock is right. */

const FORGETFUL = [prune, retain, proveLedger, countFigures]
const signal = new AbortController().signal
const errors: string[] = []
const log: Logger = { ...silentLogger, error: (_fields, message) => void errors.push(message) }
const clock = testClock()

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

beforeAll(async () => {
  service = await serviceOnly({}, clock, log)
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2090-01-01T00:00:00.000Z')}`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await giveCredits(service.app, alice.caller.wallet, 10_000_000)
})
afterAll(() => service.close())

/** Sets the clock to the database's time plus a number of days. */
const setClock = (days: number) => setToDatabaseTime(clock, service.sql, days * DAY_MS)

async function run(): Promise<number> {
  await renewSubscriptions.run(service.app, signal, CHECK_EVERYTHING)
  await fitWatches.run(service.app, signal, CHECK_EVERYTHING)
  const [row] = await service.sql`
    select count(*)::int as terms from ledger_entries where type = 'subscription'`
  return row?.['terms']
}

test('renewals and ends wait, with an error in the log, while the clock is ahead or behind', async () => {
  await setClock(-31)
  await alice.request('POST', '/subscriptions', { quantity: 2, periods: 1, autoRenew: true })
  await alice.request('POST', '/watches', {
    type: 'credits-balance',
    target: {},
    settings: { limit: 1 },
  })
  await setClock(400)
  expect(await run()).toBe(1)
  await setClock(-1)
  expect(await run()).toBe(1)
  expect(new Set(errors)).toEqual(new Set(['clock of this host differs from that of the database']))
  expect((await alice.request('GET', '/watches')).body.data).toMatchObject([{ status: 'active' }])

  errors.length = 0
  // One term has passed since.
  await setClock(0)
  expect(await run()).toBe(2)
  await setClock(4 / 1440)
  expect(await run()).toBe(2)
  expect(errors).toEqual([])
})

test('nothing is deleted, reconciled or counted while the clock is a year ahead', async () => {
  await setClock(0)
  const [begun] =
    await service.sql`insert into topups (handle, wallet, asset, pay_to, credits, bonus_credits,
      amount_units, price_value, price_decimals, usd_per_1000_credits_micros, renews, created_at, expires_at)
    select '0x' || repeat('0b', 32), ${alice.caller.wallet}, 'FLR', '0x0000000000000000000000000000000000000001',
      1000, 0, '1', '1', 8, 100, false, ${clock.now()}, ${clock.now()} returning handle`
  expect(begun).toBeDefined()
  const state = async () => {
    const [row] = await service.sql`select (select count(*) from topups)::int as topups,
      (select count(*) from ledger_proofs)::int as proofs,
      (select count(*) from pg_inherits where inhparent = 'alerts'::regclass)::int as parts`
    return row
  }
  for (const job of FORGETFUL) await job.run(service.app, signal, CHECK_EVERYTHING)
  const before = await state()
  expect(before).toMatchObject({ topups: 1, proofs: 1 })
  await setClock(800)
  errors.length = 0
  for (const job of FORGETFUL) await job.run(service.app, signal, CHECK_EVERYTHING)
  expect(await state()).toEqual(before)
  expect(errors).toHaveLength(FORGETFUL.length)
})

/** Titles of the notices so far, in the history of alerts. */
async function notices(): Promise<readonly string[]> {
  const { body } = await alice.request('GET', '/alerts?limit=100')
  return body.data.map(({ event }: { readonly event: string }) => event).toSorted()
}

test('no reminder of an end is sent early or lost while the clock is ahead', async () => {
  await setClock(0)
  const quantity = 1
  const { body } = await alice.request('POST', '/subscriptions', { quantity, periods: 1 })
  const remindAt = async () => {
    const [row] = await service.sql<{ at: Date | null }[]>`
      select remind_at as at from subscriptions where id = ${body.id}`
    return row?.at
  }
  const before = await remindAt()
  expect(before).toBeInstanceOf(Date)
  for (const days of [24, 40, -1]) {
    await setClock(days)
    errors.length = 0
    await remindExpiring.run(service.app, signal, CHECK_EVERYTHING)
    expect(errors).toEqual(['clock of this host differs from that of the database'])
    expect(await remindAt()).toEqual(before)
  }
})

test('nothing is charged, reminded of or suspended a second time after both clocks were put back', async () => {
  // The verbs themselves: the database is as wrong as the host.
  const pass = async () => {
    await sendDueReminders(service.app, signal)
    await renewDueSubscriptions(service.app, signal)
    await fitWalletsWithChangedSlots(service.app, signal)
  }
  const state = async () => {
    const entries = await service.sql`
      select type, delta_credits, position from ledger_entries order by position`
    const { body } = await alice.request('GET', '/watches')
    return { entries: [...entries], watches: body.data, notices: await notices() }
  }
  await setClock(0)
  await alice.request('POST', '/subscriptions', { quantity: 1, periods: 1, autoRenew: true })
  await setClock(31)
  await pass()
  const before = await state()
  for (const days of [31 - 10 / 1440, 30, 1]) {
    await setClock(days)
    await pass()
    expect(await state()).toEqual(before)
  }
  // The next term ends when it would have without that.
  await setClock(61)
  await pass()
  expect((await state()).entries.length).toBeGreaterThan(before.entries.length)
})
