import { once } from 'node:events'
import type { Sql } from 'postgres'
import { pause } from '#src/kernel/pause.ts'
import { lockKey } from '../advisory-lock.ts'
import { type Connection, connect } from '../connection.ts'
import { isConnectionFailure, openSession } from '../session.ts'

/**
 * This process's claim on an embedded server: while it lives, no other service stops the server as an
 * orphan.
 */
export interface ServerClaim {
  readonly connection: Connection
  release(): Promise<void>
}

const NAME = 'owner of this embedded server'
/** Pause before a claim that was lost with its session is tried again. */
const RETRY_MS = 1000

/** A session that holds the claim. It ends with the process, and the claim with it. */
interface ClaimingSession {
  readonly sql: Sql
  /** Aborted when the session has ended. */
  readonly ended: AbortSignal
}

/**
 * Claims the server at the URL: `taken` by a living service, or `unreachable` if the server does not
 * answer.
 */
export async function claimServer(url: string): Promise<ServerClaim | 'taken' | 'unreachable'> {
  const connection = connect(url, { max: 1 })
  const first = await tryClaim(connection.sql).catch(async (error: unknown) => {
    await connection.close()
    if (isConnectionFailure(error)) return 'unreachable' as const
    throw error
  })
  if (first === 'unreachable') return first
  if (first === undefined) {
    await connection.close()
    return 'taken'
  }
  const stop = new AbortController()
  const held = hold(connection.sql, first, stop.signal)
  return {
    connection,
    release: async () => {
      stop.abort()
      await held
      await connection.close()
    },
  }
}

/** Holds the claim until the signal is aborted, and claims again when the session was lost. */
async function hold(base: Sql, first: ClaimingSession, stop: AbortSignal): Promise<void> {
  let session: ClaimingSession | undefined = first
  while (!stop.aborted) {
    const either = session && AbortSignal.any([stop, session.ended])
    if (either && !either.aborted) await once(either, 'abort')
    if (stop.aborted) break
    await pause(RETRY_MS, stop)
    session = await tryClaim(base).catch(() => undefined)
  }
  await session?.sql.end({ timeout: 1 })
}

/** Claims the server in a session of its own; undefined while another service has it. */
async function tryClaim(base: Sql): Promise<ClaimingSession | undefined> {
  const ended = new AbortController()
  const sql = openSession(base, { onclose: () => ended.abort() })
  try {
    const [row] = await sql<{ isLocked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey(NAME)}::bigint) as "isLocked"`
    if (row?.isLocked === true) return { sql, ended: ended.signal }
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  await sql.end({ timeout: 1 })
  return undefined
}
