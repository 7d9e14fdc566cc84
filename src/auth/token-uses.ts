/** Records when tokens were used. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { LAST_USE_PRECISION_MS } from './model.ts'
import * as store from './store.ts'

/** Minimum interval between two statements. */
const GAP_MS = 500

/** Uses that the next statement records, by token. */
interface PendingUses {
  readonly usedAt: Map<number, Date>
  readonly written: Promise<void>
}

/** Uses of tokens of this process. */
export interface TokenUses {
  /** Records a use, together with others. Never rejects. */
  record(tokenId: number, now: Date): Promise<void>
}

/**
 * Records the first use at the end of the turn, and the following ones together: with many tokens that are seldom used,
 * each call would otherwise cost a second transaction. What is lost when the process dies is the time of a last use.
 */
export function createTokenUses(deps: { readonly db: Db; readonly log: Logger }): TokenUses {
  let open: PendingUses | undefined
  let beganAt = Number.NEGATIVE_INFINITY

  function openWindow(): PendingUses {
    const usedAt = new Map<number, Date>()
    const written = wait(Math.max(0, beganAt + GAP_MS - performance.now())).then(() => {
      open = undefined
      beganAt = performance.now()
      return write(deps, usedAt)
    })
    return { usedAt, written }
  }

  return {
    record(tokenId, now) {
      open ??= openWindow()
      open.usedAt.set(tokenId, now)
      return open.written
    },
  }
}

async function write(
  { db, log }: { readonly db: Db; readonly log: Logger },
  usedAt: ReadonlyMap<number, Date>,
): Promise<void> {
  try {
    await store.saveLastUse(db, usedAt, LAST_USE_PRECISION_MS)
  } catch (error) {
    log.warn(
      { tokens: usedAt.size, problem: loggableError(error) },
      'last uses of tokens were not recorded',
    )
  }
}
