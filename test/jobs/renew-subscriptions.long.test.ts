import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { acceptTerms } from '#src/billing/account/service.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { createSubscription } from '#src/billing/subscriptions/service.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { isWhole, runs } from '../support/runs.ts'
import { startServiceProcess } from '../support/service-process.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const END = new Date('2026-12-20T12:00:00.000Z')
const NEXT_END = '2027-01-19T12:00:00.000Z'
const signal = new AbortController().signal

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  // The test is longer than the lifetime of a token.
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, subscriptions, capacity_changes, watches, targets cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
})
afterAll(() => service.close())

/** Runs the jobs that depend on the clock, a number of days after the end of the first term. */
async function day(days: number): Promise<void> {
  service.clock.set(new Date(END.getTime() + days * DAY_MS))
  await renewDueSubscriptions(service.app, signal)
  await fitWalletsWithChangedSlots(service.app, signal)
}

async function buy(body: object) {
  const { status, body: bought } = await alice.request('POST', '/subscriptions', body)
  expect(status).toBe(201)
  return bought
}

const give = (amount: number) => giveCredits(service.app, alice.caller.wallet, amount)
const balance = async () => (await alice.request('GET', '/account')).body.balanceCredits
const subscriptions = async () => (await alice.request('GET', '/subscriptions')).body
const only = async () => (await subscriptions()).data[0]

async function watchNew(label: string): Promise<void> {
  const input = { type: 'credits-balance', label, target: {}, settings: { limit: 1 } }
  expect((await alice.request('POST', '/watches', input)).status).toBe(201)
}

async function watches(): Promise<Record<string, string>> {
  const { body } = await alice.request('GET', '/watches')
  return Object.fromEntries(
    body.data.map(({ label, status }: { label: string; status: string }) => [label, status]),
  )
}

