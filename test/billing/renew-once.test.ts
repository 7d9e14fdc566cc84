import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { quoteRenewal, renewOnce } from '#src/billing/subscriptions/renew-once.ts'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { runs } from '../support/runs.ts'

/** A subscription that its owner renews before its end. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const PERIOD_MS = 30 * DAY_MS
const PRICE = 1500
const signal = new AbortController().signal

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2040-01-01T00:00:00.000Z')}`
})
beforeEach(() => reset())
afterAll(() => service.close())

async function reset() {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, subscriptions, capacity_changes, billing_pauses cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
}

async function buy(credits: number): Promise<number> {
  await giveCredits(service.app, alice.caller.wallet, credits)
  const body = { quantity: 3, periods: 1, autoRenew: false }
  return (await alice.request('POST', '/subscriptions', body)).body.id
}

const balance = async () => (await alice.request('GET', '/account')).body.balanceCredits
const only = async () => (await alice.request('GET', '/subscriptions')).body.data[0]
const after = (ms: number) => service.clock.set(new Date(service.clock.now().getTime() + ms))
const runJob = (app = service.app) => renewDueSubscriptions(app, signal)
const renew = (id: number, term: number, expectedCredits = PRICE) =>
  renewOnce(service.app, alice.caller, { id, term, expectedCredits })
const ended = { code: 'not_found' }
const endAfter = (terms: number) => new Date(START.getTime() + terms * PERIOD_MS)

test('begins its new term where the paid one ends, at the price and end that were shown', async () => {
  const id = await buy(10_000)
  after(25 * DAY_MS)
  expect(await quoteRenewal(service.app, alice.caller, { id })).toMatchObject({
    term: 2,
    quote: { totalCredits: PRICE, startsAt: endAfter(1), endsAt: endAfter(2) },
  })
  expect(await renew(id, 2)).toMatchObject({ id, startsAt: endAfter(1), endsAt: endAfter(2) })
  expect(await balance()).toBe(10_000 - 2 * PRICE)
  after(5 * DAY_MS)
  await runJob()
  expect(await only()).toMatchObject({ status: 'active', autoRenew: false })
  after(30 * DAY_MS)
  await runJob()
  expect(await only()).toMatchObject({ status: 'expired', endsAt: endAfter(2).toISOString() })
  await expect(quoteRenewal(service.app, alice.caller, { id })).rejects.toMatchObject(ended)
  await expect(renew(id, 3)).rejects.toMatchObject(ended)
})

test('is refused without credits, at another price, without billing, and for a strange subscription', async () => {
  const id = await buy(PRICE)
  await expect(renew(id, 2)).rejects.toMatchObject({ code: 'insufficient_credits' })
  await giveCredits(service.app, alice.caller.wallet, PRICE)
  await expect(renew(id, 2, PRICE - 1)).rejects.toMatchObject({ code: 'price_changed' })
  const free = { ...service.app, billing: { ...service.app.billing, enabled: false } }
  const body = { id, term: 2, expectedCredits: PRICE }
  await expect(renewOnce(free, alice.caller, body)).rejects.toMatchObject({
    code: 'billing_disabled',
  })
  await expect(renew(id + 1, 2)).rejects.toMatchObject(ended)
  const stranger = {
    ...alice.caller,
    wallet: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
  } as const
  await expect(renewOnce(service.app, stranger, body)).rejects.toMatchObject(ended)
  expect(await balance()).toBe(PRICE)
})

test('pays the next term only, however often a later one is asked for', async () => {
  const id = await buy(10_000)
  for (let times = 0; times < 3; times++) {
    await expect(renew(id, 4)).rejects.toMatchObject({
      code: 'term_not_next',
      details: { values: { number: 2 } },
    })
  }
  expect(await balance()).toBe(10_000 - PRICE)
  await renew(id, 2)
  await renew(id, 2)
  expect(await balance()).toBe(10_000 - 2 * PRICE)
})

test('over REST: quoted, paid once per term and once per key, refused without the right or credits', async () => {
  const id = await buy(3 * PRICE)
  const path = `/subscriptions/${id}/renewal`
  const quote = await alice.request('GET', path)
  expect(quote).toMatchObject({
    status: 200,
    body: { subscription: { id }, term: 2, quote: { totalCredits: PRICE, shortfallCredits: 0 } },
  })
  const { term } = quote.body
  const key = { 'idempotency-key': 'renewal' }
  const paid = await alice.request('POST', path, { term, expectedCredits: PRICE }, key)
  expect(paid).toMatchObject({
    status: 200,
    body: { id, startsAt: endAfter(1).toISOString(), endsAt: endAfter(2).toISOString() },
  })
  const replay = await alice.request('POST', path, { term, expectedCredits: PRICE }, key)
  expect(replay).toMatchObject({ body: paid.body, headers: { 'idempotent-replayed': 'true' } })
  expect((await alice.request('POST', path, { term })).body).toEqual(paid.body)
  expect(await balance()).toBe(PRICE)
  const send = async (body: object) => (await alice.request('POST', path, body)).body
  expect(await send({ term: 4 })).toMatchObject({ status: 409, code: 'term_not_next' })
  expect(await send({ term: 0 })).toMatchObject({
    errors: [{ pointer: '/term', code: 'too_small' }],
  })
  expect(await send({})).toMatchObject({ errors: [{ pointer: '/term', code: 'required' }] })
  expect(await send({ term: 3, expectedCredits: 1 })).toMatchObject({ code: 'price_changed' })
  await send({ term: 3 })
  expect(await send({ term: 4 })).toMatchObject({ status: 402, shortfallCredits: PRICE })
  for (const method of ['GET', 'POST'] as const) {
    const body = method === 'GET' ? undefined : { term: 2 }
    const other = await alice.request(method, `/subscriptions/${id + 1}/renewal`, body)
    expect(other).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

test('keeps the days of a pause of billing in its old term', async () => {
  const id = await buy(10_000)
  await renew(id, 2)
  const off = { ...service.app, billing: { ...service.app.billing, enabled: false } }
  after(10 * DAY_MS)
  await runJob(off)
  after(7 * DAY_MS)
  await runJob()
  const moved = new Date(endAfter(2).getTime() + 7 * DAY_MS)
  expect(await only()).toMatchObject({ endsAt: moved.toISOString() })
})

/** What may happen to a subscription, in any order. */
const Step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait'), days: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'renew' } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'renewTwice' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'renewOld' } as const) },
  { weight: 3, arbitrary: fc.constant({ kind: 'job' } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'renewAndJob' } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('auto'), on: fc.boolean() }) },
)

