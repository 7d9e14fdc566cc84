import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { proveNightly } from '#src/billing/account/proof.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { transact } from '#src/db/connection.ts'
import { readStats, refreshStats } from '#src/operations/figures/figures.ts'
import type { Stats } from '../generated/api.ts'
import { serviceOnly } from '../support/harness.ts'
import { request } from '../support/people.ts'

/** The public figures are sums of stored rows, counted once for all readers. */

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
beforeEach(async () => {
  service.clock.set(new Date('2026-11-20T12:00:00.000Z'))
  await service.database.sql`
    truncate accounts, ledger_entries, ledger_proofs, figure_hours, public_figures`
})
afterAll(() => service.close())

let references = 0

/** A wallet that buys at this moment, with a bonus, and uses some of it. */
async function buy(number: number, credits: number, used: number): Promise<void> {
  const wallet = `0x${String(number).padStart(40, '0')}` as const
  const at = service.clock.now()
  references += 1
  const reference = (kind: string) => `${kind}:${references}`
  await transact(service.app.db, async (tx) => {
    const about = { wallet, at } as const
    await credit(tx, {
      ...about,
      type: 'topup',
      amountCredits: credits,
      reference: reference('topup'),
    })
    await credit(tx, { ...about, type: 'bonus', amountCredits: 10, reference: reference('bonus') })
    await debit(tx, { ...about, type: 'usage', amountCredits: used, reference: reference('use') })
    await credit(tx, { ...about, type: 'refund', amountCredits: 1, reference: reference('back') })
  })
}

/** The service's parts with a clock of their own and no cache, and a count of queries. */
function fresh() {
  const asked: string[] = []
  const { db, clock } = service.app
  const watched = new Proxy(db, {
    get(target, name, receiver) {
      if (name === 'select' || name === 'execute') asked.push(String(name))
      return Reflect.get(target, name, receiver)
    },
  })
  return { app: { db: watched, clock: { now: () => clock.now() } }, asked }
}

const count = () => refreshStats(service.app)
const totalsOf = ({ wallets, creditsSold, creditsSpent, topupsConfirmed }: Stats | Counted) => [
  wallets,
  creditsSold,
  creditsSpent,
  topupsConfirmed,
]
type Counted = Awaited<ReturnType<typeof count>>

describe('the public figures', () => {
  test('are right again after a clock that ran ahead for a while', async () => {
    await buy(1, 1000, 5)
    await count()
    service.clock.advance(12 * 3600)
    await count()
    service.clock.advance(-12 * 3600)
    await count()
    service.clock.advance(3600)
    await buy(2, 100, 50)
    service.clock.advance(20 * 3600)
    expect(totalsOf(await count())).toEqual([2, 1120, 53, 2])
  })
  test('add up what was bought and used, through hours, days and the nightly proof', async () => {
    expect(totalsOf(await count())).toEqual([0, 0, 0, 0])
    await buy(1, 1000, 5)
    expect(totalsOf(await count())).toEqual([1, 1010, 4, 1])
    service.clock.advance(3 * 3600)
    await buy(2, 100, 50)
    await buy(1, 100, 6)
    expect(totalsOf(await count())).toEqual([2, 1230, 58, 3])
    service.clock.advance(20 * 3600)
    expect(totalsOf(await count())).toEqual([2, 1230, 58, 3])
    const signal = new AbortController().signal
    await proveNightly(service.app, signal)
    expect(totalsOf(await count())).toEqual([2, 1230, 58, 3])
    await buy(3, 7, 1)
    expect(totalsOf(await count())).toEqual([3, 1247, 58, 4])
    service.clock.advance(3 * 86_400)
    await proveNightly(service.app, signal)
    await buy(4, 1, 1)
    expect(totalsOf(await count())).toEqual([4, 1258, 58, 5])
  })

  test('read no ledger entries that the proof or a stored hour has counted', async () => {
    await buy(1, 1000, 5)
    service.clock.advance(3 * 3600)
    await count()
    const { sql } = service.database
    // Counted rows are not read again: a sum over the table would now differ.
    await sql`delete from ledger_entries`
    service.clock.advance(60)
    expect(totalsOf(await count())).toEqual([1, 1010, 4, 1])
  })

  test('are based on the totals of the proof, and the hours before the proof are deleted', async () => {
    await buy(1, 1000, 5)
    service.clock.advance(16 * 3600)
    await count()
    const { sql } = service.database
    const hours = () => sql`select hour from figure_hours where kind = 'billing'`
    expect((await hours()).length).toBeGreaterThan(10)
    await proveNightly(service.app, new AbortController().signal)
    await sql`delete from ledger_entries`
    expect(totalsOf(await count())).toEqual([1, 1010, 4, 1])
    expect(await hours()).toHaveLength(0)
  })

  test('are counted once for concurrent readers, and read as one row by other processes', async () => {
    const first = fresh()
    await readStats(first.app)
    const askedCount = first.asked.length
    service.clock.advance(61)
    first.asked.length = 0
    const answers = await Promise.all(Array.from({ length: 40 }, () => readStats(first.app)))
    expect(first.asked.length).toBeLessThanOrEqual(askedCount)
    expect(new Set(answers)).toHaveProperty('size', 1)
    const other = fresh()
    expect(await readStats(other.app)).toEqual(answers[0])
    expect(other.asked).toHaveLength(1)
  })

  test('are counted again after a failure', async () => {
    const { app } = fresh()
    const down = new Error('database gone')
    let isDown = true
    const db = new Proxy(app.db, {
      get(target, name, receiver) {
        if (isDown) throw down
        return Reflect.get(target, name, receiver)
      },
    })
    const broken = { ...app, db }
    await expect(readStats(broken)).rejects.toThrow(down)
    isDown = false
    expect(totalsOf(await readStats(broken))).toEqual([0, 0, 0, 0])
  })

  test('are returned over HTTP without sign-in, at most a minute old', async () => {
    service.clock.advance(120)
    const ask = async () => (await request<Stats>(service, 'GET', '/stats')).body
    const first = await ask()
    service.clock.advance(30)
    await buy(9, 20, 1)
    expect(await ask()).toEqual(first)
    service.clock.advance(31)
    expect((await ask()).creditsSold).toBe(first.creditsSold + 30)
  })
})
