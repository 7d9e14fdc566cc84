import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Topup, TopupDraft } from '../generated/api.ts'
import { buyer, draftOf, type PayWorld, payWorld } from '../support/pay-world.ts'
import type { Client } from '../support/people.ts'

/** Slots that are bought with the credits of a top-up once they arrive. */

let world: PayWorld
let alice: Client

beforeAll(async () => {
  world = await payWorld()
  alice = await buyer(world, 'alice')
})
beforeEach(async () => {
  await world.sql`truncate accounts, ledger_entries, subscriptions, capacity_changes, topup_purchases cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
})
afterAll(() => world.close())

const THEN = { slots: 1, periods: 1, autoRenew: true } as const

const topupOf = async ({ handle }: Pick<TopupDraft, 'handle'>) =>
  (await alice.request<Topup>('GET', `/topup/${handle}`)).body
const subscriptions = async () => (await alice.request('GET', '/subscriptions')).body.data

describe('a top-up with a purchase', () => {
  test('buys the slots with its credits once, and says so', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    const waiting = { ...THEN, status: 'waiting', subscriptionId: null, reason: null }
    expect(draft).toMatchObject({ then: waiting })
    const txHash = await world.pay(draft)
    await world.devnet.mine(2, 1)
    const confirm = () => alice.request('POST', `/topup/${draft.handle}/confirm`, { txHash })
    await Promise.all([world.settle(), confirm(), confirm(), world.settle()])
    await world.settle()
    const [bought, ...others] = await subscriptions()
    expect(others).toEqual([])
    expect(bought).toMatchObject({ quantity: 1, periods: 1, autoRenew: true, status: 'active' })
    expect(await topupOf(draft)).toMatchObject({
      status: 'credited',
      then: { ...THEN, status: 'done', subscriptionId: bought.id, reason: null },
    })
    const { body } = await alice.request('GET', '/account')
    expect(body.balanceCredits).toBe(10_000 - 500)
  })

  test('that brings too few credits keeps them, says why, and buys with the next payment of the same quote', async () => {
    const then = { slots: 6, periods: 6 }
    const draft = await draftOf(alice, { asset: 'FLR', credits: 10_000, then })
    await world.pay(draft)
    await world.confirmAll()
    expect(await topupOf(draft)).toMatchObject({
      status: 'credited',
      then: { ...then, autoRenew: false, status: 'waiting', reason: 'insufficient_credits' },
    })
    expect(await subscriptions()).toEqual([])
    await world.pay(draft)
    await world.confirmAll()
    expect(await topupOf(draft)).toMatchObject({ then: { status: 'done', reason: null } })
    expect(await subscriptions()).toHaveLength(1)
  })

  test('that exceeds the limit of slots is credited without a purchase', async () => {
    const many = await draftOf(alice, {
      asset: 'FLR',
      credits: 10_000,
      then: { slots: 20, periods: 1 },
    })
    await world.pay(many)
    await world.confirmAll()
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pay(draft)
    await world.confirmAll()
    expect(await topupOf(draft)).toMatchObject({
      status: 'credited',
      then: { status: 'waiting', reason: 'slot_limit_reached' },
    })
    expect(await subscriptions()).toHaveLength(1)
  })
})

describe('a purchase whose quote was renewed', () => {
  const renewed = async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pass(601)
    const { statusCode, headers } = await world.server.inject({
      method: 'POST',
      url: `/pay/${draft.handle}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: '',
    })
    expect(statusCode).toBe(303)
    const handle = String(headers.location).split('/').at(-1) as TopupDraft['handle']
    return { draft, next: await topupOf({ handle }) }
  }

  test('is made with a payment of the new quote', async () => {
    const { draft, next } = await renewed()
    expect([(await topupOf(draft)).then, next.then?.status]).toEqual([null, 'waiting'])
    await world.pay(next)
    await world.confirmAll()
    expect(await topupOf(next)).toMatchObject({ then: { status: 'done' } })
    expect(await subscriptions()).toHaveLength(1)
  })

  test('is made, once, with a late payment of the former quote', async () => {
    const { draft, next } = await renewed()
    await world.pay(draft)
    await world.confirmAll()
    expect(await subscriptions()).toHaveLength(1)
    await world.pay(next)
    await world.confirmAll()
    expect(await subscriptions()).toHaveLength(1)
  })
})

