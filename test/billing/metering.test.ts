import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activeTokenQuery, revokeToken } from '#src/auth/store.ts'
import { debit } from '#src/billing/account/service.ts'
import { findAccount } from '#src/billing/account/store.ts'
import { getPayerFunds, type Metering, pruneFreeCalls } from '#src/billing/metering/service.ts'
import { chargeTokens, countFreeCalls } from '#src/billing/metering/store.ts'
import { type SQL, transact } from '#src/db/connection.ts'
import { listen } from '#src/db/listen.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import {
  type Caller,
  callMany,
  chargesOf,
  count,
  meteringOn,
  newCaller,
  newToken,
  provedLedger,
  TOKEN_SECONDS,
} from './callers.ts'

const clock = testClock()
let database: FreshDatabase
let db: FreshDatabase['db']
let metering: Metering
/** Another process on the same database. */
let other: Metering
let networks = 0

beforeAll(async () => {
  database = await freshDatabase()
  db = database.db
  metering = meteringOn(db, clock)
  other = meteringOn(db, clock)
})
afterAll(async () => {
  await Promise.all([metering.stop(), other.stop()])
  await database.drop()
})

const caller = (has?: Parameters<typeof newCaller>[2]) => newCaller(db, clock, has)
const ledgerOf = ({ wallet }: Caller) => provedLedger(db, clock, wallet)
const state = ({ wallet }: Caller) => getPayerFunds({ db, clock }, { wallet })
function newNetwork() {
  networks += 1
  return { kind: 'network', network: `192.0.2.${networks}` } as const
}

