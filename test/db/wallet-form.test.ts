import fc from 'fast-check'
import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const TABLES = ['accounts', 'bans']
const digits = fc.stringMatching(/^[0-9a-f]{40}$/)

test('the database knows the one form of every wallet, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(digits, fc.nat(39), async (text, at) => {
      const wallet = getAddress(`0x${text}`)
      const place = at + 2
      const letter = wallet[place] ?? ''
      const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
      const forms = [wallet, wallet.toLowerCase(), `0x${text.toUpperCase()}`]
      const asked = [...forms, wallet.slice(0, place) + other + wallet.slice(place + 1), text, '']
      const [row] = await database.sql`
        select array(select is_checksummed(form) from unnest(string_to_array(${asked.join('|')}, '|')) with ordinality as f(form, n)
          order by n) as known`
      expect(row?.['known']).toEqual(asked.map((form) => form === wallet))
    }),
    { numRuns: runs(60) },
  )
})

test('an account and a ban take a wallet in its one form only', async () => {
  const checks = await database.sql<{ table: string; check: string }[]>`
    select conrelid::regclass::text as table, pg_get_constraintdef(oid) as check
    from pg_constraint where conname like '%_wallet_form'`
  expect(checks.map(({ table }) => table).toSorted()).toEqual(TABLES.toSorted())
  const wallet = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb'
  for (const { check } of checks) {
    const condition = check.replace('CHECK', '').replaceAll('wallet', 'form')
    const forms = [
      wallet,
      wallet.toLowerCase(),
      `0x${wallet.slice(2).toUpperCase()}`,
      // One without capitals and one without letters.
      '0xde709f2102306220921060314715629080e2fb77',
      `0x${'0'.repeat(40)}`,
      `0X${wallet.slice(2)}`,
      ` ${wallet}`,
    ]
    const [row] = await database.sql.unsafe(
      `select array(select ${condition} from unnest(string_to_array($1, '|')) with ordinality as f(form, n) order by n) as taken`,
      [forms.join('|')],
    )
    expect(row?.['taken'], check).toEqual([true, false, false, true, true, false, false])
  }
})

test('credits of a wallet in lower case are refused instead of making a second account', async () => {
  const wallet = '0xd1220a0cf47c7b9be7a2e6ba89f429762e7b9adb'
  const insert = database.sql`
    insert into accounts (wallet, balance_credits, occupied_slots, entry_count, created_at)
    values (${wallet}, 0, 0, 0, now())`
  await expect(insert).rejects.toThrow('accounts_wallet_form')
})
