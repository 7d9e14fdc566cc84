import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LedgerInput, LedgerType } from '#src/billing/account/model.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { listLedger } from '#src/billing/account/store.ts'
import { getAccount } from '#src/billing/overview.ts'
import { transact } from '#src/db/connection.ts'
import { listen } from '#src/db/listen.ts'
import type { Address } from '#src/kernel/units.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

let database: FreshDatabase
let wallets = 0
const clock = testClock()

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** A wallet that has never been seen. */
function newWallet(): Address {
  wallets += 1
  return `0x${String(wallets).padStart(40, '0')}`
}

function entry(
  wallet: Address,
  amountCredits: number,
  reference: string,
  type: LedgerType = 'topup',
): LedgerInput {
  return { wallet, type, amountCredits, reference: `${wallet}:${reference}`, at: clock.now() }
}

const give = (input: LedgerInput) => transact(database.db, (tx) => credit(tx, input))
const take = (input: LedgerInput) => transact(database.db, (tx) => debit(tx, input))

async function accountOf(wallet: Address) {
  const caller = { wallet, scopes: ['read'], via: 'http' } as const
  return await getAccount({ db: database.db, clock, billing: { enabled: true } }, caller, {
    limit: 250,
  })
}

describe('the ledger', () => {
  test('adds and takes credits, and returns the balance after each', async () => {
    const wallet = newWallet()
    expect(await give(entry(wallet, 100, 'a'))).toEqual({ balanceCredits: 100, isNew: true })
    expect(await take(entry(wallet, 30, 'b', 'usage'))).toEqual({
      ok: true,
      balanceCredits: 70,
      isNew: true,
    })
    expect(await accountOf(wallet)).toMatchObject({
      balanceCredits: 70,
      ledger: {
        data: [
          { id: 2, type: 'usage', deltaCredits: -30, balanceAfterCredits: 70 },
          { id: 1, type: 'topup', deltaCredits: 100, balanceAfterCredits: 100 },
        ],
      },
    })
  })

  test('changes nothing for a known reference, and returns the present balance', async () => {
    const wallet = newWallet()
    const topup = entry(wallet, 100, 'a')
    const call = entry(wallet, 60, 'b', 'usage')
    await give(topup)
    await take(call)
    expect(await give(topup)).toEqual({ balanceCredits: 40, isNew: false })
    expect(await take(call)).toEqual({ ok: true, balanceCredits: 40, isNew: false })
  })

  test('credits and debits one reference once, however many ask at once', async () => {
    const wallet = newWallet()
    const credits = await Promise.all(
      Array.from({ length: 20 }, () => give(entry(wallet, 100, 'a'))),
    )
    expect(credits.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(credits.every(({ balanceCredits }) => balanceCredits === 100)).toBe(true)
    const debits = await Promise.all(
      Array.from({ length: 20 }, () => take(entry(wallet, 70, 'b', 'usage'))),
    )
    expect(debits.filter((debited) => debited.ok && debited.isNew)).toHaveLength(1)
    expect(debits.every(({ ok, balanceCredits }) => ok && balanceCredits === 30)).toBe(true)
  })

  test('takes nothing when the balance is too low, and returns the balance', async () => {
    const wallet = newWallet()
    expect(await take(entry(wallet, 1, 'a', 'usage'))).toEqual({ ok: false, balanceCredits: 0 })
    await give(entry(wallet, 10, 'b'))
    expect(await take(entry(wallet, 11, 'c', 'usage'))).toEqual({ ok: false, balanceCredits: 10 })
    expect(await take(entry(wallet, 10, 'c', 'usage'))).toMatchObject({ balanceCredits: 0 })
  })

  test('accepts as many concurrent debits as the balance covers', async () => {
    const wallet = newWallet()
    await give(entry(wallet, 100, 'a'))
    const debits = await Promise.all(
      Array.from({ length: 30 }, (_, index) => take(entry(wallet, 7, `call ${index}`, 'usage'))),
    )
    expect(debits.filter(({ ok }) => ok)).toHaveLength(14)
    expect((await accountOf(wallet)).balanceCredits).toBe(2)
  })

  test('refuses one reference for two different changes', async () => {
    const [wallet, other] = [newWallet(), newWallet()]
    await give(entry(wallet, 100, 'a'))
    await expect(give(entry(wallet, 99, 'a'))).rejects.toThrow('used twice')
    await expect(take(entry(wallet, 100, 'a'))).rejects.toThrow('used twice')
    const foreign = { ...entry(wallet, 100, 'a'), wallet: other }
    await expect(give(foreign)).rejects.toThrow('used twice')
    expect((await accountOf(other)).balanceCredits).toBe(0)
  })

  test.each([0, -1, 0.5, Number.NaN, 2 ** 53])('refuses %s as an amount', async (amount) => {
    const wallet = newWallet()
    await expect(give(entry(wallet, amount, 'a'))).rejects.toThrow('not a number of credits')
    await expect(take(entry(wallet, amount, 'a'))).rejects.toThrow('not a number of credits')
  })

  test('keeps nothing of a transaction that is rolled back', async () => {
    const wallet = newWallet()
    await give(entry(wallet, 100, 'a'))
    const broken = transact(database.db, async (tx) => {
      await credit(tx, entry(wallet, 50, 'b'))
      await debit(tx, entry(wallet, 120, 'c', 'usage'))
      throw new Error('changed my mind')
    })
    await expect(broken).rejects.toThrow('changed my mind')
    expect(await accountOf(wallet)).toMatchObject({
      balanceCredits: 100,
      ledger: { data: [{ id: 1 }] },
    })
  })

  test('keeps entries in the order of writing when the writers’ clocks differ', async () => {
    const wallet = newWallet()
    await give(entry(wallet, 100, 'a'))
    const earlier = new Date(clock.now().getTime() - 60_000)
    await take({ ...entry(wallet, 40, 'b', 'usage'), at: earlier })
    await give(entry(wallet, 5, 'c', 'refund'))
    const { ledger } = await accountOf(wallet)
    expect(ledger.data.map(({ id }) => id)).toEqual([3, 2, 1])
    expect(ledger.data.every(({ createdAt }) => createdAt >= clock.now())).toBe(true)
  })

  test('reads the few entries of a type among a hundred thousand metered calls through an index', async () => {
    const wallet = newWallet()
    await give(entry(wallet, 500_000, 'first'))
    await database.sql`
      insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits, reference, created_at)
      select ${wallet}, n, 'usage', -1, 500001 - n, ${wallet} || ' call ' || n, ${clock.now()}::timestamptz + n * interval '1 second'
      from generate_series(2, 100000) n`
    await database.sql`analyze ledger_entries`
    const to = new Date(clock.now().getTime() + 86_400_000_000)
    const query = listLedger(
      database.db,
      wallet,
      { type: 'topup', from: undefined, to },
      undefined,
      51,
    )
    // Safe: a query of the builder has a method that returns its text.
    const { sql, params } = (
      query as unknown as { toSQL(): { sql: string; params: string[] } }
    ).toSQL()
    const [row] = await database.sql.unsafe(
      `explain (analyze, buffers, format json) ${sql}`,
      params,
    )
    const plan = row?.['QUERY PLAN'][0].Plan
    expect(JSON.stringify(plan)).toContain('ledger_entries_rare')
    expect(plan['Actual Rows']).toBe(1)
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(20)
  })
  test('names the wallet on the channel `ledger` once a change is committed, and only then', async () => {
    const heard: string[] = []
    const stop = await listen(database.sql, 'ledger', (wallet) => heard.push(wallet))
    const wallet = newWallet()
    await give(entry(wallet, 100, 'a'))
    await give(entry(wallet, 100, 'a'))
    await take(entry(wallet, 500, 'b', 'usage'))
    const broken = transact(database.db, async (tx) => {
      await credit(tx, entry(wallet, 50, 'c'))
      throw new Error('changed my mind')
    })
    await broken.catch(() => undefined)
    const last = newWallet()
    await give(entry(last, 1, 'a'))
    await expect.poll(() => heard.includes(last)).toBe(true)
    await stop()
    expect(heard).toEqual([wallet, last])
  })
})

describe('under any interleaving', () => {
  interface Step {
    readonly verb: 'give' | 'take'
    readonly wallet: number
    readonly amount: number
    /** Few names, so that replays are many. */
    readonly name: number
  }
  const step = fc.record({
    verb: fc.constantFrom('give' as const, 'take' as const),
    wallet: fc.nat({ max: 1 }),
    amount: fc.integer({ min: 1, max: 100 }),
    name: fc.nat({ max: 30 }),
  })

  test('sums up, is never negative, and has no reference twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        const own = [newWallet(), newWallet()] as const
        // One name always means the same change: a later step of the same name is its replay.
        const meaning = new Map<string, Step>()
        const outcomes = await Promise.all(
          steps.map(async (asked) => {
            const wallet = own[asked.wallet] ?? own[0]
            const name = `${asked.wallet}:${asked.verb}:${asked.name}`
            const known = meaning.get(name) ?? asked
            meaning.set(name, known)
            const { verb, amount } = known
            const type = verb === 'take' ? 'usage' : amount % 2 === 0 ? 'topup' : 'refund'
            const input = entry(wallet, amount, name, type)
            const outcome =
              verb === 'give' ? { ok: true, ...(await give(input)) } : await take(input)
            expect(outcome.balanceCredits).toBeGreaterThanOrEqual(0)
            return { name, wallet, delta: verb === 'give' ? amount : -amount, outcome }
          }),
        )
        for (const wallet of own) {
          const { balanceCredits } = await accountOf(wallet)
          const rows = await listLedger(database.db, wallet, {}, undefined, 1000)
          const chain = rows.toReversed()
          let balance = 0
          for (const [index, row] of chain.entries()) {
            balance += row.deltaCredits
            expect(row.position).toBe(index + 1)
            expect(row.balanceAfterCredits).toBe(balance)
            expect(balance).toBeGreaterThanOrEqual(0)
          }
          expect(balanceCredits).toBe(balance)
          expect(new Set(chain.map(({ reference }) => reference)).size).toBe(chain.length)
          // The results returned to callers equal the ledger: each new change once.
          const notified = outcomes.filter(
            (outcome) =>
              outcome.wallet === wallet && 'isNew' in outcome.outcome && outcome.outcome.isNew,
          )
          expect(new Set(notified.map(({ name }) => name)).size).toBe(notified.length)
          expect(notified.reduce((sum, { delta }) => sum + delta, 0)).toBe(balance)
        }
      }),
      { numRuns: runs(40) },
    )
  })
})
