import { afterAll, beforeAll, expect, test } from 'vitest'
import { fitWatches } from '#src/jobs/fit-watches.ts'
import { renewSubscriptions } from '#src/jobs/renew-subscriptions.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import { testClock } from '../support/clock.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** A host whose clock is wrong, beside a database whose clock is right. */

const signal = new AbortController().signal
const DAY_MS = 86_400_000
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

/** The database's time, so many days off. */
async function setClock(days: number): Promise<void> {
  const [row] = await service.sql<{ ms: string }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::text as ms`
  clock.set(new Date(Number(row?.ms) + days * DAY_MS))
}

async function run(): Promise<number> {
  await renewSubscriptions.run(service.app, signal, undefined)
  await fitWatches.run(service.app, signal, undefined)
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
  expect(new Set(errors)).toEqual(new Set(['clock differs from that of the database']))
  expect((await alice.request('GET', '/watches')).body.data).toMatchObject([{ status: 'active' }])

  errors.length = 0
  // One term has passed since.
  await setClock(0)
  expect(await run()).toBe(2)
  await setClock(4 / 1440)
  expect(await run()).toBe(2)
  expect(errors).toEqual([])
})
