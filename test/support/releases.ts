import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { migrate } from '#src/db/migrate.ts'

/** All migrations, oldest first. */
export const MIGRATIONS = join(import.meta.dirname, '../../migrations')
/** The last migration of the first release. */
export const FIRST_RELEASE = '0013_connect-goes-on'

/** Empties the database and applies migrations up to that one. */
export async function startFrom(sql: Sql, tag: string): Promise<void> {
  await sql`drop schema if exists drizzle cascade`
  await sql`drop schema public cascade`
  await sql`create schema public`
  await migrateUpTo(sql, tag)
}

/** Applies migrations up to that one. */
export async function migrateUpTo(sql: Sql, tag: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await cp(MIGRATIONS, folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'))
  const last = journal.entries.findIndex((entry) => entry.tag === tag)
  if (last < 0) throw new Error(`there is no migration ${tag}`)
  await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, last + 1) }))
  await migrate(sql, folder)
  await rm(folder, { recursive: true })
}
