import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { sql as query } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { type Batcher, createBatcher } from '#src/kernel/batcher.ts'
import { pause } from '#src/kernel/pause.ts'
import { type Db, transact } from './connection.ts'
import {
  connectionLostError,
  isConnectionEnd,
  openSession,
  postgresError,
  runAtClose,
} from './session.ts'
import { withEndSignal } from './transaction-scope.ts'

/** A named lock that this process holds exclusively on a database. */
export interface Lock {
  /** Aborted when the lock was lost with its connection: another process may soon hold it. */
  readonly signal: AbortSignal
  /**
   * Draws a new fencing number for writes under this lock. Call it once.
   *
   * @throws Error when the lock is lost or the database does not answer
   */
  drawFence(): Promise<LockFence>
  /** Releases the lock. Idempotent. */
  release(): Promise<void>
}

/**
 * The right to write under a lock or for a slice. A process that was frozen for a while may not know yet
 * that another process has taken its lock or slice. By the fencing number the database refuses the writes
 * of the former holder.
 *
 * @see Martin Kleppmann, "How to do distributed locking": fencing tokens
 */
export interface Fence {
  /**
   * Runs `work` in a transaction, or refuses if a newer number was drawn before. While it runs, no number can be
   * drawn.
   *
   * @throws FenceError when a newer number was drawn
   */
  transact<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>
}

/**
 * The right to write under a lock. A transaction also ends when the lock is lost together with its
 * connection.
 */
export interface LockFence extends Fence {
  /** Fencing number, greater than that of every earlier holder. */
  readonly number: number
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal
}

/** Thrown when a write is refused because another holder of the lock drew a newer fencing number. */
export class FenceError extends Error {
  override readonly name = 'FenceError'
}

/**
 * Runs `work` in a transaction under the fence. Without a fence, where there is a single writer, the transaction
 * is a plain one.
 *
 * @throws FenceError when another holder of the lock has drawn a newer number
 */
export function transactUnder<T>(
  fence: Fence | undefined,
  db: Db,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  return fence === undefined ? transact(db, work) : fence.transact(db, work)
}

/** The connection, outside the pools, on which this process holds its locks. */
interface LockSession {
  readonly client: Sql
  /** Asks for locks by name; those that are asked for at the same time share a statement. */
  readonly tries: Batcher<string, Try>
  /** Held and requested locks, by name. */
  readonly locks: Map<string, AbortController>
  lost: boolean
  /** Closes the connection, which releases every lock. */
  lose(): Promise<void>
  lingerTimer: NodeJS.Timeout | undefined
}

interface Try {
  readonly isLocked: boolean
}

const sessions = new WeakMap<Sql, LockSession>()

const RETRY_MS = 1000
/** Time for which the connection stays open after the last lock is released. */
const LINGER_MS = 5000
const HEARTBEAT_MS = 2000
/** Maximum number of locks that one statement asks for. */
const TRIES_MAX = 100
/**
 * Number of heartbeats without an answer after which this process gives up its locks. The server releases them
 * later, after `SILENCE_MS_MAX`.
 */
const MISSED_BEATS_MAX = 3
/** Time after which the server releases the locks of a process that is frozen or cut off. */
const SILENCE_MS_MAX = 10_000
/** Maximum time of one wait for a row, because heartbeats and other locks share the connection. */
const ROW_MS_MAX = 200
/** PostgreSQL's error code `lock_not_available`. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Runs `work` while this process holds the named lock, so that only one process runs it at a time.
 *
 * Waits for the lock, and gets it within about a second after its holder stops or dies. The signal passed
 * to `work` is aborted with `signal`, or when the lock is lost with its connection; `work` must then stop
 * at once. After a loss it is started again as soon as the lock is held again.
 *
 * @returns the result of `work`, or undefined when `signal` was aborted first
 */
export async function whileHolding<T>(
  sql: Sql,
  name: string,
  signal: AbortSignal,
  work: (signal: AbortSignal, lock: Lock) => Promise<T>,
): Promise<T | undefined> {
  while (!signal.aborted) {
    const lock = await tryLockIfReachable(sql, name)
    if (lock === undefined) {
      await pause(RETRY_MS, signal)
      continue
    }
    try {
      const result = await work(AbortSignal.any([signal, lock.signal]), lock)
      if (!lock.signal.aborted) return result
    } catch (error) {
      const isStop = error instanceof Error && error.name === 'AbortError'
      if (!lock.signal.aborted && !(signal.aborted && isStop)) throw error
    } finally {
      await lock.release()
    }
  }
  return undefined
}

/**
 * Takes the lock; undefined while another holder has it, in this process or another.
 *
 * It is a session lock of PostgreSQL, so the server releases it when this process dies.
 */
export async function tryLock(sql: Sql, name: string): Promise<Lock | undefined> {
  const session = sessions.get(sql) ?? startLockSession(sql)
  if (session.locks.has(name)) return undefined
  const controller = new AbortController()
  session.locks.set(name, controller)
  clearTimeout(session.lingerTimer)
  const isLocked = await tryOn(session, name).catch((error: unknown) => {
    forget(session, name)
    throw error
  })
  if (!isLocked) {
    forget(session, name)
    return undefined
  }
  let released = false
  return {
    signal: controller.signal,
    drawFence: () => drawFence(session, name, controller.signal),
    release: async () => {
      if (released) return
      released = true
      if (session.lost) return
      await unlock(session, name).catch(() => session.lose())
      forget(session, name)
    },
  }
}

