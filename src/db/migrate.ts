import { setTimeout as wait } from 'node:timers/promises'
import { sql as query } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import type { Sql } from 'postgres'
import { bounded } from '#src/kernel/bounded.ts'
import { type Db, openDb } from './connection.ts'
import { lockKey } from './lock.ts'
import { postgresError } from './session.ts'

/** How long a statement waits for a table: whoever comes behind it waits as long. */
const LOCK_MS = 2000
const TRIES_MAX = 150
const PAUSE_MS = 2000
/** How long the server is given to end a migration that is given up. */
const TERMINATE_MS = 1000

interface MigrateOptions {
  /** How long a statement waits for a table. */
  readonly lockMs?: number
  /** Gives up, also in the middle of a statement: what was not committed is undone. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Brings the database to the newest migration of the folder, in one transaction.
 *
 * Processes that start at once wait for each other. What is already applied stays. While another process
 * works on a table, everybody waits behind a change of it: so the change gives up soon and is tried again,
 * for ten minutes.
 *
 * @throws Error when a migration of the folder is not among those applied, because it was edited
 *   afterwards or is older than the newest one the database knew; the signal's reason when it gives up
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
    // Without that the server would go on waiting, and then change tables for nobody.
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
        if (postgresError(error)?.code !== LOCK_NOT_AVAILABLE || tries === TRIES_MAX) throw error
        await wait(Math.min(lockMs, PAUSE_MS), undefined, signal === undefined ? {} : { signal })
      }
    }
  } finally {
    signal?.removeEventListener('abort', giveUp)
    await bounded(terminated, TERMINATE_MS)
    await end()
  }
}

/** Ends a session of ours on the server, which undoes its transaction. */
async function terminate(sql: Sql, backend: number | undefined): Promise<void> {
  if (backend === undefined) return
  // A server that does not answer notices by itself that its client has gone.
  await sql`select pg_terminate_backend(${backend})`.catch(() => undefined)
}

const LOCK_NOT_AVAILABLE = '55P03'

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
    // Of what it is given the migrator uses the dialect and the session, which a transaction has.
    const migrated = tx as unknown as PostgresJsDatabase
    await applyMigrations(migrated, { migrationsFolder: folder })
    await checkApplied(tx, folder)
  })
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