describe('a metered call', () => {
  test('uses a free call first, and no credits', async () => {
    const alice = await caller({ credits: 100 })
    const [outcome] = await callMany(metering, alice.payer, 1, 'providers-rewards')
    const charge = { kind: 'free', subject: alice.wallet, day: '2026-11-20' }
    expect(outcome).toEqual({ ok: true, charge, balanceCredits: 100, freeLeft: 49 })
    expect(await state(alice)).toEqual({ balanceCredits: 100, freeLeft: 49 })
    expect(await ledgerOf(alice)).toHaveLength(1)
  })

  test('takes its price when the free calls are used up, with its own ledger entry', async () => {
    const alice = await caller({ credits: 100, freeUsed: 50 })
    const [outcome] = await callMany(metering, alice.payer, 1, 'rewards-intelligence-reports')
    expect(outcome).toMatchObject({ ok: true, balanceCredits: 90, freeLeft: 0 })
    const [charge] = outcome === undefined ? [] : chargesOf([outcome])
    const reference = charge?.kind === 'paid' ? charge.reference : ''
    expect(reference).toMatch(/^usage:[0-9a-f-]{36}:1$/)
    expect((await ledgerOf(alice)).at(-1)).toMatchObject({
      type: 'usage',
      deltaCredits: -10,
      balanceAfterCredits: 90,
      reference,
      note: 'rewards-intelligence-reports',
      createdAt: clock.now(),
    })
  })

  test('is refused when the credits are fewer than its price', async () => {
    const alice = await caller({ credits: 9, freeUsed: 50 })
    const [outcome] = await callMany(metering, alice.payer, 1, 'rewards-intelligence-reports')
    const refused = { ok: false, reason: 'payment_required', balanceCredits: 9, freeLeft: 0 }
    expect(outcome).toEqual(refused)
    expect(await callMany(metering, alice.payer, 1, 'providers-rewards')).toMatchObject([
      { ok: true, balanceCredits: 7 },
    ])
  })

  test('is free and then refused for a wallet that never had an account', async () => {
    const alice = await caller()
    expect(count(await callMany(metering, alice.payer, 51))).toMatchObject({ free: 50, refused: 1 })
    expect(await findAccount(db, alice.wallet)).toBeUndefined()
  })

  test('without a token is free for its network and then refused', async () => {
    const [network, neighbour] = [newNetwork(), newNetwork()]
    const outcomes = await callMany(metering, network, 60)
    expect(count(outcomes)).toMatchObject({ free: 50, refused: 10 })
    expect(outcomes.at(-1)).toMatchObject({ balanceCredits: 0, freeLeft: 0 })
    expect(await callMany(metering, neighbour, 1)).toMatchObject([{ ok: true, freeLeft: 49 }])
  })

  test('has free calls again from midnight in UTC on', async () => {
    const alice = await caller({ credits: 1, freeUsed: 49 })
    clock.set(new Date('2026-11-20T23:59:59.999Z'))
    expect(count(await callMany(metering, alice.payer, 3))).toMatchObject({
      free: 1,
      paid: 1,
      refused: 1,
    })
    const network = newNetwork()
    await callMany(metering, network, 50)
    clock.set(new Date('2026-11-21T00:00:00.000Z'))
    for (const payer of [alice.payer, network]) {
      expect(await callMany(metering, payer, 1)).toMatchObject([{ ok: true, freeLeft: 49 }])
    }
    clock.set(new Date('2026-11-20T12:00:00.000Z'))
  })

  test('is refused from the moment its token is revoked, in every process', async () => {
    const alice = await caller({ credits: 100 })
    const spare = await newToken(db, clock, alice.wallet)
    const before = await Promise.all(
      [metering, other].map((instance) => callMany(instance, spare, 1)),
    )
    expect(count(before.flat())).toMatchObject({ free: 2 })
    const [token] = await database.sql`select id from tokens where hash = ${spare.hash}`
    await revokeToken(db, alice.wallet, { id: token?.['id'], revokedAt: clock.now() })
    const after = await Promise.all(
      [metering, other].map((instance) => callMany(instance, spare, 2)),
    )
    expect(count(after.flat())).toMatchObject({ unknown: 4 })
    expect(await state(alice)).toEqual({ balanceCredits: 100, freeLeft: 48 })
  })

  test('is refused from the moment its token has expired', async () => {
    const alice = await caller({ credits: 100 })
    const now = clock.now()
    clock.advance(TOKEN_SECONDS - 1)
    expect(count(await callMany(metering, alice.payer, 1))).toMatchObject({ free: 1 })
    clock.advance(1)
    expect(count(await callMany(metering, alice.payer, 1))).toMatchObject({ unknown: 1 })
    clock.set(now)
  })

  test('is refused with an unknown token', async () => {
    const outcomes = await callMany(metering, { kind: 'token', hash: 'f'.repeat(64) }, 3)
    expect(count(outcomes)).toMatchObject({ unknown: 3 })
  })

  test('records the use of its token at most once a minute', async () => {
    const alice = await caller()
    const used = async () => {
      const [row] = await database.sql`
        select last_used_at from tokens where hash = ${alice.payer.hash}`
      return row?.['last_used_at']?.getTime()
    }
    const first = clock.now().getTime()
    await callMany(metering, alice.payer, 5)
    await expect.poll(used).toBe(first)
    clock.advance(59)
    await callMany(metering, alice.payer, 1)
    clock.advance(1)
    await callMany(metering, alice.payer, 1)
    await expect.poll(used).toBe(first + 60_000)
  })
})

