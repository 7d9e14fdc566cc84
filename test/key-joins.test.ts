import { sql } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { freshDatabase } from './support/database.ts'
import { findKeyJoins, PARTITION_KEYS } from './support/key-joins.ts'

/**
 * No statement that locks or changes rows compares the key of a partitioned table with values of other rows.
 * `support/pruning-guard.ts` watches the statements of all tests.
 *
 * @see docs/decisions/0012-joins-by-partition-key.md
 */

test('the partitioned tables and their keys are those of the database', async () => {
  const database = await freshDatabase()
  const rows = await database.db.execute<{ name: string; key: string }>(sql`
    select c.relname as name, a.attname as key
    from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = any(p.partattrs::int2[])`)
  await database.drop()
  expect(new Map(rows.map(({ name, key }) => [name, key]))).toEqual(PARTITION_KEYS)
})

test.each([
  'update delivery_log d set attempts = 1 from chosen c where c.id = d.id',
  'update delivery_log set attempts = 1 from unnest($1::uuid[]) as r(id) where delivery_log.id = r.id',
  'update delivery_log set attempts = 1 where id in (select id from delivery_log for update)',
  'update delivery_log set attempts = 1 where id = (select summary_delivery_id from delivery_log limit 1)',
  'update delivery_log d set attempts = 1 from r where d.id = any(array[r.id, r.summary_delivery_id])',
  'update delivery_log d set attempts = 1 from r where d.id in (r.id, $1)',
  'update delivery_log d set attempts = 1 from r where (d.id, d.wallet) = (r.id, r.wallet)',
  'update delivery_log d set attempts = 1 from r where d.id >= r.id',
  'delete from sent_messages m using old where m.id = old.id',
  'with c as (update alerts a set data = null from r where a.fired_at = r.at returning a.id) select from c',
  `select from unnest($1::uuid[]) as asked(id) cross join lateral (
    select d.id from delivery_log d where d.id = asked.id limit 1 for update skip locked) d`,
  'select from delivery_log join sent_messages using (id) for update',
  `update delivery_log d set attempts = case when exists (
    select from alerts a where a.id = d.alert_id and a.fired_at = d.fired_at) then 1 end`,
])('a key is compared with other rows: %s', (text) => {
  expect(findKeyJoins(text)).toHaveLength(text.includes('using (id)') ? 2 : 1)
})

test.each([
  'select from delivery_log d join r on d.id = r.id',
  'insert into alerts (id) select r.id from r where not exists (select from alerts a where a.fired_at = r.at)',
  'update delivery_log set attempts = 1 where id = $1',
  'update delivery_log set attempts = 1 where id = any($1::uuid[])',
  'update delivery_log set attempts = 1 where id = any(array(select id from delivery_log for update))',
  'update delivery_log d set attempts = 1 from r where d.id::text = r.id::text',
  'update alerts a set data = null from r where a.id = r.id',
  'update sent_messages m set sent_at = $1 where m.id >= $2::uuid',
  'with c as (select id from recipients for update) select from c left join claimed d on d.id = c.id',
  'select from delivery_log e where (e.fired_at, e.id) < ($1, $2) for update',
  'select from delivery_log d where exists (select from delivery_log e where (e.fired_at, e.id) < (d.fired_at, d.id)) for update',
])('no key is compared with other rows: %s', (text) => {
  expect(findKeyJoins(text)).toEqual([])
})
