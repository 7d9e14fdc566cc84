import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { sql as query } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { type Db, transact } from './connection.ts'
import { boundTo } from './scope.ts'
import {
  attach,
  connectionLost,
  isConnectionFailure,
  openSession,
  postgresError,
} from './session.ts'

/** A named lock that this process holds, and nobody else on the same database. */
export interface Lock {
  /** Aborted when the lock was lost with its connection: another process may hold it soon. */
  readonly signal: AbortSignal
  /**
   * Draws a fencing number for what is written under this lock. Every call draws a new one, so draw once.
   *
   * @throws Error when the lock is lost or the database does not answer
   */
  drawFence(): Promise<Fence>
  /** Gives the lock back. A second call does nothing. */
  release(): Promise<void>
}

/**
 * The right to write under a lock. A process can believe for seconds that it holds a lock that was taken from
 * it, after a pause of the process for one; the number tells its writes from those of the new holder.
 *
 * @see Martin Kleppmann, "How to do distributed locking": fencing tokens
 */
export interface Fence {
  /** Greater than the number of every earlier holder of the lock. */
  readonly number: number
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal
  /**
   * `transact`, in a transaction that is refused when a newer number was drawn, and whose connection is closed
   * as soon as the lock is lost. A newer number is drawn only after it has ended.
   *
   * @throws FenceError when a newer number was drawn
   */
  transact<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>
}

/** A write was refused because another holder of the lock drew a newer fencing number. */
export class FenceError extends Error {
  override readonly name = 'FenceError'
}

/**
 * Writes in a transaction of its own under a lock; without a fence, as where nobody else writes.
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

/** The one connection beside the pool on which this process holds its locks. */
interface LockSession {
  readonly client: Sql
  /** What is held or asked for, by name. */
  readonly locks: Map<string, AbortController>
  lost: boolean
  /** Closes the connection, which gives back every lock. */
  lose(): Promise<void>
  lingerTimer: NodeJS.Timeout | undefined
}

const sessions = new WeakMap<Sql, LockSession>()

const RETRY_MS = 1000
const LINGER_MS = 5000
const HEARTBEAT_MS = 2000
/** We give the locks up after this many beats without an answer, before the server does. */
const MISSED_BEATS_MAX = 3
/** The server takes the locks from a process that is frozen or cut off for this long. */
const SILENCE_MS_MAX = 10_000
/** A row is waited for this long at a time: heartbeats and other locks share the connection. */
const ROW_MS_MAX = 200
/** What PostgreSQL says when a row was waited for too long. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Runs `work` while holding the named lock, so that only one process at a time does.
 *
 * Waits for the lock, and has it within about a second when its holder stops or dies. The signal
 * `work` gets is aborted when `signal` is, or when the lock is lost with its connection; `work` must
 * then stop at once. After a loss it is started again as soon as the lock is back.
 *
 * @returns what `work` gave, or undefined when `signal` was aborted first
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
      await wait(RETRY_MS, undefined, { signal }).catch(() => undefined)
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
 * The lock, or undefined while somebody else holds it, in this process or another.
 *
 * It is a session lock of PostgreSQL, so the server gives it back when this process dies.
 */
export async function tryLock(sql: Sql, name: string): Promise<Lock | undefined> {
  const session = sessions.get(sql) ?? startLockSession(sql)
  if (session.locks.has(name)) return undefined
  const controller = new AbortController()
  session.locks.set(name, controller)
  clearTimeout(session.lingerTimer)
  const locked = await callServer(session, 'pg_try_advisory_lock', name).catch((error: unknown) => {
    forget(session, name)
    throw error
  })
  if (!locked) {
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
      await callServer(session, 'pg_advisory_unlock', name).catch(() => session.lose())
      forget(session, name)
    },
  }
}

async function tryLockIfReachable(sql: Sql, name: string): Promise<Lock | undefined> {
  try {
    return await tryLock(sql, name)
  } catch (error) {
    if (isConnectionFailure(error)) return undefined
    throw error
  }
}

/** The same number for the same name in every process and version. */
export function lockKey(name: string): string {
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}

type LockFunction = 'pg_try_advisory_lock' | 'pg_advisory_unlock'

async function callServer(session: LockSession, call: LockFunction, name: string) {
  const [row] = await session.client<{ done: boolean }[]>`
    select ${session.client(call)}(${lockKey(name)}::bigint) as done`
  if (session.lost) throw connectionLost()
  return row?.done === true
}

/** On the connection that holds the lock: whoever lost it draws nothing. */
async function drawFence(session: LockSession, name: string, signal: AbortSignal): Promise<Fence> {
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
        return await boundTo(signal, () =>
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

/** Undefined while a transaction of the holder before goes on. */
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

/** Under a share lock: the next number waits until the transaction has ended. */
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
  const session: LockSession = {
    client: openSession(sql, {
      onclose: () => void session.lose(),
      connection: { idle_session_timeout: SILENCE_MS_MAX, lock_timeout: ROW_MS_MAX },
    }),
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
      for (const controller of session.locks.values()) controller.abort(connectionLost())
      await session.client.end({ timeout: 0 })
    },
  }
  sessions.set(sql, session)
  const detach = attach(sql, session.lose)
  let missed = 0
  const beat = setInterval(() => {
    missed += 1
    if (missed > MISSED_BEATS_MAX) void session.lose()
    else session.client`select 1`.then(() => (missed = 0)).catch(() => session.lose())
  }, HEARTBEAT_MS)
  return session
}
