import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connect } from '#src/db/connection.ts'
import { migrate } from '#src/db/migrate.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'

let database: FreshDatabase
let folder: string
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  const { sql } = database
  await sql`drop schema if exists drizzle cascade`
  await sql`drop table if exists first, second`
  folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await cp(join(import.meta.dirname, 'migrations'), folder, { recursive: true })
})
afterEach(() => rm(folder, { recursive: true }))

/** Adds a migration as drizzle-kit would; `when` is its place in time. */
async function addMigration(tag: string, when: number, statement: string): Promise<void> {
  await writeFile(join(folder, `${tag}.sql`), statement)
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8'))
  journal.entries.push({ idx: journal.entries.length, version: '7', when, tag, breakpoints: true })
  await writeFile(path, JSON.stringify(journal))
}

async function namesOfTables(): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select tablename as name from pg_tables where tablename in ('first', 'second') order by 1`
  return rows.map((row) => row.name)
}

test('several processes that start at once apply every migration once', async () => {
  const connections = [1, 2, 3, 4].map(() => connect(database.url))
  await Promise.all(connections.map(({ sql }) => migrate(sql, folder)))
  await Promise.all(connections.map(({ close }) => close()))
  expect(await namesOfTables()).toEqual(['first'])
  const applied = await database.sql`select id from drizzle.__drizzle_migrations`
  expect(applied).toHaveLength(1)
})

test('a later start applies new migrations only', async () => {
  await migrate(database.sql, folder)
  await database.sql`insert into first (id) values (1)`
  await addMigration('0001_second', 2000, 'create table second (id integer)')
  await migrate(database.sql, folder)
  expect(await namesOfTables()).toEqual(['first', 'second'])
  expect(await database.sql`select id from first`).toHaveLength(1)
})

test('a failing migration leaves the database as it was', async () => {
  await addMigration('0001_second', 2000, 'create table second (id integer); select 1 / 0')
  await expect(migrate(database.sql, folder)).rejects.toThrow()
  expect(await namesOfTables()).toEqual([])
})

test('a migration that was edited after it was applied is refused', async () => {
  await migrate(database.sql, folder)
  await appendFile(join(folder, '0000_first.sql'), '-- edited')
  await expect(migrate(database.sql, folder)).rejects.toThrow('was edited after it was applied')
})

test('a database that was made before the first migration is refused, and stays as it is', async () => {
  await addMigration('0001_second', 2000, 'create table second (id integer)')
  await migrate(database.sql, folder)
  await cp(join(import.meta.dirname, 'migrations'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8'))
  journal.entries[0].when = 3000
  await writeFile(path, JSON.stringify(journal))
  const line = 'the database was made before version 0.1.0: start with an empty one'
  await expect(migrate(database.sql, folder)).rejects.toThrow(line)
  expect(await database.sql`select id from drizzle.__drizzle_migrations`).toHaveLength(2)
})

test('a migration older than one already applied is refused, not skipped', async () => {
  await migrate(database.sql, folder)
  await addMigration('0001_second', 500, 'create table second (id integer)')
  await expect(migrate(database.sql, folder)).rejects.toThrow('left out')
  expect(await namesOfTables()).toEqual(['first'])
})

test('dates are still read as dates after migrating on the same connection', async () => {
  await migrate(database.sql, folder)
  const at = new Date('2026-01-01T00:00:00.000Z')
  expect(await database.sql`select ${at}::timestamptz as at`).toEqual([{ at }])
})

test('a migration waits for the lock of a table in short attempts, so that other statements wait only briefly', async () => {
  await migrate(database.sql, folder)
  await addMigration('0001_more', 2000, 'alter table first add column more integer')
  const [reader, other] = [connect(database.url), connect(database.url)]
  const mayEnd = Promise.withResolvers<void>()
  const isReading = Promise.withResolvers<void>()
  const reading = reader.db.transaction(async (tx) => {
    await tx.execute('select * from first')
    isReading.resolve()
    await mayEnd.promise
  })
  await isReading.promise
  const migrating = migrate(database.sql, folder, { lockMs: 500 })
  const waiting = async () =>
    await other.sql`select 1 from pg_locks where relation = 'first'::regclass and not granted`
  await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1)
  // The first transaction still reads; this query would queue behind a migration that waits for it
  // without a limit.
  await other.db.execute('select * from first')
  mayEnd.resolve()
  await reading
  await migrating
  expect(await other.sql`select more from first`).toEqual([])
  await Promise.all([reader.close(), other.close()])
})

test('a migration that waits for a transaction which waits for it is tried again', async () => {
  await migrate(database.sql, folder)
  await database.sql`create table second (id integer)`
  await addMigration('0001_more', 2000, 'alter table first add a int; alter table second add b int')
  const [writer, other] = [connect(database.url), connect(database.url)]
  const waiting = async () =>
    await other.sql`select 1 from pg_locks where relation = 'second'::regclass and not granted`
  const isLocked = Promise.withResolvers<void>()
  const mayRead = Promise.withResolvers<void>()
  const writing = writer.db.transaction(async (tx) => {
    // PostgreSQL ends the transaction that looks for a deadlock first.
    await tx.execute(`set local deadlock_timeout = '60s'`)
    await tx.execute('select * from second')
    isLocked.resolve()
    await mayRead.promise
    await tx.execute('select * from first')
  })
  await isLocked.promise
  const migrating = migrate(database.sql, folder, { lockMs: 5000 })
  await expect.poll(waiting).toHaveLength(1)
  mayRead.resolve()
  await Promise.all([migrating, writing])
  expect(await other.sql`select a, b from first, second`).toEqual([])
  await Promise.all([writer.close(), other.close()])
})

test('statements of a migration wait two seconds for a lock, and have no time limit otherwise', async () => {
  const read = "select current_setting('lock_timeout'), current_setting('statement_timeout')"
  await addMigration('0001_second', 2000, `create table second (lock, statement) as ${read}`)
  await migrate(database.sql, folder)
  expect(await database.sql`select * from second`).toEqual([{ lock: '2s', statement: '0' }])
})
