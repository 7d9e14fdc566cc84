import { readFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { freshDatabase } from './support/database.ts'
import { findUnnamed } from './support/named-wallets.ts'
import { UNNAMED } from './support/unnamed-statements.ts'
import { TABLES_WITHOUT_WALLET, WALLET_ROWS, WALLET_TABLES } from './support/wallet-tables.ts'

/**
 * Every statement on a wallet's rows names the wallet, so that the rows could be spread over databases by wallet;
 * those that do not are listed with the reason. `support/wallet-guard.ts` watches the statements of all tests.
 */

const find = (text: string) => findUnnamed(text, WALLET_ROWS)

test('every table is listed as one of wallets or of another owner', () => {
  const { columns, parts } = WALLET_ROWS
  const known = (name: string) =>
    columns.has(name) || parts.has(name) || TABLES_WITHOUT_WALLET.has(name)
  expect([...WALLET_TABLES.keys()].filter((name) => !known(name))).toEqual([])
  expect(
    [...parts.keys(), ...TABLES_WITHOUT_WALLET].filter((name) => !WALLET_TABLES.has(name)),
  ).toEqual([])
})

test('the classes of tables agree with the database', async () => {
  const database = await freshDatabase()
  const rows = await database.db.execute<{ name: string }>(sql`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'wallet'
      and table_name in (select relname from pg_class where not relispartition)`)
  await database.drop()
  const owned = rows.map(({ name }) => name).filter((name) => !TABLES_WITHOUT_WALLET.has(name))
  expect(owned.toSorted()).toEqual([...WALLET_ROWS.columns.keys()].toSorted())
})

test.each([
  'select * from watches where wallet = $1 and id = $2',
  'select * from watches w where w.wallet = any($1::text[])',
  'select * from watches where wallet in ($1, $2)',
  'select "id" from "watches" where ("watches"."wallet" = $1 and "watches"."id" > $2)',
  'insert into watches (wallet, label) values ($1, $2)',
  'update watches set label = $1 where (wallet, id) = ($2, $3)',
  'delete from watches where wallet = $1',
  'select from alerts a join watches w on w.id = a.watch_id and w.wallet = a.wallet where a.wallet = $1',
  'select from alerts a join deliveries d using (wallet) where d.wallet = $1',
  'select from unnest($1::text[], $2::int[]) as r(wallet, id) join watches w using (wallet, id)',
  'select from watches w where wallet = $1 and exists (select from alerts a where a.wallet = w.wallet)',
  'select from signal_states s join watches w on w.id = s.watch_id where w.wallet = $1',
  'with mine as (select id from watches where wallet = $1) select from mine',
  'select from targets where id = $1',
])('the wallet is named: %s', (text) => {
  expect(find(text)).toEqual([])
})

test.each([
  ['select * from watches where id = $1', ['watches']],
  ['select * from watches where wallet = $1 or id = $2', ['watches']],
  ['select * from watches where wallet <> $1', ['watches']],
  ['select * from watches where wallet > $1 order by wallet', ['watches']],
  ['select wallet from watches where id = $1', ['watches']],
  ['insert into watches (label) values ($1)', ['watches']],
  ['update watches set wallet = $1 where id = $2', ['watches']],
  ['select from alerts a join watches w on w.id = a.watch_id where w.wallet = $1', ['alerts']],
  ['select from alerts a join deliveries d on d.wallet = a.wallet', ['alerts', 'deliveries']],
  ['select from watches where wallet = $1 and id in (select watch_id from alerts)', ['alerts']],
  ['with due as (select id from deliveries limit 9) select from due', ['deliveries']],
  ['select from signal_states where watch_id = $1', ['signal_states']],
  ['select from watches where wallet = $1 union all select from watches', ['watches']],
  ['insert into accounts (wallet) select wallet from watches', ['watches']],
])('the wallet is not named: %s', (text, tables) => {
  expect(find(text)).toEqual(tables)
})

test('every listed function still exists, and is listed once', () => {
  const all = UNNAMED.flatMap(({ functions }) => functions)
  const gone = all.filter((place) => {
    const [path = '', name = ''] = place.split(': ')
    const source = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
    return !new RegExp(`\\b${name}\\b`).test(source)
  })
  expect(gone).toEqual([])
  expect(all.filter((place, index) => all.indexOf(place) !== index)).toEqual([])
})
