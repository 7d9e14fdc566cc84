import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client
let bob: Client

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  bob = await signIn(service, 'bob')
})
beforeEach(async () => {
  service.clock.set(new Date('2026-11-20T12:00:00.000Z'))
  await service.sql`
    truncate accounts, ledger_entries, trials, subscriptions, capacity_changes, idempotency_keys`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
})
afterAll(() => service.close())

const give = (amount: number, client = alice) =>
  giveCredits(service.app, client.caller.wallet, amount)
const buy = (body: object, headers = {}) => alice.request('POST', '/subscriptions', body, headers)
const list = async (client = alice) => (await client.request('GET', '/subscriptions')).body
const account = async () => (await alice.request('GET', '/account')).body

describe('GET /subscriptions/quote', () => {
  test('returns the price, the discounts, the term and the missing credits', async () => {
    await give(40_000)
    const answer = await alice.request('GET', '/subscriptions/quote?quantity=10&periods=12')
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      quantity: 10,
      periods: 12,
      slotPriceCredits: 500,
      listCredits: 60_000,
      durationDiscountBps: 2000,
      volumeDiscountBps: 1000,
      totalCredits: 43_200,
      startsAt: '2026-11-20T12:00:00.000Z',
      endsAt: '2027-11-15T12:00:00.000Z',
      balanceCredits: 40_000,
      shortfallCredits: 3200,
    })
    await give(5000)
    const again = await alice.request('GET', '/subscriptions/quote?quantity=10&periods=12')
    expect(again.body).toMatchObject({ balanceCredits: 45_000, shortfallCredits: 0 })
  })

  test.each([
    ['quantity=0&periods=1', '/quantity'],
    ['quantity=21&periods=1', '/quantity'],
    ['quantity=1.5&periods=1', '/quantity'],
    ['quantity=1&periods=0', '/periods'],
    ['quantity=1&periods=121', '/periods'],
    ['quantity=1', '/periods'],
    ['periods=1', '/quantity'],
  ])('refuses %s', async (query, pointer) => {
    const { status, body } = await alice.request('GET', `/subscriptions/quote?${query}`)
    expect({
      status,
      pointers: body.errors.map((error: { pointer: string }) => error.pointer),
    }).toEqual({ status: 400, pointers: [pointer] })
  })
})

describe('POST /subscriptions', () => {
  test('pays for slots with credits, and every view shows the slots', async () => {
    await give(10_000)
    const bought = await buy({ quantity: 3, periods: 6, expectedCredits: 8100 })
    expect(bought.status).toBe(201)
    expect(bought.headers.location).toBe('/api/x402/subscriptions')
    expect(bought.body).toEqual({
      id: expect.any(Number),
      quantity: 3,
      periods: 6,
      status: 'active',
      startsAt: '2026-11-20T12:00:00.000Z',
      endsAt: '2027-05-19T12:00:00.000Z',
      autoRenew: false,
      totalCredits: 8100,
      nextRenewalAt: null,
      lastRenewalError: null,
    })
    const slots = { purchased: 3, trial: 0, used: 0, available: 3, max: 20 }
    expect(await list()).toEqual({
      data: [bought.body],
      nextCursor: null,
      capacity: slots,
      trial: { available: true, startedAt: null, endsAt: null },
    })
    expect(await account()).toMatchObject({
      balanceCredits: 1900,
      slots,
      ledger: {
        data: [
          {
            type: 'subscription',
            deltaCredits: -8100,
            balanceAfterCredits: 1900,
            reference: `subscription:${bought.body.id}:1`,
          },
          { type: 'topup', deltaCredits: 10_000 },
        ],
      },
    })
  })

  test('requires acceptance of the current terms', async () => {
    await give(10_000, bob)
    expect(await bob.request('POST', '/subscriptions', { quantity: 1, periods: 1 })).toMatchObject({
      status: 403,
      body: { code: 'terms_not_accepted' },
    })
  })

  test('reports how many credits are missing, and charges none', async () => {
    await give(7000)
    const refused = await buy({ quantity: 3, periods: 6 })
    expect(refused).toMatchObject({
      status: 402,
      body: { code: 'insufficient_credits', shortfallCredits: 1100 },
    })
    expect(refused.body.detail).toContain('1.10\u00a0USD (1,100 credits) short')
    expect(await account()).toMatchObject({ balanceCredits: 7000, slots: { purchased: 0 } })
  })

  test('buys at the expected price only', async () => {
    await give(10_000)
    const refused = await buy({ quantity: 3, periods: 6, expectedCredits: 8000 })
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'price_changed', totalCredits: 8100 },
    })
    expect((await account()).balanceCredits).toBe(10_000)
  })

  test('allows at most 20 slots, the trial’s included', async () => {
    await give(100_000)
    await withTrial(alice)
    expect((await buy({ quantity: 15, periods: 1 })).status).toBe(201)
    expect(await buy({ quantity: 5, periods: 1 })).toMatchObject({
      status: 409,
      body: { code: 'slot_limit_reached' },
    })
    expect((await buy({ quantity: 4, periods: 1 })).status).toBe(201)
    expect((await list()).capacity).toMatchObject({ purchased: 19, trial: 1, available: 20 })
    service.clock.advance(14 * DAY_SECONDS)
    expect((await buy({ quantity: 1, periods: 1 })).status).toBe(201)
  })

  test('allows no trial while there are 20 slots; the trial stays available', async () => {
    await give(100_000)
    await buy({ quantity: 20, periods: 1 })
    expect(await alice.request('POST', '/subscriptions/trial')).toMatchObject({
      status: 409,
      body: { code: 'slot_limit_reached' },
    })
    expect((await list()).trial.available).toBe(true)
  })

  test('reports missing credits rather than a changed price or the limit', async () => {
    const refused = await buy({ quantity: 20, periods: 120, expectedCredits: 1 })
    expect(refused).toMatchObject({ status: 402 })
  })

  test('spends no credit twice in concurrent purchases', async () => {
    await give(2600)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => buy({ quantity: 1, periods: 1 })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      201, 201, 201, 201, 201, 402, 402, 402, 402, 402,
    ])
    expect(await account()).toMatchObject({ balanceCredits: 100, slots: { purchased: 5 } })
  })

  test('keeps the limit of slots in concurrent purchases', async () => {
    await give(100_000)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => buy({ quantity: 3, periods: 1 })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(6)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(new Set(['slot_limit_reached']))
    expect(await account()).toMatchObject({ balanceCredits: 91_000, slots: { purchased: 18 } })
  })

  test('buys once per idempotency key, and replays a refusal', async () => {
    await give(600)
    const key = { 'idempotency-key': 'one' }
    const [first, second] = [
      await buy({ quantity: 1, periods: 1 }, key),
      await buy({ quantity: 1, periods: 1 }, key),
    ]
    expect(first.status).toBe(201)
    expect(second).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } })
    expect(second.body).toEqual(first.body)
    const other = { 'idempotency-key': 'two' }
    const refused = await buy({ quantity: 1, periods: 1 }, other)
    expect(refused.status).toBe(402)
    expect(refused.headers).not.toHaveProperty('idempotent-replayed')
    await give(1000)
    const kept = await buy({ quantity: 1, periods: 1 }, other)
    expect(kept).toMatchObject({ status: 402, body: { shortfallCredits: 400 } })
    expect(kept.headers['idempotent-replayed']).toBe('true')
    expect((await list()).data).toHaveLength(1)
  })

  test.each([
    [{ quantity: 0, periods: 1 }, '/quantity'],
    [{ quantity: 21, periods: 1 }, '/quantity'],
    [{ quantity: 1.5, periods: 1 }, '/quantity'],
    [{ quantity: '1', periods: 1 }, '/quantity'],
    [{ quantity: 1, periods: 121 }, '/periods'],
    [{ quantity: 1, periods: 1, autoRenew: 'yes' }, '/autoRenew'],
    [{ quantity: 1, periods: 1, expectedCredits: -1 }, '/expectedCredits'],
  ])('refuses %j', async (body, pointer) => {
    expect(await buy(body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } })
  })
})