/** Renews a subscription unless it has ended. */
const tryRenew = (id: number, term: number) =>
  renew(id, term).catch((error) => expect(error).toMatchObject(ended))

test('no day is lost or given twice, whatever the order of renewing, auto-renew and end, also at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 3, maxLength: 14 }), async (steps) => {
      await reset()
      const id = await buy(1_000_000)
      for (const step of steps) {
        const { term: next } = await quoteRenewal(service.app, alice.caller, { id }).catch(() => ({
          term: 2,
        }))
        if (step.kind === 'wait') after(('days' in step ? step.days : 0) * DAY_MS)
        if (step.kind === 'renew') await tryRenew(id, next)
        if (step.kind === 'renewTwice') await Promise.all([tryRenew(id, next), tryRenew(id, next)])
        if (step.kind === 'renewOld') await tryRenew(id, next - 1)
        if (step.kind === 'renewAndJob') await Promise.all([tryRenew(id, next), runJob()])
        if (step.kind === 'job') await runJob()
        if (step.kind === 'auto' && 'on' in step) {
          await alice.request('PATCH', '/subscriptions', { id, autoRenew: step.on })
        }
        const entries = await service.sql`
          select reference from ledger_entries where type = 'subscription' order by reference`
        const terms = entries.length
        const references = Array.from(
          { length: terms },
          (_, index) => `subscription:${id}:${index + 1}`,
        )
        expect(entries.map(({ reference }) => reference)).toEqual(references.toSorted())
        expect(await balance()).toBe(1_000_000 - terms * PRICE)
        const { endsAt, startsAt } = await only()
        expect(endsAt).toBe(endAfter(terms).toISOString())
        expect(startsAt).toBe(endAfter(terms - 1).toISOString())
      }
    }),
    { numRuns: runs(25) },
  )
}, 120_000)
