/** Records the times of the last successful deliveries of recipients, many in one statement. */
import type { Db } from '#src/db/connection.ts'
import { isSharedFailure } from '#src/db/isolate.ts'
import { reportOutage } from '#src/db/outage.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { pause } from '#src/kernel/pause.ts'
import { recordUnlockedSuccesses } from './outcome-store.ts'
import type { OutcomeSum } from './rules.ts'

/** Minimum interval between two statements. */
const GAP_MS = 500

/** Successes of this process that are not recorded yet. */
export interface LastSuccesses {
  add(sums: readonly OutcomeSum[]): void
  /** Successes of these recipients that are not recorded yet. */
  pendingOf(recipientIds: readonly number[]): readonly OutcomeSum[]
  /**
   * Records what is left, without waiting for the next interval or for locked rows, whose successes are dropped. Tries
   * once, and never rejects.
   */
  finish(): Promise<void>
}

/**
 * Gathers successes, so that a recording of deliveries does not wait for the rows of its recipients, which other
 * processes lock at the same time. What is lost when the process dies is the time of a last success. An earlier failure
 * that was recorded meanwhile then counts until the next success.
 */
export function createLastSuccesses(deps: {
  readonly db: Db
  readonly log: Logger
}): LastSuccesses {
  const pending = new Map<number, OutcomeSum>()
  let writing: Promise<void> | undefined
  let finishing = new AbortController()

  function keep(sums: Iterable<OutcomeSum>): void {
    for (const sum of sums) {
      const other = pending.get(sum.recipientId)
      pending.set(sum.recipientId, {
        ...sum,
        successAt: latest(sum.successAt, other?.successAt ?? null),
        failureAt: latest(sum.failureAt, other?.failureAt ?? null),
      })
    }
  }

  async function writeAll(): Promise<void> {
    while (pending.size > 0) {
      await pause(GAP_MS, finishing.signal)
      const isLast = finishing.signal.aborted
      const sums = [...pending.values()]
      const left = new Set(await write(deps, sums))
      for (const sum of sums) {
        const isNewer = pending.get(sum.recipientId) !== sum
        if (!isNewer && (isLast || !left.has(sum))) pending.delete(sum.recipientId)
      }
    }
    writing = undefined
  }

  return {
    add(sums) {
      keep(sums)
      if (pending.size > 0) writing ??= writeAll()
    },
    pendingOf: (ids) => ids.flatMap((id) => pending.get(id) ?? []),
    finish: async () => {
      finishing.abort()
      while (writing !== undefined) await writing
      finishing = new AbortController()
    },
  }
}

/**
 * Records sums in one statement; if a recipient's row refuses it, in two halves, and so on. Never waits for a locked
 * row, because a run of deliveries ends only afterwards.
 *
 * @returns what could not be recorded because of a failure that concerns no single recipient, or because its row is
 * locked
 */
async function write(
  deps: { readonly db: Db; readonly log: Logger },
  sums: readonly OutcomeSum[],
): Promise<readonly OutcomeSum[]> {
  const { db, log } = deps
  try {
    const busy = await recordUnlockedSuccesses(db, sums)
    return sums.filter(({ recipientId }) => busy.has(recipientId))
  } catch (error) {
    if (isSharedFailure(error)) {
      if (!reportOutage(log, error))
        log.warn({ recipients: sums.length, error: loggableError(error) }, NOT_RECORDED)
      return sums
    }
    if (sums.length === 1) {
      const [{ recipientId } = { recipientId: undefined }] = sums
      log.error({ recipientId, error: loggableError(error) }, NOT_RECORDED)
      return []
    }
  }
  const half = Math.ceil(sums.length / 2)
  const left = await write(deps, sums.slice(0, half))
  const rest = sums.slice(half)
  return left.length > 0 ? [...left, ...rest] : await write(deps, rest)
}

function latest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}

const NOT_RECORDED = 'times of last successes were not recorded'