describe('a subscription that renews itself', () => {
  test('is renewed at its end, with equal slots and term', async () => {
    await give(4000)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    for (const before of [-7, -1, -0.001]) {
      await day(before)
      expect(await only()).toMatchObject({ status: 'active', endsAt: END.toISOString() })
    }
    expect(await balance()).toBe(2500)
    await day(0)
    expect(await only()).toMatchObject({
      status: 'active',
      quantity: 3,
      startsAt: END.toISOString(),
      endsAt: NEXT_END,
      nextRenewalAt: NEXT_END,
      totalCredits: 1500,
      lastRenewalError: null,
    })
    expect(await balance()).toBe(1000)
    await day(0)
    await day(4)
    expect(await balance()).toBe(1000)
  })

  test('without credits has three days of grace, in which its renewal is tried three times, and ends', async () => {
    await give(1500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    for (const label of ['a', 'b', 'c']) await watchNew(label)
    await day(-1)
    const steps = [
      [0, 1],
      [0.9, 1],
      [1, 2],
      [1.9, 2],
      [2, null],
      [2.999, null],
    ] as const
    for (const [days, next] of steps) {
      await day(days)
      const { data, capacity } = await subscriptions()
      expect(data).toMatchObject([
        {
          status: 'grace',
          endsAt: END.toISOString(),
          nextRenewalAt: next && new Date(END.getTime() + next * DAY_MS).toISOString(),
          lastRenewalError: 'insufficient_credits',
        },
      ])
      expect(capacity).toMatchObject({ purchased: 3, used: 3, available: 0 })
      expect(await watches()).toEqual({ a: 'active', b: 'active', c: 'active' })
    }
    await day(3)
    const { data, capacity } = await subscriptions()
    expect(data).toMatchObject([{ status: 'expired', nextRenewalAt: null }])
    expect(capacity).toMatchObject({ purchased: 0, used: 3, available: 0 })
    expect(await watches()).toEqual({ a: 'suspended', b: 'suspended', c: 'suspended' })
    await give(5000)
    await day(4)
    expect(await only()).toMatchObject({ status: 'expired' })
    expect(await balance()).toBe(5000)
    await buy({ quantity: 2, periods: 1 })
    await day(4)
    expect(await watches()).toEqual({ a: 'active', b: 'active', c: 'suspended' })
  })

  test.each([
    1, 2,
  ])('is paid on day %i of its grace, and the new term starts at the end of the old one', async (paidOn) => {
    await give(1500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    for (let days = 0; days < paidOn; days += 1) await day(days)
    await give(1500)
    await day(paidOn - 0.001)
    expect(await only()).toMatchObject({ status: 'grace' })
    await day(paidOn)
    expect(await only()).toMatchObject({
      status: 'active',
      endsAt: NEXT_END,
      nextRenewalAt: NEXT_END,
      lastRenewalError: null,
    })
    expect(await balance()).toBe(0)
  })

  test('in grace keeps its slots if renewal is switched off, and is only retried while renewal is on', async () => {
    await give(1500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    await day(0)
    await give(1500)
    await alice.request('PATCH', '/subscriptions', { autoRenew: false })
    await day(1.5)
    expect(await only()).toMatchObject({ status: 'grace', nextRenewalAt: null })
    expect(await balance()).toBe(1500)
    await alice.request('PATCH', '/subscriptions', { autoRenew: true })
    await day(1.5)
    expect(await only()).toMatchObject({ status: 'active', endsAt: NEXT_END })
    expect(await balance()).toBe(0)
  })

  test('ends with its grace if renewal is switched off during it', async () => {
    await give(1500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    await day(0)
    await alice.request('PATCH', '/subscriptions', { autoRenew: false })
    await give(1500)
    await day(2.999)
    expect(await only()).toMatchObject({ status: 'grace' })
    await day(3)
    expect(await only()).toMatchObject({ status: 'expired' })
    expect(await balance()).toBe(1500)
  })

  test('is renewed after a pause of the service if the credits suffice', async () => {
    await give(4500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    await day(35)
    expect(await only()).toMatchObject({ status: 'active', endsAt: '2027-02-18T12:00:00.000Z' })
    expect(await balance()).toBe(0)
    const { body } = await alice.request('GET', '/account?type=subscription')
    expect(body.ledger.data.map(({ reference }: { reference: string }) => reference)).toEqual(
      [3, 2, 1].map((term) => expect.stringMatching(new RegExp(`^subscription:\\d+:${term}$`))),
    )
  })

  test('ends after a pause of the service if the credits do not suffice', async () => {
    await give(1500)
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    await day(35)
    expect(await only()).toMatchObject({
      status: 'expired',
      lastRenewalError: 'insufficient_credits',
    })
  })

  test('is charged once by concurrent runs', async () => {
    await give(10_000)
    for (let count = 0; count < 5; count += 1) {
      await buy({ quantity: 1, periods: 1, autoRenew: true })
    }
    service.clock.set(END)
    await Promise.all(Array.from({ length: 5 }, () => renewDueSubscriptions(service.app, signal)))
    expect(await balance()).toBe(10_000 - 2 * 5 * 500)
    const { data } = await subscriptions()
    expect(data.every(({ endsAt }: { endsAt: string }) => endsAt === NEXT_END)).toBe(true)
  })

  test('is renewed before those that end later, while the credits last', async () => {
    await give(3000)
    await buy({ quantity: 2, periods: 1, autoRenew: true })
    await buy({ quantity: 3, periods: 1, autoRenew: true })
    await give(1200)
    await spendCredits(service.app, alice.caller.wallet, 500)
    await day(0)
    expect((await subscriptions()).data).toMatchObject([{ status: 'active' }, { status: 'grace' }])
    expect(await balance()).toBe(200)
  })
})

describe('a subscription that does not renew itself', () => {
  test('ends without grace, with any balance', async () => {
    await give(5000)
    await buy({ quantity: 3, periods: 1 })
    await day(-0.001)
    expect(await only()).toMatchObject({ status: 'active', nextRenewalAt: null })
    await day(0)
    expect(await subscriptions()).toMatchObject({
      data: [{ status: 'expired', lastRenewalError: null }],
      capacity: { purchased: 0 },
    })
    expect(await balance()).toBe(3500)
  })

  test('that has ended cannot be switched on again', async () => {
    await give(5000)
    const { id } = await buy({ quantity: 3, periods: 1 })
    await day(0)
    const answer = await alice.request('PATCH', '/subscriptions', { autoRenew: true, id })
    expect(answer.body.data).toMatchObject([{ status: 'expired', autoRenew: false }])
    await day(1)
    expect(await balance()).toBe(3500)
  })
})

describe('a process killed while it renews', () => {
  const COUNT = runs(40, 120)
  /** Numbers of terms that are due when a process is killed. */
  const KILLS = isWhole ? [112, 60, 8] : [randomInt(10, COUNT)]

  test('charges every term exactly once', async () => {
    const started = new Date(Date.now() - 30 * DAY_MS - 1000)
    service.clock.set(started)
    const wallets = Array.from(
      { length: COUNT },
      (_, index): Address => `0x${String(index + 1).padStart(40, '0')}`,
    )
    const renewing = { quantity: 1, periods: 1, autoRenew: true }
    for (const [index, wallet] of wallets.entries()) {
      const caller = { wallet, scopes: ['spend'], via: 'http' } as const
      await acceptTerms(service.app, caller, { version: '2026-11' })
      // Every second wallet can pay another term.
      await giveCredits(service.app, wallet, index % 2 === 0 ? 1200 : 700)
      await createSubscription(service.app, caller, renewing)
    }
    const start = () =>
      startServiceProcess({ DATABASE_URL: service.database.url, ROLES: 'watcher' })
    const countDue = async () => {
      const [row] = await service.sql<{ due: number }[]>`
        select count(*)::int as due from subscriptions where due_at <= ${new Date(Date.now())}`
      return row?.due ?? 0
    }
    for (const left of KILLS) {
      const process = await start()
      await expect.poll(countDue, { timeout: 60_000, interval: 5 }).toBeLessThanOrEqual(left)
      await process.kill()
    }
    const last = await start()
    await expect.poll(countDue, { timeout: 60_000, interval: 20 }).toBe(0)
    await last.stop()

    const rows = await service.sql<{ status: string; balance: number; terms: number }[]>`
      select s.status, a.balance_credits::int as balance,
        (select count(*)::int from ledger_entries e
          where e.wallet = s.wallet and e.type = 'subscription') as terms
      from subscriptions s join accounts a on a.wallet = s.wallet order by s.wallet`
    expect(rows).toHaveLength(COUNT)
    for (const [index, row] of rows.entries()) {
      const paid = { status: 'active', balance: 200, terms: 2 }
      const unpaid = { status: 'grace', balance: 200, terms: 1 }
      expect(row).toEqual(index % 2 === 0 ? paid : unpaid)
    }
  }, 180_000)
})
