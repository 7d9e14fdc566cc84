import { writeFile } from 'node:fs/promises'
import { test } from 'vitest'
import { migrate } from '#src/db/migrate.ts'
import { freshDatabase } from '../support/database.ts'

test('dump', async () => {
  const { sql, drop } = await freshDatabase()
  for (const [name, folder] of [
    ['old', '/work/main/migrations'],
    ['new', '/work/wt/baseline/migrations'],
  ] as const) {
    await sql`drop schema if exists drizzle cascade`
    await sql`drop schema public cascade`
    await sql`create schema public`
    await migrate(sql, folder)
    const rows = [
      ...(await sql`select table_name || ' ' || column_name || ' ' || data_type || ' ' || udt_name || ' null=' || is_nullable || ' default=' || coalesce(column_default, '') || ' identity=' || coalesce(identity_generation,'') || ' gen=' || coalesce(generation_expression,'') as t from information_schema.columns where table_schema = 'public' order by 1`),
      ...(await sql`select indexdef as t from pg_indexes where schemaname = 'public' order by 1`),
      ...(await sql`select conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) as t from pg_constraint where connamespace = 'public'::regnamespace order by 1`),
      ...(await sql`select relname::text || ' ' || relkind::text || ' ' || coalesce(array_to_string(reloptions, ','), '') || ' ' || coalesce(pg_get_partkeydef(oid), '') || ' ' || coalesce(pg_get_expr(relpartbound, oid), '') as t from pg_class where relnamespace = 'public'::regnamespace order by 1`),
      ...(await sql`select proname::text || ' ' || prosrc as t from pg_proc where pronamespace = 'public'::regnamespace order by 1`),
      ...(await sql`select sequencename::text || ' ' || data_type::text || ' ' || start_value || ' ' || max_value as t from pg_sequences where schemaname = 'public' order by 1`),
      ...(await sql`select attrelid::regclass::text || ' ' || attname::text || ' ' || attstorage::text || ' ' || coalesce(attstattarget, -1) as t from pg_attribute join pg_class c on c.oid = attrelid where relnamespace = 'public'::regnamespace and relkind in ('r','p') and attnum > 0 and not attisdropped order by 1`),
    ]
    await writeFile(`/tmp/s2/schema-${name}.txt`, rows.map(({ t }) => t).join('\n'))
  }
  await drop()
})
