import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { attach, connectionLost, isConnectionFailure, openSession } from './session.ts'

/** A named lock that this process holds, and nobody else on the same database. */
export interface Lock {
  /** Aborted when the lock was lost with its connection: another process may hold it soon. */
  readonly signal: AbortSignal
  /** Gives the lock back. A second call does nothing. */
  release(): Promise<void>
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
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  while (!signal.aborted) {
    const lock = await tryLockIfReachable(sql, name)
    if (lock === undefined) {
      await wait(RETRY_MS, undefined, { signal }).catch(() => undefined)
      continue
    }
    try {
      const result = await work(AbortSignal.any([signal, lock.signal]))
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

function forget(session: LockSession, name: string): void {
  session.locks.delete(name)
  if (session.locks.size > 0 || session.lost) return
  session.lingerTimer = setTimeout(() => void session.lose(), LINGER_MS)
}

function startLockSession(sql: Sql): LockSession {
  const session: LockSession = {
    client: openSession(sql, {
      onclose: () => void session.lose(),
      connection: { idle_session_timeout: SILENCE_MS_MAX },
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
