import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type PgDatabase, PgTransaction, type PgTransactionConfig } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import { backoffMs } from '#src/kernel/backoff.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { arrayParsers } from './arrays.ts'
import { createPool, type PoolClient } from './pool.ts'
import { endAttached, isConnectionFailure, openSession, postgresError } from './session.ts'

/** A fragment of a statement, built in a room's store. */
export type { SQL } from 'drizzle-orm'
export type { Sql } from 'postgres'

/**
 * The database, or a transaction of it, as stores use it.
 *
 * A `timestamptz` is a `Date`, also in `db.execute`. A `jsonb` column holds an object or an array at its
 * top level: Drizzle would parse a bare string twice.
 */
export type Db = PgDatabase<PostgresJsQueryResultHKT>

/** An open database. It connects with its first query. */
export interface Connection {
  readonly db: Db
  /**
   * The same database as a postgres.js client, for `listen`, locks, migrations and COPY. Use
   * `db.transaction` for transactions, because only it is safe against lost connections.
   */
  readonly sql: Sql
  /**
   * Opens another pool on the same database, so that its users do not wait for the users of the first pool.
   * `close` closes it, too.
   */
  openPool(options?: PoolOptions): Db
  /**
   * Waits for running queries and transactions, then closes every connection.
   *
   * @param deadlineMs maximum wait; ten seconds by default
   */
  close(deadlineMs?: number): Promise<void>
}

interface PoolOptions {
  /** Maximum number of connections that are open at once for queries; 10 by default. */
  readonly max?: number
  /** Maximum wait for a connection, after which the query fails; 30 seconds by default. */
  readonly waitMs?: number
  /**
   * Maximum wait for a row lock, after which the statement fails; by default only the statement timeout
   * applies.
   */
  readonly lockMs?: number
  /**
   * Time after which a statement fails, even if the server is frozen. Includes the wait for a connection.
   * By default 15 seconds longer than the statement timeout.
   */
  readonly answerMs?: number
  /** Called after every wait for a connection, even if it failed. */
  readonly onWaited?: (seconds: number) => void
  /** Whether every statement keeps one plan, by indexes; see `KEPT_PLANS`. Without effect behind a pooler. */
  readonly keepsPlans?: boolean
}

/** Options of the first pool. Listening and locks each use one more connection. */
interface ConnectOptions extends PoolOptions {
  /** Time after which the server cancels a statement; 0 disables it. */
  readonly statementTimeoutMs?: number
  /**
   * Address of a PgBouncer in transaction mode, for the pools; `sql`, which is used for LISTEN, locks and
   * migrations, still connects to the server directly. Time limits of statements are then those of the
   * role, because a pooler does not accept them from clients. Statements are not kept prepared.
   */
  readonly poolerUrl?: string | undefined
}

/**
 * Settings of connections for a few statements that run often, each over many partitions and by an index.
 * PostgreSQL would plan such a statement at every run, which takes several times as long as running it; with
 * these settings it plans the statement once. The plan must not scan whole tables, because they may be empty when
 * it is made. It must not use JIT compilation, because the first estimate of its cost may be wrong.
 */
const KEPT_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  jit: 'off',
} as const

const CONNECTIONS_MAX = 10
const WAIT_MS = 30_000
const CLOSE_DEADLINE_MS = 10_000
const CONNECT_TIMEOUT_SECONDS = 10
/**
 * Settings for several hosts: a connection tries the next host after three seconds without an answer, and
 * at once if the host is a standby, which refuses writes.
 */
const SEVERAL_HOSTS = { target_session_attrs: 'primary', connect_timeout: 3 } as const
const IDLE_MS = 300_000
/** Part of `answerMs` after which the server cancels a statement. */
const CANCEL_SHARE = 0.9
const LIFETIME_MS = HOUR_MS

/** Type numbers of PostgreSQL's own types, the same in every database. */
const TIMESTAMPTZ = 1184
const TIMESTAMP = 1114
const DATE = 1082
const JSON_TYPE = 114
const JSONB = 3802

