import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { refundCharge } from '#src/billing/metering/refunds.ts'
import { giveCredits, spendCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { runs } from '../support/runs.ts'
import { admin, refusalOf } from './run-admin.ts'

let world: Awaited<ReturnType<typeof serviceOnly>>
beforeAll(async () => {
  world = await serviceOnly()
})
afterAll(() => world.close())

const ALICE = PEOPLE.alice.account.address
const BOB = PEOPLE.bob.account.address
const ledger = (wallet: string) => world.database.sql<
  { delta: number; note: string | null; reference: string }[]
>`
  select delta_credits::int as delta, note, reference from ledger_entries
  where wallet = ${wallet} order by position`
const balance = async (wallet: string) => {
  const [row] = await world.database
    .sql`select balance_credits::int as b from accounts where wallet = ${wallet}`
  return row?.['b'] ?? 0
}
const acts = () =>
  world.database.sql`select operator, command, changed from operator_acts order by id`

test('a credit is written once for a reference, with its note and a line of the audit; a dry run leaves nothing', async () => {
  await world.database.empty()
  const words = [
    'credit',
    ALICE.toLowerCase(),
    '500',
    '--reference',
    'T-7',
    '--note',
    'slow start of the week',
  ]
  const dry = await admin(world, ...words)
  expect(dry.lines.join()).toContain('500 credits; balance 0 → 500')
  expect([await ledger(ALICE), await acts()]).toEqual([[], []])

  const done = await Promise.all([1, 2, 3].map(() => admin(world, ...words, '--yes')))
  expect(done.filter(({ changed }) => changed)).toHaveLength(1)
  expect(await ledger(ALICE)).toEqual([
    { delta: 500, note: 'slow start of the week', reference: 'operator:T-7' },
  ])
  expect(await acts()).toHaveLength(3)
  expect((await acts())[0]).toMatchObject({ operator: 'olga', command: 'credit' })

  const other = [
    'credit',
    BOB,
    '500',
    '--reference',
    'T-7',
    '--note',
    'the same reference',
    '--yes',
  ]
  expect(await refusalOf(admin(world, ...other))).toContain('was used before')
  const tooMuch = [
    'credit',
    ALICE,
    '-501',
    '--reference',
    'T-8',
    '--note',
    'more than it has',
    '--yes',
  ]
  expect(await refusalOf(admin(world, ...tooMuch))).toContain('has 500 credits')
  await admin(world, 'credit', ALICE, '-200', '--reference', 'T-8', '--note', 'taken back', '--yes')
  expect(await balance(ALICE)).toBe(300)
})

test('whatever operators repeat at once, each reference has one entry and the ledger adds up', async () => {
  const command = fc.record({
    wallet: fc.constantFrom(ALICE, BOB),
    credits: fc.integer({ min: -50, max: 100 }).filter((credits) => credits !== 0),
    reference: fc.constantFrom('a', 'b', 'c', 'd'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 8 }), async (commands) => {
      await world.database.empty()
      await Promise.all(
        commands.map(({ wallet, credits, reference }) =>
          refusalOf(
            admin(
              world,
              'credit',
              wallet,
              String(credits),
              '--reference',
              reference,
              '--note',
              'random',
              '--yes',
            ),
          ),
        ),
      )
      for (const wallet of [ALICE, BOB]) {
        const entries = await ledger(wallet)
        expect(entries.reduce((sum, { delta }) => sum + delta, 0)).toBe(await balance(wallet))
        expect(new Set(entries.map(({ reference }) => reference)).size).toBe(entries.length)
      }
      const all = [...(await ledger(ALICE)), ...(await ledger(BOB))]
      expect(all.length).toBeLessThanOrEqual(
        new Set(commands.map(({ reference }) => reference)).size,
      )
    }),
    { numRuns: runs(8) },
  )
})