describe('GET /subscriptions', () => {
  test('lists the wallet’s own subscriptions by id, in pages', async () => {
    await give(10_000)
    for (const quantity of [1, 2, 3]) await buy({ quantity, periods: 1 })
    const first = (await alice.request('GET', '/subscriptions?limit=2')).body
    expect(first.data.map(({ quantity }: { quantity: number }) => quantity)).toEqual([1, 2])
    const rest = await alice.request('GET', `/subscriptions?limit=2&cursor=${first.nextCursor}`)
    expect(rest.body).toMatchObject({ data: [{ quantity: 3 }], nextCursor: null })
    expect(await list(bob)).toMatchObject({ data: [], capacity: { purchased: 0 } })
  })

  test('shows the trial', async () => {
    await withTrial(alice)
    expect((await list()).trial).toEqual({
      available: false,
      startedAt: '2026-11-20T12:00:00.000Z',
      endsAt: '2026-12-04T12:00:00.000Z',
    })
  })
})

describe('PATCH /subscriptions', () => {
  const patch = (client: Client, body: object) => client.request('PATCH', '/subscriptions', body)
  let saver: Client
  let spender: Client

  beforeAll(async () => {
    saver = await signIn(service, 'alice', ['write'])
    spender = await signIn(service, 'alice', ['spend'])
  })

  test('switches renewal of one or of all subscriptions on and off', async () => {
    await give(10_000)
    const { body: first } = await buy({ quantity: 1, periods: 1 })
    const { body: second } = await buy({ quantity: 2, periods: 1 })
    const answer = await patch(spender, { autoRenew: true, id: second.id })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      data: [
        { id: first.id, autoRenew: false, nextRenewalAt: null },
        { id: second.id, autoRenew: true, nextRenewalAt: '2026-12-20T12:00:00.000Z' },
      ],
      capacity: { purchased: 3 },
    })
    const all = await patch(spender, { autoRenew: true })
    expect(all.body.data).toMatchObject([{ autoRenew: true }, { autoRenew: true }])
    const off = await patch(saver, { autoRenew: false })
    expect(off.body.data).toMatchObject([{ autoRenew: false }, { autoRenew: false }])
  })

  test('needs the scope spend to switch renewal on, and write to switch it off', async () => {
    expect((await patch(spender, { autoRenew: true })).status).toBe(200)
    expect((await patch(saver, { autoRenew: false })).status).toBe(200)
    expect(await patch(saver, { autoRenew: true })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', scope: 'spend' },
    })
    expect(await patch(spender, { autoRenew: false })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', scope: 'write' },
    })
  })

  test('finds the wallet’s own subscriptions only', async () => {
    await give(10_000)
    const { body } = await buy({ quantity: 1, periods: 1 })
    for (const id of [body.id, body.id + 1000]) {
      const answer = await patch(bob, { autoRenew: true, id })
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await list()).data).toMatchObject([{ autoRenew: false }])
  })
})

test('a call whose body is missing is told so', async () => {
  await give(1000)
  const bought = await buy({ quantity: 1, periods: 1 })
  const path = `/subscriptions/${bought.body.id}/renewal`
  const { status, body } = await alice.request('POST', path)
  expect(status).toBe(400)
  expect(body.errors).toEqual([
    { pointer: '', code: 'required', detail: expect.stringMatching(/^This request has no body\./) },
  ])
})
