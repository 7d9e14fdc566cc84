import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Account } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
})
afterAll(() => service.close())

describe('the terms', () => {
  test('are not accepted at first', async () => {
    expect((await alice.request('GET', '/account/terms')).body).toEqual({
      currentVersion: '2026-11',
      url: 'https://watchdog.example.org/terms',
      accepted: false,
      acceptedVersion: null,
      acceptedAt: null,
    })
  })

  test('must be accepted before the trial', async () => {
    const answer = await alice.request('POST', '/subscriptions/trial')
    expect(answer).toMatchObject({ status: 403, body: { code: 'terms_not_accepted' } })
  })

  test('are accepted in their current version only', async () => {
    const answer = await alice.request('POST', '/account/terms', { version: '2020-01' })
    expect(answer).toMatchObject({ status: 409, body: { code: 'terms_version_changed' } })
  })

  test('have the time of their first acceptance, also after a second one', async () => {
    const accept = () => alice.request('POST', '/account/terms', { version: '2026-11' })
    const first = await accept()
    expect(first).toMatchObject({
      status: 200,
      body: { accepted: true, acceptedVersion: '2026-11', acceptedAt: '2026-11-20T12:00:00.000Z' },
    })
    service.clock.advance(60)
    expect((await accept()).body).toEqual(first.body)
  })
})

describe('the trial', () => {
  test('gives one slot for 14 days, once, also to concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => alice.request('POST', '/subscriptions/trial', {})),
    )
    const [started, ...refused] = answers.toSorted((a, b) => a.status - b.status)
    expect(started).toMatchObject({
      status: 201,
      body: { slots: 1, startedAt: '2026-11-20T12:01:00.000Z', endsAt: '2026-12-04T12:01:00.000Z' },
    })
    expect(started?.headers.location).toBe('/api/x402/subscriptions')
    expect(
      refused.every(({ status, body }) => status === 409 && body.code === 'trial_already_used'),
    ).toBe(true)
  })

  test('gives no slot once it has ended', async () => {
    service.clock.advance(14 * 86_400)
    const watch = {
      type: 'wallet-balance',
      target: { address: alice.caller.wallet, asset: 'FLR' },
      settings: { threshold: '1' },
    }
    expect(await alice.request('POST', '/watches', watch)).toMatchObject({
      status: 409,
      body: { code: 'no_free_slot' },
    })
  })
})

describe('GET /account', () => {
  test('shows balance, free calls, slots and an empty ledger of a new wallet', async () => {
    const bob = await signIn(service, 'bob')
    expect(await bob.request<Account>('GET', '/account')).toMatchObject({
      status: 200,
      body: {
        wallet: bob.caller.wallet,
        balanceCredits: 0,
        freeTier: { limit: 50, used: 0 },
        slots: { purchased: 0, trial: 0, used: 0, available: 0, max: 20 },
        ledger: { data: [], nextCursor: null },
      },
    })
  })

  test('resets the free calls at the next midnight in UTC', async () => {
    service.clock.set(new Date('2026-12-31T23:59:59.999Z'))
    const bob = await signIn(service, 'bob')
    const { body } = await bob.request<Account>('GET', '/account')
    expect(body.freeTier.resetsAt).toBe('2027-01-01T00:00:00.000Z')
  })
})

describe('GET /stats', () => {
  test('returns totals without sign-in, computed at most once a minute', async () => {
    const first = await request(service, 'GET', '/stats')
    expect(first).toMatchObject({ status: 200, body: { wallets: 1, deliverySuccessRate24h: null } })
    service.clock.advance(30)
    expect((await request(service, 'GET', '/stats')).body).toEqual(first.body)
    service.clock.advance(31)
    expect((await request(service, 'GET', '/stats')).body.asOf).not.toBe(first.body.asOf)
  })
})