test('a refund gives back what one entry took, once, also beside the refund of a failed call', async () => {
  await world.database.empty()
  await giveCredits(world.app, ALICE, 1000)
  await spendCredits(world.app, ALICE, 30)
  const reference = (await ledger(ALICE))[1]?.reference ?? ''
  const words = ['refund', ALICE, '2', '--note', 'the answer was empty', '--yes']
  const refundOfCall = refundCharge(world.app, { kind: 'credits', reference } as never)
  await Promise.all([admin(world, ...words), refundOfCall, admin(world, ...words)])
  expect(await balance(ALICE)).toBe(1000)
  expect((await ledger(ALICE)).map(({ delta }) => delta)).toEqual([1000, -30, 30])
  expect(
    await refusalOf(admin(world, 'refund', ALICE, '1', '--note', 'a credit', '--yes')),
  ).toContain('nothing to refund')
  expect(
    await refusalOf(admin(world, 'refund', ALICE, '9', '--note', 'no entry', '--yes')),
  ).toContain('no entry 9')
})

const TX = `0x${'ab'.repeat(32)}`
async function unmatchedPayment(asset = 'FLR'): Promise<void> {
  await world.database.sql`
    insert into topup_payments (tx_hash, log_index, way, payer, asset, amount_units, block_number,
      block_hash, block_at, seen_at, settled_at, confirmations)
    values (${TX}, 0, 'native', ${BOB}, ${asset}, 1000000, 7, ${TX}, now(), now(), now(), 2)`
  await world.database.sql`
    insert into unmatched_payments values (${TX}, 0, 'unknown_reference', now())`
}

test('an unmatched payment is credited to one wallet, once, whoever matches it at the same time', async () => {
  await world.database.empty()
  await unmatchedPayment()
  expect((await admin(world, 'unmatched')).lines.join()).toContain(`${TX} 0, unknown_reference`)
  const match = (wallet: string, ...more: readonly string[]) =>
    admin(world, 'match-payment', TX, '0', wallet, '--note', 'sent without its reference', ...more)
  // The endpoint of this test gives no price.
  expect(await refusalOf(match(ALICE, '--yes'))).toContain('--credits')
  await match(ALICE, '--credits', '700')
  expect(await ledger(ALICE)).toEqual([])
  const results = await Promise.all(
    [ALICE, BOB, ALICE, BOB].map((wallet) =>
      match(wallet, '--credits', '700', '--yes').catch(() => undefined),
    ),
  )
  expect(results.filter((result) => result?.changed)).toHaveLength(1)
  const entries = [...(await ledger(ALICE)), ...(await ledger(BOB))]
  expect(entries).toEqual([
    { delta: 700, note: 'sent without its reference', reference: `payment:${TX}:0` },
  ])
  expect((await admin(world, 'unmatched')).lines).toEqual(['no payment is unmatched'])
  const [payment] = await world.database.sql`select credits::int as credits from topup_payments`
  expect(payment?.['credits']).toBe(700)
})

test('the wallets that run out next are listed, with what is missing', async () => {
  await world.database.empty()
  await giveCredits(world.app, ALICE, 170)
  await spendCredits(world.app, ALICE, 70)
  await giveCredits(world.app, BOB, 1_000_000)
  const { lines } = await admin(world, 'running-out')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(`${ALICE}: balance 100, 10 credits a day for calls, calls use it up`)
  expect((await admin(world, 'running-out', '--days', '5')).lines).toEqual(['nobody within 5 days'])
})

test.each([
  [['fly'], 'there is no command “fly”'],
  [['credit', ALICE], '“credit” takes 2 values: credit <wallet> <credits>'],
  [['credit', '0x12', '5', '--reference', 'a', '--note', 'note'], 'wallet is wrong'],
  [
    ['credit', ALICE, '1.5', '--reference', 'a', '--note', 'note'],
    'credits is wrong: a whole number of credits',
  ],
  [['credit', ALICE, '5', '--note', 'note'], 'reference is missing'],
  [
    ['credit', ALICE, '5', '--reference', 'a', '--note', 'note', '--fast'],
    'Unrecognized key: "fast"',
  ],
  [['credit', ALICE, '5', '--yes', 'now'], '--yes takes no value'],
])('%j is refused in words', async (words, refusal) => {
  const typing = async () => await admin(world, ...words)
  expect(await refusalOf(typing())).toContain(refusal)
})
