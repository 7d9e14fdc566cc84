import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { renewDueSubscriptions } from '#src/billing/subscriptions/renewal.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { fitWalletsWithChangedSlots } from '#src/watches/manage/slots.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

const START = new Date('2026-11-20T12:00:00.000Z')
const signal = new AbortController().signal

beforeAll(async () => {
  service = await serviceOnly()
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
beforeEach(async () => {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, trials, subscriptions, capacity_changes, watches, targets
    cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await giveCredits(service.app, alice.caller.wallet, 100_000)
})
afterAll(() => service.close())

const buy = async (quantity: number, periods = 1) => {
  const { status } = await alice.request('POST', '/subscriptions', { quantity, periods })
  expect(status).toBe(201)
}

/** Runs the jobs that depend on the clock. */
async function runJobs(): Promise<void> {
  await renewDueSubscriptions(service.app, signal)
  await fitWalletsWithChangedSlots(service.app, signal)
}

const create = (label: string) =>
  alice.request('POST', '/watches', {
    type: 'credits-balance',
    label,
    target: {},
    settings: { limit: 1 },
  })

/** Creates a watch, a second after the previous one. */
async function watchNew(label: string): Promise<number> {
  service.clock.advance(1)
  const { status, body } = await create(label)
  expect(status).toBe(201)
  return body.id
}

async function statuses(): Promise<string> {
  const { body } = await alice.request('GET', '/watches')
  return body.data
    .map(({ label, status }: { label: string; status: string }) => `${label} ${status}`)
    .join(', ')
}

const slots = async () => (await alice.request('GET', '/account')).body.slots

describe('when slots end', () => {
  test('the newest watches without a slot are suspended', async () => {
    await buy(2, 12)
    await buy(2, 1)
    for (const label of ['a', 'b', 'c', 'd']) await watchNew(label)
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect(await statuses()).toBe('a active, b active, c suspended, d suspended')
    expect(await slots()).toEqual({ purchased: 2, trial: 0, used: 4, available: 0, max: 20 })
    expect(await create('e')).toMatchObject({ status: 409, body: { code: 'no_free_slot' } })
  })

  test('suspended watches resume, oldest first, when there are slots again', async () => {
    await buy(4)
    for (const label of ['a', 'b', 'c', 'd']) await watchNew(label)
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect(await statuses()).toBe('a suspended, b suspended, c suspended, d suspended')
    await buy(3)
    await runJobs()
    expect(await statuses()).toBe('a active, b active, c active, d suspended')
  })

  test('if the trial ends, only its watch is suspended', async () => {
    await alice.request('POST', '/subscriptions/trial')
    await buy(1, 12)
    for (const label of ['a', 'b']) await watchNew(label)
    service.clock.set(new Date(START.getTime() + 14 * DAY_SECONDS * 1000 - 1))
    await runJobs()
    expect(await statuses()).toBe('a active, b active')
    service.clock.set(new Date(START.getTime() + 14 * DAY_SECONDS * 1000))
    await runJobs()
    expect(await statuses()).toBe('a active, b suspended')
  })

  test('a trial started later lets a suspended watch run', async () => {
    await buy(1)
    await watchNew('a')
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    await alice.request('POST', '/subscriptions/trial')
    await runJobs()
    expect(await statuses()).toBe('a active')
  })

  test('deleting a watch resumes the oldest suspended one at once', async () => {
    await buy(2, 12)
    await buy(2, 1)
    const first = await watchNew('a')
    for (const label of ['b', 'c', 'd']) await watchNew(label)
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect((await alice.request('DELETE', `/watches/${first}`)).status).toBe(204)
    expect(await statuses()).toBe('b active, c active, d suspended')
  })

  test('a paused watch is suspended too, and paused again afterwards', async () => {
    await buy(2)
    await watchNew('a')
    const second = await watchNew('b')
    await alice.request('PATCH', `/watches/${second}`, { status: 'paused' })
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect(await statuses()).toBe('a suspended, b suspended')
    await buy(2)
    await runJobs()
    expect(await statuses()).toBe('a active, b paused')
  })

  test('a status that is set on a suspended watch applies when there is a slot again', async () => {
    await buy(2)
    const [first, second] = [await watchNew('a'), await watchNew('b')]
    await alice.request('PATCH', `/watches/${second}`, { status: 'paused' })
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    const paused = await alice.request('PATCH', `/watches/${first}`, { status: 'paused' })
    expect(paused.body.status).toBe('suspended')
    await alice.request('PATCH', `/watches/${second}`, { status: 'active' })
    await buy(2)
    await runJobs()
    expect(await statuses()).toBe('a paused, b active')
  })

  test('a watch has another ETag after it was suspended', async () => {
    await buy(1)
    const id = await watchNew('a')
    const tag = async () => (await alice.request('GET', `/watches/${id}`)).headers.etag
    const before = await tag()
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect(await tag()).not.toBe(before)
  })

  test('no watch of another wallet is changed', async () => {
    const bob = await signIn(service, 'bob')
    await bob.request('POST', '/account/terms', { version: '2026-11' })
    await giveCredits(service.app, bob.caller.wallet, 5000)
    await bob.request('POST', '/subscriptions', { quantity: 1, periods: 2 })
    const watch = { type: 'credits-balance', target: {}, settings: { limit: 1 } }
    await bob.request('POST', '/watches', watch)
    await buy(1)
    await watchNew('a')
    service.clock.advance(30 * DAY_SECONDS)
    await runJobs()
    expect(await statuses()).toBe('a suspended')
    const [row] = await service.sql`
      select count(*)::int as running from watches
      where wallet = ${bob.caller.wallet} and suspended_at is null`
    expect(row?.running).toBe(1)
  })
})

test('active watches never outnumber slots while watches are created and slots end', async () => {
  await buy(3, 1)
  await buy(3, 12)
  service.clock.advance(30 * DAY_SECONDS)
  await Promise.all([
    runJobs(),
    ...Array.from({ length: 12 }, (_, index) => create(`watch ${index}`)),
  ])
  await runJobs()
  const { body } = await alice.request('GET', '/watches')
  const active = body.data.filter(({ status }: { status: string }) => status === 'active')
  expect(active).toHaveLength(3)
  expect(await slots()).toMatchObject({ purchased: 3, used: body.data.length })
})
