import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, connect } from '../connection.ts'
import { type Lock, tryLock, whileHolding } from '../lock.ts'
import { isConnectionFailure } from '../session.ts'

/**
 * This process's claim on an embedded server: while it lives, no other service stops the server as an
 * orphan.
 */
export interface ServerClaim {
  readonly connection: Connection
  release(): Promise<void>
}

const NAME = 'owner of this embedded server'

/**
 * Claims the server at the URL: `taken` by a living service, or `unreachable` if the server does not
 * answer.
 */
export async function claimServer(url: string): Promise<ServerClaim | 'taken' | 'unreachable'> {
  const connection = connect(url, { max: 1 })
  const lock = await tryLock(connection.sql, NAME).catch(async (error: unknown) => {
    await connection.close()
    if (isConnectionFailure(error)) return 'unreachable' as const
    throw error
  })
  if (lock === 'unreachable') return lock
  if (lock === undefined) {
    await connection.close()
    return 'taken'
  }
  const stop = new AbortController()
  const held = hold(connection, lock, stop.signal)
  return {
    connection,
    release: async () => {
      stop.abort()
      await held
      await connection.close()
    },
  }
}

/** Takes the lock again after each loss of its connection. */
async function hold(connection: Connection, first: Lock, stop: AbortSignal): Promise<void> {
  await aborted(AbortSignal.any([stop, first.signal]))
  await first.release()
  await whileHolding(connection.sql, NAME, stop, aborted)
}

const FOREVER_MS = 2_147_483_647

async function aborted(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await wait(FOREVER_MS, undefined, { signal }).catch(() => undefined)
}