describe('a purchase is made once', () => {
  const balance = async () => (await alice.request('GET', '/account')).body.balanceCredits

  test('with two payments of its quote, which both bring credits', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pay(draft)
    await world.pay(draft)
    await world.confirmAll()
    await world.settle()
    expect(await subscriptions()).toHaveLength(1)
    expect(await balance()).toBe(2 * 10_000 - 500)
  })

  test('by the payment of another wallet, for the wallet that asked', async () => {
    const carol = await buyer(world, 'carol')
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pay(draft, BigInt(draft.amount), world.devnet.people.carol.account.address)
    await world.confirmAll()
    expect(await subscriptions()).toHaveLength(1)
    expect((await carol.request('GET', '/subscriptions')).body.data).toEqual([])
    expect((await carol.request('GET', '/account')).body.balanceCredits).toBe(0)
  })

  test('with a part of the amount that is enough for the slots', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pay(draft, BigInt(draft.amount) / 2n)
    await world.confirmAll()
    expect(await topupOf(draft)).toMatchObject({ status: 'credited', then: { status: 'done' } })
    expect([(await subscriptions()).length, await balance()]).toEqual([1, 5000 - 500])
  })

  test('with the rest, when the first part was too little', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    const part = BigInt(draft.amount) / 50n
    await world.pay(draft, part)
    await world.confirmAll()
    const { then } = await topupOf(draft)
    expect(then).toMatchObject({ status: 'waiting', reason: 'insufficient_credits' })
    expect([(await subscriptions()).length, await balance()]).toEqual([0, 200])
    await world.pay(draft, BigInt(draft.amount) - part)
    await world.confirmAll()
    expect([(await subscriptions()).length, await balance()]).toEqual([1, 10_000 - 500])
  })

  test('after its quote was over', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pass(601)
    await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    await world.pay(draft)
    await world.confirmAll()
    expect(await topupOf(draft)).toMatchObject({ status: 'credited', then: { status: 'done' } })
    expect(await subscriptions()).toHaveLength(1)
  })

  test('at the price of its quote when the market moved before the payment', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.contracts.setFeed('FLR/USD', 100_000n, 7)
    try {
      await world.pay(draft)
      await world.confirmAll()
    } finally {
      await world.contracts.setFeed('FLR/USD', 200_000n, 7)
    }
    expect([(await subscriptions()).length, await balance()]).toEqual([1, 10_000 - 500])
  })

  test('when two tabs renew its quote at once, and both are paid', async () => {
    const draft = await draftOf(alice, { asset: 'FLR', then: THEN })
    await world.pass(601)
    const renew = () =>
      world.server.inject({
        method: 'POST',
        url: `/pay/${draft.handle}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: '',
      })
    const tabs = await Promise.all([renew(), renew()])
    const places = new Set(tabs.map(({ headers }) => String(headers.location)))
    expect(tabs.map(({ statusCode }) => statusCode)).toEqual([303, 303])
    for (const place of places) {
      await world.pay(await topupOf({ handle: place.split('/').at(-1) as TopupDraft['handle'] }))
    }
    await world.confirmAll()
    expect(await subscriptions()).toHaveLength(1)
  })
})

test('a top-up without a purchase buys nothing', async () => {
  const draft = await draftOf(alice, { asset: 'FLR' })
  expect(draft).toMatchObject({ then: null })
  await world.pay(draft)
  await world.confirmAll()
  expect(await subscriptions()).toEqual([])
})

describe('a purchase', () => {
  test('needs a token that may spend', async () => {
    await world.sql`update tokens set scopes = '{read,write}' where wallet = ${alice.caller.wallet}`
    try {
      const { status, body } = await alice.request('POST', '/topup', { then: THEN })
      expect([status, body.code]).toEqual([403, 'insufficient_scope'])
      expect((await alice.request('POST', '/topup', {})).status).toBe(201)
    } finally {
      await world.sql`
        update tokens set scopes = '{read,write,spend}' where wallet = ${alice.caller.wallet}`
    }
  })

  test.each([
    [{ slots: 0, periods: 1 }, '/then/slots'],
    [{ slots: 21, periods: 1 }, '/then/slots'],
    [{ slots: 1, periods: 0 }, '/then/periods'],
    [{ slots: 1 }, '/then/periods'],
    [{ ...THEN, more: 1 }, '/then/more'],
  ])('of %j is refused', async (then, pointer) => {
    const { status, body } = await alice.request('POST', '/topup', { then })
    expect([status, body.errors[0].pointer]).toEqual([400, pointer])
  })
})