describe('calls at the same time', () => {
  test('take the last free call once, in however many processes', async () => {
    const alice = await caller({ freeUsed: 45 })
    const network = newNetwork()
    await callMany(metering, network, 45)
    for (const payer of [alice.payer, network]) {
      const all = await Promise.all(
        [metering, other].map((instance) => callMany(instance, payer, 40)),
      )
      expect(count(all.flat())).toMatchObject({ free: 5, paid: 0, refused: 75 })
    }
    expect(await state(alice)).toEqual({ balanceCredits: 0, freeLeft: 0 })
  })

  test('take the first free call of a day once', async () => {
    for (let round = 0; round < 10; round++) {
      const alice = await caller()
      const all = await Promise.all(
        [metering, other].map((instance) => callMany(instance, alice.payer, 30)),
      )
      expect(count(all.flat())).toMatchObject({ free: 50, refused: 10 })
    }
  })

  test('take the last credit once, in however many processes', async () => {
    const alice = await caller({ credits: 25, freeUsed: 48 })
    const all = await Promise.all(
      [metering, other].map((instance) => callMany(instance, alice.payer, 60)),
    )
    expect(count(all.flat())).toMatchObject({ free: 2, paid: 25, refused: 93 })
    const balances = all
      .flat()
      .flatMap((outcome) =>
        outcome.ok && outcome.charge.kind === 'paid' ? outcome.balanceCredits : [],
      )
    expect(balances.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, n) => n))
    expect(await ledgerOf(alice)).toHaveLength(26)
  })

  test('are each charged once, whatever they cost and by whichever token of the wallet', async () => {
    const alice = await caller({ credits: 1000, freeUsed: 50 })
    const payers = [alice.payer, ...(await Promise.all([1, 2, 3].map(() => anotherOf(alice))))]
    const resources = [
      'ftso-analytics',
      'providers-rewards',
      'rewards-intelligence-reports',
    ] as const
    const all = await Promise.all(
      [metering, other].flatMap((instance) =>
        payers.flatMap((payer) => resources.map((name) => callMany(instance, payer, 5, name))),
      ),
    )
    expect(count(all.flat())).toMatchObject({ paid: 120 })
    const rows = await ledgerOf(alice)
    expect(rows).toHaveLength(121)
    expect((await state(alice)).balanceCredits).toBe(1000 - 40 * (1 + 2 + 10))
    const notified = chargesOf(all.flat()).map((charge) =>
      charge.kind === 'paid' ? charge.reference : '',
    )
    expect(notified.toSorted()).toEqual(
      rows
        .slice(1)
        .map(({ reference }) => reference)
        .toSorted(),
    )
  })

  test('of many wallets are each charged to their own', async () => {
    const wallets = await Promise.all(
      Array.from({ length: 40 }, (_, index) => caller({ credits: index, freeUsed: 50 })),
    )
    const all = await Promise.all(wallets.map(({ payer }) => callMany(metering, payer, 50)))
    expect(all.map((outcomes) => count(outcomes).paid)).toEqual(wallets.map((_, index) => index))
    for (const wallet of wallets) await ledgerOf(wallet)
  })

  test('of new wallets from two processes do not block each other', async () => {
    const wallets = await Promise.all(Array.from({ length: 40 }, () => caller()))
    const twice = [wallets, wallets.toReversed()].map((order, index) =>
      Promise.all(order.map(({ payer }) => callMany(index === 0 ? metering : other, payer, 30))),
    )
    const all = (await Promise.all(twice)).flat(2)
    expect(count(all)).toMatchObject({ free: 40 * 50, refused: 40 * 10 })
  })

  test('are settled in one statement also for wallets that have no account', async () => {
    const wallets = await Promise.all(Array.from({ length: 3 }, () => caller()))
    const rows = wallets.map(({ payer: { hash } }, index) => {
      const asked = { calls: 2, priceCredits: 1, note: 'ftso-analytics' }
      return { ...asked, hash, batch: `direct ${hash} ${index}` }
    })
    const at = clock.now()
    const activeToken = (hash: SQL) => activeTokenQuery(hash, at)
    const options = { activeToken, at, day: '2026-11-20', isPatient: false }
    const charged = await chargeTokens(db, rows, options)
    expect(charged.map((outcome) => outcome?.charge?.free)).toEqual([2, 2, 2])
  })

  test('wait only for the account of their own wallet', async () => {
    const [slow, quick] = [
      await caller({ credits: 10, freeUsed: 50 }),
      await caller({ credits: 10, freeUsed: 50 }),
    ]
    // Both wallets are known to this process, so that their calls can come in one statement.
    await Promise.all([slow, quick].map(({ payer }) => callMany(metering, payer, 1)))
    let isHeld = true
    const held = Promise.withResolvers<void>()
    const holding = db.transaction(async (tx) => {
      await tx.execute(sql`select from accounts where wallet = ${slow.wallet} for update`)
      held.resolve()
      while (isHeld) await wait(5)
    })
    await held.promise
    let isSlowDone = false
    const slowCalls = callMany(metering, slow.payer, 5).finally(() => {
      isSlowDone = true
    })
    for (let round = 0; round < 4; round++) await callMany(metering, quick.payer, 2)
    expect(isSlowDone).toBe(false)
    isHeld = false
    await holding
    expect(count(await slowCalls)).toMatchObject({ paid: 5 })
    expect((await state(slow)).balanceCredits).toBe(4)
    expect((await state(quick)).balanceCredits).toBe(1)
  })

  test('fail for a wallet with a broken ledger, and not for other wallets', async () => {
    const [broken, sound] = [
      await caller({ credits: 10, freeUsed: 50 }),
      await caller({ credits: 10, freeUsed: 50 }),
    ]
    // The next entry's position is taken: no call of this wallet can be written.
    await database.sql`update accounts set entry_count = 0 where wallet = ${broken.wallet}`
    const calls = await Promise.allSettled(
      Array.from({ length: 5 }, () => [broken, sound])
        .flat()
        .map(({ payer }) => metering.charge({ resource: 'ftso-analytics', payer })),
    )
    expect(calls.map(({ status }) => status)).toEqual(
      Array.from({ length: 5 }, () => ['rejected', 'fulfilled']).flat(),
    )
    expect((await state(sound)).balanceCredits).toBe(5)
    expect((await state(broken)).balanceCredits).toBe(10)
  })

  test('are refused when a wallet has too many at once', async () => {
    const alice = await caller({ credits: 5000, freeUsed: 50 })
    const calls = await Promise.allSettled(
      Array.from({ length: 1300 }, () =>
        metering.charge({ resource: 'ftso-analytics', payer: alice.payer }),
      ),
    )
    const refused = calls.filter((call) => call.status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(290)
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'rate_limited' })
    expect(await ledgerOf(alice)).toHaveLength(1 + 1300 - refused.length)
  })

  async function anotherOf({ wallet }: Caller) {
    return await newToken(db, clock, wallet)
  }
})

