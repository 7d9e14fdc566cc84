import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { dropOldAlerts } from '#src/alerts/retention.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { startEmbedded } from '#src/db/embedded/embedded.ts'
import { migrate } from '#src/db/migrate.ts'
import { dropOldDeliveries } from '#src/delivery/retention.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { silentLogger } from '#src/kernel/logger.ts'

const YEAR_DAYS = 380

/**
 * Runs work with a migrated PostgreSQL of its own, which is deleted afterwards.
 *
 * @param durable every commit waits for the disk, as in production
 * @param countsStatements PostgreSQL counts what each statement costs, in `pg_stat_statements`
 */
export async function withDatabase<T>(
  work: (databaseUrl: string) => Promise<T>,
  { durable = false, countsStatements = false } = {},
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'watchdog-bench-'))
  await chmod(folder, 0o755)
  const start = () => startEmbedded({ dataDir: folder, logger: silentLogger, durable })
  let embedded = await start()
  try {
    if (countsStatements) {
      await loadStatementCounts(embedded.url)
      await embedded.stop()
      embedded = await start()
    }
    const { sql, close } = connect(embedded.url)
    if (countsStatements) await sql`create extension pg_stat_statements`
    await migrate(sql, join(import.meta.dirname, '../../migrations'))
    await close()
    return await work(embedded.url)
  } finally {
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function loadStatementCounts(databaseUrl: string): Promise<void> {
  const { sql, close } = connect(databaseUrl)
  await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`
  await close()
}

/** Writes `count` watches, each on its own target, all of Bob's wallet. */
export async function fillWatches(databaseUrl: string, count: number): Promise<void> {
  const { sql, close } = connect(databaseUrl)
  await sql`insert into targets (type, key, target, watch_count, must_judge)
    select 'wallet-balance', address, jsonb_build_object('address', address, 'asset', 'FLR'), 1, true
    from (select '0x' || lpad(to_hex(n), 40, '0') as address
      from generate_series(1, ${count}::int) n) t`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select ${PEOPLE.bob.account.address}, 'wallet-balance', id, 'Bench ' || id,
      '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1, now(), now() from targets`
  await sql`analyze`
  await close()
}

/** Creates the partitions that a service has after more than a year. */
export async function createYearOfPartitions({ db }: Connection, now: Date): Promise<void> {
  for (const days of [YEAR_DAYS, 0]) {
    const at = new Date(now.getTime() - days * DAY_MS)
    const deps = { db, clock: { now: () => at }, log: silentLogger }
    await dropOldAlerts(deps)
    await dropOldDeliveries(deps)
  }
}