/**
 * Opens the database at `url`.
 *
 * A lost connection fails the statements running on it and no others; the next query opens another
 * connection. If the URL has several hosts (`postgres://user@first:5432,second:5432/name`), each connection
 * uses the first host that accepts writes: after a failover, the promoted standby.
 */
export function connect(url: string, options: ConnectOptions = {}): Connection {
  const { statementTimeoutMs = 30_000, poolerUrl, ...first } = options
  const limits = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
  }
  const sql = openClient(url, limits)
  const pooled = poolerUrl === undefined ? sql : openClient(poolerUrl, {}, { prepare: false })
  const longestMs = statementTimeoutMs === 0 ? 0 : statementTimeoutMs + 15_000
  const pools: ReturnType<typeof openDb>[] = []
  const openPool = (of: PoolOptions = {}) => {
    const { max = CONNECTIONS_MAX, waitMs = WAIT_MS, lockMs = 0, answerMs, onWaited } = of
    const { keepsPlans = false } = of
    const settings = {
      lock_timeout: lockMs,
      // The server's own cancellation comes first, because it keeps the connection.
      ...(answerMs !== undefined && { statement_timeout: Math.ceil(answerMs * CANCEL_SHARE) }),
      ...(keepsPlans && KEPT_PLANS),
    }
    const pool = openDb(pooled, {
      max,
      waitMs,
      answerMs: answerMs ?? longestMs,
      onWaited,
      ...(pooled === sql && { settings }),
    })
    pools.push(pool)
    return pool.db
  }
  return {
    db: openPool(first),
    sql,
    openPool,
    close: async (deadlineMs) => {
      await Promise.all(pools.map(({ end }) => end(deadlineMs)))
      await endAttached(sql)
      await sql.end({ timeout: 1 })
    },
  }
}

function openClient(
  url: string,
  limits: Readonly<Record<string, number>>,
  more: { readonly prepare?: boolean } = {},
): Sql {
  return postgres(url, {
    max: 2,
    idle_timeout: 30,
    fetch_types: false,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    ...(hasSeveralHosts(url) && SEVERAL_HOSTS),
    ...socketOf(url),
    ...more,
    onnotice: () => undefined,
    connection: { application_name: 'flare-watchdog', TimeZone: 'UTC', ...limits },
  })
}

/** The folder of a Unix socket in place of a host, percent-encoded as in libpq, which postgres.js does not decode. */
function socketOf(url: string): { readonly host?: string } {
  const [, folder] = /^\w+:\/\/(?:[^/?@]*@)?(%2F[^/?:]*)/i.exec(url) ?? []
  return folder === undefined ? {} : { host: decodeURIComponent(folder) }
}

function hasSeveralHosts(url: string): boolean {
  return /^\w+:\/\/(?:[^/?]*@)?[^/?@]*,/.test(url)
}

/** Opens a further pool on the same database, with at most `max` connections. */
export function openDb(
  sql: Sql,
  options: Omit<Parameters<typeof createPool>[1], 'idleMs' | 'lifetimeMs'>,
): { readonly db: Db; end(deadlineMs?: number): Promise<void> } {
  const pool = createPool(sql, { ...options, idleMs: IDLE_MS, lifetimeMs: LIFETIME_MS })
  return {
    db: openDrizzle(pool.client),
    end: (deadlineMs = CLOSE_DEADLINE_MS) => pool.end(deadlineMs),
  }
}

/**
 * Creates Drizzle's database on a client. Drizzle replaces the parsers of dates, so that they are returned
 * as text; this restores the parsers for plain queries.
 */
function openDrizzle(client: PoolClient): Db {
  // The pool offers exactly what Drizzle's driver uses of a postgres.js client.
  const db = drizzle({ client: client as unknown as Sql })
  const { parsers, serializers } = client.options
  const dateText = (value: unknown) => (value instanceof Date ? value.toISOString() : value)
  const jsonText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  parsers[TIMESTAMPTZ] = (text: string) => new Date(text)
  for (const type of [TIMESTAMPTZ, TIMESTAMP, DATE]) serializers[type] = dateText
  for (const type of [JSON_TYPE, JSONB]) serializers[type] = jsonText
  for (const [type, parse] of arrayParsers()) parsers[type] = parse
  return db
}

