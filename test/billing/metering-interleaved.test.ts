import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { credit, debit } from '#src/billing/account/service.ts'
import type { Charge } from '#src/billing/metering/model.ts'
import { getPayerFunds, type Metering } from '#src/billing/metering/service.ts'
import { RESOURCE_PRICES_CREDITS, RESOURCES, type ResourceId } from '#src/billing/price-list.ts'
import { transact } from '#src/db/connection.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { meteringOn, newCaller, newToken, provedLedger } from './callers.ts'

const clock = testClock()
let database: FreshDatabase
let processes: readonly Metering[]

beforeAll(async () => {
  database = await freshDatabase()
  processes = [meteringOn(database.db, clock), meteringOn(database.db, clock)]
})
afterAll(async () => {
  for (const instance of processes) await instance.stop()
  await database.drop()
})

interface Step {
  readonly verb: 'call' | 'credit' | 'debit'
  readonly wallet: number
  readonly process: number
  readonly token: number
  readonly resource: ResourceId
  /** Number of refunds requested for the call; 0 for one that succeeds. */
  readonly returns: number
  readonly amount: number
}

const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom('call', 'call', 'call', 'call', 'credit', 'debit'),
  wallet: fc.nat({ max: 1 }),
  process: fc.nat({ max: 1 }),
  token: fc.nat({ max: 1 }),
  resource: fc.constantFrom(...RESOURCES),
  returns: fc.nat({ max: 2 }),
  amount: fc.integer({ min: 1, max: 30 }),
})

/** Change by a step: credits, and free calls taken. */
interface Change {
  readonly wallet: number
  readonly credits: number
  readonly free: number
}

test('any interleaving of calls, refunds, debits and credits adds up, with no balance below zero', async () => {
  const { db } = database
  let references = 0

  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 40, max: 50 }),
      async (steps, freeUsed) => {
        const owners = await Promise.all(
          [0, 1].map(async () => {
            const caller = await newCaller(db, clock, { credits: 20, freeUsed })
            const spare = await newToken(db, clock, caller.wallet)
            return { wallet: caller.wallet, payers: [caller.payer, spare] }
          }),
        )
        const run = async (step: Step): Promise<Change> => {
          const owner = owners[step.wallet]
          const payer = owner?.payers[step.token]
          const metering = processes[step.process]
          if (owner === undefined || payer === undefined || metering === undefined) {
            throw new Error('no such owner, token or process')
          }
          const { wallet } = owner
          if (step.verb !== 'call') {
            references += 1
            const { amount: amountCredits } = step
            const reference = `step:${references}`
            const change = { wallet, amountCredits, reference, at: clock.now() } as const
            if (step.verb === 'credit') {
              await transact(db, (tx) => credit(tx, { ...change, type: 'topup' }))
              return { wallet: step.wallet, credits: amountCredits, free: 0 }
            }
            const taken = await transact(db, (tx) => debit(tx, { ...change, type: 'subscription' }))
            return { wallet: step.wallet, credits: taken.ok ? -amountCredits : 0, free: 0 }
          }
          const outcome = await metering.charge({ resource: step.resource, payer })
          if (!outcome.ok) {
            expect(outcome).toMatchObject({ reason: 'payment_required', freeLeft: 0 })
            return { wallet: step.wallet, credits: 0, free: 0 }
          }
          expect(outcome.balanceCredits).toBeGreaterThanOrEqual(0)
          if (step.returns > 0) {
            await refund(metering, outcome.charge, step.returns)
            return { wallet: step.wallet, credits: 0, free: 0 }
          }
          return outcome.charge.kind === 'free'
            ? { wallet: step.wallet, credits: 0, free: 1 }
            : { wallet: step.wallet, credits: -RESOURCE_PRICES_CREDITS[step.resource], free: 0 }
        }
        const changes = await Promise.all(steps.map(run))
        for (const [index, { wallet }] of owners.entries()) {
          await provedLedger(db, clock, wallet)
          const own = changes.filter((change) => change.wallet === index)
          const status = await getPayerFunds({ db, clock }, { wallet })
          const credits = own.reduce((sum, change) => sum + change.credits, 20)
          const free = own.reduce((sum, change) => sum + change.free, freeUsed)
          expect(status).toEqual({ balanceCredits: credits, freeLeft: 50 - free })
        }
      },
    ),
    { numRuns: runs(40) },
  )
})

/**
 * Credits may be requested back twice and are refunded once; a free call is requested back once, by
 * one process.
 */
async function refund(metering: Metering, charge: Charge, times: number): Promise<void> {
  const asked = charge.kind === 'paid' ? times : 1
  await Promise.all(Array.from({ length: asked }, () => metering.refund(charge)))
}
