import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql as query } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import type { Sql } from 'postgres'
import { z } from 'zod'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { lockKey } from './advisory-lock.ts'
import { type Db, openDb } from './connection.ts'
import { postgresError } from './session.ts'

/** Maximum wait of a statement for a table lock. All statements that are queued behind it wait as long. */
const LOCK_MS = 2000
const TRIES_MAX = 150
const PAUSE_MS = 2000
/** Time granted to the server to end an abandoned migration. */
const TERMINATE_MS = 1000

interface MigrateOptions {
  /** Maximum wait of a statement for a table lock. */
  readonly lockMs?: number
  /** Aborts the migration, even in the middle of a statement; the migration is rolled back. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Migrates the database to the newest migration of the folder, in one transaction.
 *
 * Processes that start at the same time wait for each other. Applied migrations are skipped. While another process
 * uses a table, a change of the table must wait, and all later statements on the table wait behind the change. So
 * a change that gets no lock soon is rolled back and retried, for ten minutes. A deadlock is retried, too.
 *
 * @throws Error when the database was made before the first migration of the folder, or when a migration was edited
 * after it was applied, or is older than the newest applied one; the signal's reason when aborted
 */
export async function migrate(
  sql: Sql,
  folder: string,
  { lockMs = LOCK_MS, signal }: MigrateOptions = {},
): Promise<void> {
  signal?.throwIfAborted()
  const { db, end } = openDb(sql, { max: 1, answerMs: 0, waitMs: 0 })
  let backend: number | undefined
  let terminated: Promise<unknown> | undefined
  const giveUp = () => {
    // Otherwise the server would continue to wait, and change tables after this process has ended.
    terminated = terminate(sql, backend)
    void end(0)
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await migrateOnce(db, folder, lockMs, (pid) => {
          backend = pid
        })
      } catch (error) {
        signal?.throwIfAborted()
        if (!LOCKED.has(postgresError(error)?.code) || tries === TRIES_MAX) throw error
        await wait(Math.min(lockMs, PAUSE_MS), undefined, signal === undefined ? {} : { signal })
      }
    }
  } finally {
    signal?.removeEventListener('abort', giveUp)
    await endsWithin(terminated, TERMINATE_MS)
    await end()
  }
}

/** Number of migrations of the folder that are newer than the last applied one. */
export async function countPending(sql: Sql, folder: string): Promise<number> {
  const [last] = await sql<{ at: string | null }[]>`
    select max(created_at)::text as at from drizzle.__drizzle_migrations`
  const appliedTo = Number(last?.at ?? 0)
  const { entries } = Journal.parse(
    JSON.parse(await readFile(join(folder, 'meta/_journal.json'), 'utf8')),
  )
  return entries.filter(({ when }) => when > appliedTo).length
}

/** Terminates a session of this process on the server, which rolls back its transaction. */
async function terminate(sql: Sql, backend: number | undefined): Promise<void> {
  if (backend === undefined) return
  // A server that does not answer detects the closed connection later and ends the session.
  await sql`select pg_terminate_backend(${backend})`.catch(() => undefined)
}

/** Drizzle's list of migrations; `when` in milliseconds since 1970. */
const Journal = z.object({ entries: z.array(z.object({ when: z.number() })) })
/** Errors of a statement that did not get its lock: lock not available, deadlock. */
const LOCKED: ReadonlySet<string | undefined> = new Set(['55P03', '40P01'])

async function migrateOnce(
  db: Db,
  folder: string,
  lockMs: number,
  runsOn: (backend: number) => void,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [session] = await tx.execute<{ pid: number }>(
      query`select pg_backend_pid() as pid, set_config('statement_timeout', '0', true)`,
    )
    if (session !== undefined) runsOn(session.pid)
    await tx.execute(query`select pg_advisory_xact_lock(${lockKey('migrations')}::bigint)`)
    await tx.execute(query`select set_config('lock_timeout', ${String(lockMs)}, true)`)
    await refuseOlder(tx, folder)
    // The migrator uses only the dialect and the session, which a transaction has too.
    const migrated = tx as unknown as PostgresJsDatabase
    await applyMigrations(migrated, { migrationsFolder: folder })
    await checkApplied(tx, folder)
  })
}

/** Refuses a database whose tables were made by migrations that this folder does not have. */
async function refuseOlder(db: Db, folder: string): Promise<void> {
  const [known] = await db.execute(
    query`select to_regclass('drizzle.__drizzle_migrations') is not null as "isMigrated"`,
  )
  const [first] = readMigrationFiles({ migrationsFolder: folder })
  if (known?.isMigrated !== true || first === undefined) return
  const older = await db.execute(
    query`select from drizzle.__drizzle_migrations where created_at < ${first.folderMillis} limit 1`,
  )
  if (older.length > 0)
    throw new Error('the database was made before version 0.1.0: start with an empty one')
}

async function checkApplied(db: Db, folder: string): Promise<void> {
  const rows = await db.execute<{ hash: string }>(
    query`select hash from drizzle.__drizzle_migrations`,
  )
  const applied = new Set(rows.map((row) => row.hash))
  for (const migration of readMigrationFiles({ migrationsFolder: folder })) {
    if (!applied.has(migration.hash)) {
      const madeAt = new Date(migration.folderMillis).toISOString()
      throw new Error(`the migration of ${madeAt} was edited after it was applied, or left out`)
    }
  }
}