/**
 * Waits until the database answers, at the start of a process.
 *
 * Logs once that it waits. Throws at once on a permanent refusal, such as a wrong password.
 *
 * @throws Error when `deadlineMs` has passed without an answer
 */
export async function waitForDatabase(
  sql: Sql,
  options: { readonly deadlineMs: number; readonly logger: Logger; readonly signal?: AbortSignal },
): Promise<void> {
  const deadline = AbortSignal.timeout(options.deadlineMs)
  for (let tries = 1; ; tries += 1) {
    const problem = await tryOnce(sql)
    if (problem === undefined) return
    options.signal?.throwIfAborted()
    if (deadline.aborted) {
      const message = `the database did not answer within ${options.deadlineMs} ms`
      throw new Error(message, { cause: problem })
    }
    if (tries === 1) options.logger.warn({ problem: problem.message }, 'waiting for the database')
    const waitMs = backoffMs(tries, { min: 50, max: 2000 })
    await wait(waitMs, undefined, options.signal === undefined ? {} : { signal: options.signal })
  }
}

/** Versions before it lack `idle_session_timeout`, which ends the locks of a dead process. */
const MAJOR_MIN = 14

async function tryOnce(sql: Sql): Promise<Error | undefined> {
  const session = openSession(sql, { onclose: () => undefined })
  try {
    const [server] = await session<{ version: number }[]>`
      select current_setting('server_version_num')::integer as version`
    const major = Math.floor((server?.version ?? 0) / 10_000)
    if (major < MAJOR_MIN)
      throw new Error(`the database is PostgreSQL ${major}; ${MAJOR_MIN} or newer is needed`)
    return undefined
  } catch (error) {
    if (error instanceof Error && isConnectionFailure(error)) return error
    throw error
  } finally {
    await session.end({ timeout: 1 })
  }
}

/** Work of the lease that `writeToDatabase` writes. */
const WRITE_CHECK = 'write check'

/**
 * Writes and commits a row, after a sort that needs some hundred kilobytes of disk: a row alone finds room in a table
 * when the disk is full.
 *
 * @throws the error of a database that does not answer, or cannot be written
 */
export async function writeToDatabase(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local work_mem = '64kB'`
    await tx`
      insert into leases (work, item, number)
      select ${WRITE_CHECK}, '', count(*) from (
        select md5(n::text) as hash from generate_series(1, 3000) as n order by hash offset 0
      ) as sorted
      on conflict (work, item) do update set number = leases.number + 1`
  })
}

/** Whether a statement failed on a unique index or constraint, named `constraint` if given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const known = postgresError(error)
  if (known?.code !== '23505') return false
  return constraint === undefined || known.constraint_name === constraint
}

/**
 * Whether a transaction failed because of a concurrent transaction (serialization failure or deadlock) and
 * may succeed when retried.
 */
export function isSerializationFailure(error: unknown): boolean {
  const code = postgresError(error)?.code
  return code === '40001' || code === '40P01'
}

/** Whether a statement failed because its row belongs to a partition that was attached meanwhile. */
export function isOtherPartition(error: unknown): boolean {
  const known = postgresError(error)
  // A violated check constraint has the same code, but also the name of the constraint.
  return known?.code === '23514' && known.constraint_name === undefined
}

const ATTEMPTS_MAX = 5

/**
 * Runs `work` in a transaction, and retries after a serialization failure, a deadlock or a change of
 * partitions; five attempts at most.
 *
 * `work` may run several times, so its effects outside the transaction must be repeatable. Inside a
 * transaction it runs once, in a savepoint, because only a whole transaction can be repeated.
 */
export async function transact<T>(
  db: Db,
  work: (tx: Db) => Promise<T>,
  config?: PgTransactionConfig,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction(work, config)
    } catch (error) {
      const mayWork = isSerializationFailure(error) || isOtherPartition(error)
      if (!mayWork || attempt === ATTEMPTS_MAX || db instanceof PgTransaction) throw error
      await wait(randomInt(5, 10 * 2 ** attempt))
    }
  }
}