async function tryLockIfReachable(sql: Sql, name: string): Promise<Lock | undefined> {
  try {
    return await tryLock(sql, name)
  } catch (error) {
    if (isConnectionEnd(error)) return undefined
    throw error
  }
}

/** Lock number of a name, the same in every process and version. */
export function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}

async function tryOn(session: LockSession, name: string): Promise<boolean> {
  const answer = session.tries.add(undefined, name)
  if (answer === undefined) throw connectionLostError()
  const { isLocked } = await answer
  if (session.lost) throw connectionLostError()
  return isLocked
}

/**
 * A process that waits for many locks asks for all of them in one statement. If it fails, some may have been taken, which
 * nobody would release: `lose` closes the connection.
 */
function createTries(client: Sql, lose: () => Promise<void>): Batcher<string, Try> {
  const tryAll = async (names: readonly string[]): Promise<readonly Try[]> => {
    const keys = names.map(lockKey)
    const rows = await client<{ key: string; isLocked: boolean }[]>`
      select key, pg_try_advisory_lock(key) as "isLocked"
      from unnest(string_to_array(${keys.join()}, ',')::bigint[]) as asked(key)`.catch(
      async (error: unknown) => {
        await lose()
        throw error
      },
    )
    const locked = new Set(rows.flatMap(({ key, isLocked }) => (isLocked ? [String(key)] : [])))
    return keys.map((key) => ({ isLocked: locked.has(key) }))
  }
  return createBatcher<string, Try>({
    batchesAtOnce: 1,
    groupsPerBatch: TRIES_MAX,
    itemsPerGroup: 1,
    itemsPerBatch: TRIES_MAX,
    waitingPerKeyMax: 1,
    itemsMax: TRIES_MAX * TRIES_MAX,
    isAlike: () => true,
    processTogether: async (groups) =>
      (await tryAll(groups.map(([name]) => name))).map((lock) => [lock]),
    processAlone: ([name]) => tryAll([name]),
  })
}

async function unlock({ client }: LockSession, name: string): Promise<void> {
  await client`select pg_advisory_unlock(${lockKey(name)}::bigint)`
}

/**
 * Draws a number on the connection that holds the lock, so that a process that lost the lock cannot draw
 * one.
 */
async function drawFence(
  session: LockSession,
  name: string,
  signal: AbortSignal,
): Promise<LockFence> {
  let number: number | undefined
  while (number === undefined) {
    signal.throwIfAborted()
    number = await tryDraw(session, name)
    if (number === undefined) await wait(RETRY_MS, undefined, { signal })
  }
  signal.throwIfAborted()
  return {
    number,
    signal,
    transact: async (db, work) => {
      try {
        return await withEndSignal(signal, () =>
          transact(db, async (tx) => {
            await assertNewest(tx, name, number)
            return await work(tx)
          }),
        )
      } catch (error) {
        if (error instanceof FenceError) await session.lose()
        throw error
      }
    },
  }
}

/** Draws a number; undefined while a transaction of the previous holder is running. */
async function tryDraw({ client }: LockSession, name: string): Promise<number | undefined> {
  try {
    const [row] = await client<{ number: string }[]>`
      insert into lock_fences as fence (name, number) values (${name}, 1)
      on conflict (name) do update set number = fence.number + 1
      returning number`
    return Number(row?.number)
  } catch (error) {
    if (postgresError(error)?.code !== LOCK_NOT_AVAILABLE) throw error
    return undefined
  }
}

/**
 * Checks the number under a share lock, so that a newer number can only be drawn after the transaction has
 * ended.
 * @throws FenceError
 */
async function assertNewest(tx: Db, name: string, number: number): Promise<void> {
  const [newest] = await tx.execute<{ number: string }>(
    query`select number from lock_fences where name = ${name} for share`,
  )
  if (Number(newest?.number) !== number) throw new FenceError(`the lock "${name}" was taken over`)
}

function forget(session: LockSession, name: string): void {
  session.locks.delete(name)
  if (session.locks.size > 0 || session.lost) return
  session.lingerTimer = setTimeout(() => void session.lose(), LINGER_MS)
}

function startLockSession(sql: Sql): LockSession {
  const client = openSession(sql, {
    onclose: () => void session.lose(),
    connection: { idle_session_timeout: SILENCE_MS_MAX, lock_timeout: ROW_MS_MAX },
  })
  const session: LockSession = {
    client,
    tries: createTries(client, () => session.lose()),
    locks: new Map(),
    lost: false,
    lingerTimer: undefined,
    lose: async () => {
      if (session.lost) return
      session.lost = true
      sessions.delete(sql)
      detach()
      clearInterval(beat)
      clearTimeout(session.lingerTimer)
      for (const controller of session.locks.values()) controller.abort(connectionLostError())
      await session.client.end({ timeout: 0 })
    },
  }
  sessions.set(sql, session)
  const detach = runAtClose(sql, session.lose)
  let missed = 0
  const beat = setInterval(() => {
    missed += 1
    if (missed > MISSED_BEATS_MAX) void session.lose()
    else session.client`select 1`.then(() => (missed = 0)).catch(() => session.lose())
  }, HEARTBEAT_MS)
  return session
}
