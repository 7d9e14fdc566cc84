/** Heads that a worker has taken, until it has given them back. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Db } from '#src/db/connection.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { returnHeads, type TakenHead } from './head-store.ts'

/** Waits before a failed return is repeated. */
const RETRY_MS = { min: 50, max: 2000 } as const

export interface HeldHeads {
  /**
   * Gives heads back. Nobody waits for it, because a transaction that has locked one of them would hold up all others.
   *
   * @param notBefore by recipient: earliest time at which it is looked at again
   */
  putBack(heads: readonly TakenHead[], notBefore: ReadonlyMap<number, Date>): void
  isEmpty(): boolean
  /** Waits until all are given back. */
  finish(): Promise<void>
  /** Stops repeating what fails: another worker takes these heads when their lease ends. */
  giveUp(): void
}

export function createHeldHeads({
  db,
  clock,
  log,
}: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}): HeldHeads {
  const returning = new Set<Promise<void>>()
  let isGivenUp = false

  async function tryUntilDone(
    heads: readonly (TakenHead & { readonly notBefore: Date | null })[],
  ): Promise<void> {
    for (let failures = 1; !isGivenUp; failures += 1) {
      try {
        await returnHeads(db, heads, clock.now())
        return
      } catch (error) {
        const fields = { heads: heads.length, error: loggableError(error) }
        if (failures === 1) log.warn(fields, 'recipients could not be given back yet')
        await wait(backoffMs(failures, RETRY_MS))
      }
    }
  }

  return {
    putBack(heads, notBefore) {
      if (heads.length === 0) return
      const all = heads.map((head) => ({
        ...head,
        notBefore: notBefore.get(head.recipientId) ?? null,
      }))
      const done = tryUntilDone(all).finally(() => returning.delete(done))
      returning.add(done)
    },
    isEmpty: () => returning.size === 0,
    finish: async () => {
      await Promise.all(returning)
    },
    giveUp: () => {
      isGivenUp = true
    },
  }
}
