import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findLastProof, proveLedger, proveNightly } from '#src/billing/account/proof.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { type Sql, transact } from '#src/db/connection.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
const clock = testClock()
const signal = new AbortController().signal
let shouted: Record<string, unknown>[] = []
const log: Logger = {
  error: (fields) => shouted.push(fields),
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
}

beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  shouted = []
  await database.sql`truncate accounts, ledger_entries, ledger_proofs`
})
afterAll(() => database.drop())

const deps = () => ({ db: database.db, clock, log })
const walletOf = (number: number): Address => `0x${String(number).padStart(40, '0')}`
const prove = () => proveLedger(deps(), signal)

/** Creates a wallet with a top-up and a number of calls for one credit each. */
async function fill(number: number, calls: number): Promise<Address> {
  const wallet = walletOf(number)
  const at = clock.now()
  await transact(database.db, async (tx) => {
    const reference = `${wallet}:topup`
    await credit(tx, { wallet, type: 'topup', amountCredits: 1000, reference, at })
    for (let call = 0; call < calls; call += 1) {
      const usage = { wallet, type: 'usage', amountCredits: 1, at } as const
      await debit(tx, { ...usage, reference: `${wallet}:${call}` })
    }
  })
  return wallet
}

describe('the proof of the ledger', () => {
  test('adds up every wallet and logs nothing when all sums are right', async () => {
    await fill(1, 3)
    await fill(2, 0)
    await database.sql`
      insert into accounts (wallet, balance_credits, occupied_slots, entry_count, created_at)
      values (${walletOf(3)}, 0, 0, 0, ${clock.now()})`
    expect(await prove()).toMatchObject({ wallets: 3, entries: 5, wrong: [] })
    expect(shouted).toEqual([])
  })

  test('reads more wallets and entries than fit into one statement', async () => {
    await database.sql`
      insert into accounts (wallet, balance_credits, occupied_slots, entry_count, created_at)
      select '0x' || lpad(n::text, 40, '0'), 50, 0, 50, now() from generate_series(1, 1001) n`
    await database.sql`
      insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits,
        reference, created_at)
      select '0x' || lpad(n::text, 40, '0'), p, 'topup', 1, p, n || ':' || p, now()
      from generate_series(1, 1001) n, generate_series(1, 50) p`
    expect(await prove()).toMatchObject({ wallets: 1001, entries: 50_050, wrong: [] })
    await database.sql`update accounts set balance_credits = 51 where wallet = ${walletOf(777)}`
    expect((await prove())?.wrong).toEqual([walletOf(777)])
  })

  test.each([
    [
      'a balance without an entry',
      (sql: Sql) => sql`
      update accounts set balance_credits = balance_credits + 1 where wallet = ${walletOf(2)}`,
    ],
    [
      'an entry that is gone',
      (sql: Sql) => sql`
      delete from ledger_entries where wallet = ${walletOf(2)} and position = 2`,
    ],
    [
      'the last entry gone',
      (sql: Sql) => sql`
      delete from ledger_entries where wallet = ${walletOf(2)} and position = 4`,
    ],
    [
      'all entries gone',
      (sql: Sql) => sql`
      delete from ledger_entries where wallet = ${walletOf(2)}`,
    ],
    [
      'an entry that was changed',
      (sql: Sql) => sql`
      update ledger_entries set delta_credits = -2 where wallet = ${walletOf(2)} and position = 2`,
    ],
    [
      'two changes that cancel out',
      (sql: Sql) => sql`
      update ledger_entries set delta_credits = delta_credits + 3 - position * 2 + 2
      where wallet = ${walletOf(2)} and position in (2, 3)`,
    ],
    [
      'a balance in the chain that does not follow',
      (sql: Sql) => sql`
      update ledger_entries set balance_after_credits = 5
      where wallet = ${walletOf(2)} and position = 3`,
    ],
    [
      'an account that is gone',
      (sql: Sql) => sql`delete from accounts where wallet = ${walletOf(2)}`,
    ],
  ])('logs an error about %s, for the damaged wallet only', async (_name, damage) => {
    for (const number of [1, 2, 3]) await fill(number, 3)
    await damage(database.sql)
    expect((await prove())?.wrong).toEqual([walletOf(2)])
    expect(shouted).toMatchObject([{ wallet: walletOf(2) }])
  })

  test('finds no error while credits change concurrently', async () => {
    for (const number of [1, 2, 3, 4, 5]) await fill(number, 1)
    let isOver = false
    const busy = [1, 2, 3, 4, 5, 6, 7].map(async (number) => {
      const wallet = walletOf(number)
      for (let turn = 0; !isOver; turn += 1) {
        const entry = { wallet, type: 'refund', amountCredits: 2, at: clock.now() } as const
        const reference = `${wallet}:busy ${turn}`
        await transact(database.db, (tx) => credit(tx, { ...entry, reference }))
      }
    })
    for (let round = 0; round < 20; round += 1) expect((await prove())?.wrong).toEqual([])
    isOver = true
    await Promise.all(busy)
    expect(shouted).toEqual([])
  })
})

describe('every night', () => {
  test('the proof runs once, and its result is stored', async () => {
    await fill(1, 3)
    const wallet = await fill(2, 3)
    clock.set(new Date('2026-11-21T01:00:00.000Z'))
    await proveNightly(deps(), signal)
    expect(await findLastProof(database.db)).toMatchObject({ on: '2026-11-20', wrongWallets: 0 })
    await database.sql`update accounts set balance_credits = 7 where wallet = ${wallet}`
    clock.advance(3599)
    await proveNightly(deps(), signal)
    expect(shouted).toEqual([])
    clock.advance(1)
    await proveNightly(deps(), signal)
    await proveNightly(deps(), signal)
    expect(shouted).toHaveLength(1)
    expect(await findLastProof(database.db)).toEqual({
      on: '2026-11-21',
      wallets: 2,
      entries: 8,
      wrongWallets: 1,
      provedAt: clock.now(),
      totalsUntil: new Date('2026-11-21T01:00:00.000Z'),
      totalWallets: 2,
      totalCreditsSold: 2000,
      totalCreditsSpent: 6,
      totalTopups: 2,
    })
  })

  test('an interrupted proof is repeated', async () => {
    await fill(1, 3)
    await proveNightly(deps(), AbortSignal.abort())
    expect(await findLastProof(database.db)).toBeUndefined()
    await proveNightly(deps(), signal)
    expect(await findLastProof(database.db)).toMatchObject({ wallets: 1, entries: 4 })
  })
})