describe('a call that failed', () => {
  test('gets its credits back once, with an entry that names the charge', async () => {
    const alice = await caller({ credits: 30, freeUsed: 50 })
    const outcomes = await callMany(metering, alice.payer, 2, 'rewards-intelligence-reports')
    const [charge] = chargesOf(outcomes)
    if (charge?.kind !== 'paid') throw new Error('the call was not paid')
    expect(await metering.refund(charge)).toEqual({ ok: true, balanceCredits: 20 })
    expect(await metering.refund(charge)).toEqual({ ok: true, balanceCredits: 20 })
    expect(await other.refund(charge)).toEqual({ ok: true, balanceCredits: 20 })
    const rows = await ledgerOf(alice)
    expect(rows).toHaveLength(4)
    expect(rows.at(-1)).toMatchObject({
      type: 'refund',
      deltaCredits: 10,
      reference: `refund:${charge.reference}`,
      note: 'rewards-intelligence-reports',
    })
  })

  test('gets its free call back', async () => {
    const alice = await caller({ credits: 5, freeUsed: 49 })
    const outcomes = await callMany(metering, alice.payer, 3)
    expect(count(outcomes)).toMatchObject({ free: 1, paid: 2 })
    const free = chargesOf(outcomes).find(({ kind }) => kind === 'free')
    if (free === undefined) throw new Error('no call was free')
    expect(await metering.refund(free)).toEqual({ ok: true, freeLeft: 1 })
    expect(count(await callMany(metering, alice.payer, 2))).toMatchObject({ free: 1, paid: 1 })
    expect(await ledgerOf(alice)).toHaveLength(4)
  })

  test('of yesterday gets its free call back in the count of yesterday', async () => {
    const alice = await caller()
    const [charge] = chargesOf(await callMany(metering, alice.payer, 1))
    if (charge === undefined) throw new Error('the call was not charged')
    clock.set(new Date('2026-11-21T00:00:01.000Z'))
    await metering.refund(charge)
    expect(await countFreeCalls(db, alice.wallet, '2026-11-20')).toBe(0)
    expect(await countFreeCalls(db, alice.wallet, '2026-11-21')).toBe(0)
    clock.set(new Date('2026-11-20T12:00:00.000Z'))
  })

  test('gets its charge back when hundreds fail at once', async () => {
    const alice = await caller({ credits: 300, freeUsed: 30 })
    const outcomes = await callMany(metering, alice.payer, 250)
    const returned = await Promise.all(
      chargesOf(outcomes).map((outcome) => metering.refund(outcome)),
    )
    expect(returned.every(({ ok }) => ok)).toBe(true)
    expect(await state(alice)).toEqual({ balanceCredits: 300, freeLeft: 20 })
    expect(await ledgerOf(alice)).toHaveLength(1 + 2 * 230)
  })
})

