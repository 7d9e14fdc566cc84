import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as alerts from '#src/alerts/service.ts'
import { type JudgeLedgersDeps, judgeLedgers } from '#src/watches/evaluate/judge-ledgers.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { isWhole, runs } from '../support/runs.ts'
import { compareAll, createWatch, liftLimits } from './compared.ts'

/**
 * The same random ledger twice: once while watches run, whenever the job happens to look; once as a backtest
 * that begins at the first look. Both give the same alerts at the same times.
 */

const RUNS = runs(4, 40)
const START = new Date('2026-11-20T12:00:00.000Z')
const DAY_SECONDS = 86_400
const LIMIT = 1000

let service: Awaited<ReturnType<typeof serviceOnly>>
let alice: Client

beforeAll(async () => {
  service = await serviceOnly()
  liftLimits(service.app)
  alice = await signIn(service, 'alice')
  await service.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
})
afterAll(() => service.close())

const entry = fc.integer({ min: -900, max: 900 }).filter((credits) => credits !== 0)
const step = fc.record({
  afterSeconds: fc.integer({ min: 1, max: 1200 }),
  credits: entry,
  /** Whether the job looks before the next entry, and how long after this one. */
  looksAfterSeconds: fc.option(fc.integer({ min: 0, max: 900 })),
})
const watch = fc.record({
  limit: fc.integer({ min: LIMIT - 400, max: LIMIT + 400 }),
  cooldownSeconds: fc.constantFrom(0, 300, 900, 3600),
  isRecoveryNotified: fc.boolean(),
})
const history = fc.record({
  steps: fc.array(step, { minLength: 5, maxLength: 30 }),
  watches: fc.array(watch, { minLength: 1, maxLength: 4 }),
})

async function look(): Promise<void> {
  const recordAlerts: JudgeLedgersDeps['recordAlerts'] = (tx, raised) =>
    alerts.recordAlerts(service.app, tx, raised)
  await judgeLedgers({ ...service.app, recordAlerts }, undefined, new AbortController().signal)
}

/** A wallet with slots and `LIMIT` credits. */
async function begin(): Promise<void> {
  service.clock.set(START)
  await service.sql`
    truncate accounts, ledger_entries, trials, subscriptions, capacity_changes, watches, targets,
      alerts, delivery_queue, delivery_log cascade`
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await giveCredits(service.app, alice.caller.wallet, 100_000)
  await alice.request('POST', '/subscriptions', { quantity: 10, periods: 1 })
  const { body } = await alice.request('GET', '/account')
  await spendCredits(service.app, alice.caller.wallet, body.balanceCredits - LIMIT)
}

/** An entry, as far as the balance covers it. */
async function enter(credits: number): Promise<void> {
  const { wallet } = alice.caller
  const { body } = await alice.request('GET', '/account')
  const taken = Math.min(-credits, body.balanceCredits)
  if (credits > 0) await giveCredits(service.app, wallet, credits)
  else if (taken > 0) await spendCredits(service.app, wallet, taken)
}

test('a backtest returns the alerts that a watch of credits fired in that time, however seldom it was judged', async () => {
  const property = fc.asyncProperty(history, async ({ steps, watches: wanted }) => {
    await begin()
    const watches = []
    for (const { limit, cooldownSeconds, isRecoveryNotified } of wanted) {
      const signals = [
        { id: 'credits-threshold', enabled: true, recovery: { enabled: isRecoveryNotified } },
      ]
      const body = { type: 'credits-balance', target: {}, settings: { limit }, cooldownSeconds }
      watches.push(await createWatch({ alice }, { ...body, signals }))
    }
    // Entries of the moment in which a backtest begins come after it.
    service.clock.advance(1)
    const begins = service.clock.now().getTime()
    await look()
    for (const { afterSeconds, credits, looksAfterSeconds } of steps) {
      service.clock.advance(afterSeconds)
      await enter(credits)
      if (looksAfterSeconds === null) continue
      service.clock.advance(looksAfterSeconds)
      await look()
    }
    service.clock.set(new Date(begins + DAY_SECONDS * 1000))
    await look()
    // Prices of past renewals are not stored.
    alertCount += await compareAll({ alice }, watches, { days: 1, unknown: ['nextRenewal'] })
  })
  let alertCount = 0
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
  expect(alertCount).toBeGreaterThan(isWhole ? RUNS : 0)
})