describe('the ledger', () => {
  test('notifies its channel only when calls were paid', async () => {
    const heard: string[] = []
    const stop = await listen(database.sql, 'ledger', (wallet) => heard.push(wallet))
    const [free, poor, paying, last] = [
      await caller({ freeUsed: 1 }),
      await caller({ freeUsed: 50 }),
      await caller({ credits: 100, freeUsed: 50 }),
      await caller({ credits: 1, freeUsed: 50 }),
    ]
    // The seeded credits notify too. Notifications arrive in the order of their commits.
    await expect.poll(() => heard.includes(last.wallet)).toBe(true)
    heard.length = 0
    await Promise.all([free, poor, paying].map(({ payer }) => callMany(metering, payer, 20)))
    await callMany(metering, last.payer, 1)
    await expect.poll(() => heard.includes(last.wallet)).toBe(true)
    // Calls of earlier tests may still be settled.
    const own: readonly string[] = [free, poor, paying, last].map(({ wallet }) => wallet)
    const heardOfOwn = new Set(heard.filter((wallet) => own.includes(wallet)))
    expect(heardOfOwn).toEqual(new Set([paying.wallet, last.wallet]))
    await stop()
  })

  test('stays consistent with other debits of the same account', async () => {
    const alice = await caller({ credits: 60, freeUsed: 50 })
    const { wallet } = alice
    const debits = Array.from({ length: 20 }, (_, index) =>
      transact(db, (tx) =>
        debit(tx, {
          wallet,
          type: 'subscription',
          amountCredits: 2,
          reference: `sub:${wallet}:${index}`,
          at: clock.now(),
        }),
      ),
    )
    const [outcomes, taken] = await Promise.all([
      callMany(metering, alice.payer, 60),
      Promise.all(debits),
    ])
    const { paid } = count(outcomes)
    const bought = taken.filter(({ ok }) => ok).length
    expect(paid + 2 * bought).toBe(60 - (await state(alice)).balanceCredits)
    expect((await state(alice)).balanceCredits).toBeLessThan(2)
    await ledgerOf(alice)
  })
})

describe('counts of free calls', () => {
  test('are deleted after the end of the next day', async () => {
    const alice = await caller({ freeUsed: 7 })
    const count = (day: string) => countFreeCalls(db, alice.wallet, day)
    clock.set(new Date('2026-11-21T12:00:00.000Z'))
    await callMany(metering, (await again(alice)).payer, 1)
    await pruneFreeCalls({ db, clock })
    expect([await count('2026-11-20'), await count('2026-11-21')]).toEqual([7, 1])
    clock.set(new Date('2026-11-22T00:00:00.000Z'))
    await pruneFreeCalls({ db, clock })
    expect([await count('2026-11-20'), await count('2026-11-21')]).toEqual([0, 1])
    clock.set(new Date('2026-11-20T12:00:00.000Z'))
  })

  /** The caller with a new, valid token. */
  async function again({ wallet }: Caller): Promise<Caller> {
    return { wallet, payer: await newToken(db, clock, wallet) }
  }
})
