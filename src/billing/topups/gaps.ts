/** Blocks that nobody can read: the scan goes on behind them, and they are read again until they can be. */
import { transact } from '#src/db/connection.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { lockCursor, moveCursor } from './cursor-store.ts'
import * as store from './gap-store.ts'
import { recordPayments } from './payments.ts'
import { type FollowDeps, isUpstream } from './transactions.ts'

/** How often a block is read in vain before the scan goes on behind it. */
const TRIES = 10
/** Gaps read again in one pass. */
const GAPS_PER_PASS = 20
/** When a gap is read again: twice as long after each time. */
const AGAIN_MIN_MS = 10_000
const AGAIN_MAX_MS = HOUR_MS

/**
 * Counts that a block that is deep enough could not be read, where that is the block's own fault. After ten
 * times it becomes a gap, in the transaction that moves the cursor behind it: it is logged and counted as
 * set aside.
 *
 * @returns whether it is a gap by now
 */
export async function recordUnreadable(
  deps: FollowDeps,
  block: number,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, chain, clock, log, quarantine } = deps
  if (!(await chain.isUnreadable(block, signal))) return false
  const recordedAt = clock.now()
  const nextTryAt = new Date(recordedAt.getTime() + AGAIN_MIN_MS)
  const outcome = await transact(db, async (tx) => {
    const cursor = await lockCursor(tx, 'flare')
    if ((cursor?.position ?? 0) >= block) return 'passed'
    if ((await store.countTry(tx, block, recordedAt)) < TRIES) return 'waits'
    await store.recordGap(tx, block, { recordedAt, nextTryAt })
    await moveCursor(tx, 'flare', block)
    return 'recorded'
  })
  if (outcome === 'recorded') {
    const fields = { block, tries: TRIES, nextTryAt }
    log.error(fields, 'block cannot be read for payments: later blocks are, and it is read again')
    quarantine.add('payment-gap', block, error)
  }
  return outcome !== 'waits'
}

/** Reads gaps again that are due. What was paid in one that can be read is recorded like anything else. */
export async function readGaps(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { db, chain, clock, log, quarantine } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  const now = clock.now()
  const due = { now, latest: new Date(now.getTime() + AGAIN_MAX_MS) }
  for (const { blockNumber, tries } of await store.listDueGaps(db, due, GAPS_PER_PASS)) {
    if (signal.aborted) return
    try {
      const found = await chain.paymentsBetween(blockNumber, blockNumber, { router, payTo }, signal)
      await transact(db, async (tx) => {
        await recordPayments(deps, tx, found, clock.now())
        await store.deleteGap(tx, blockNumber)
      })
      log.info(
        { block: blockNumber, payments: found.length },
        'block can be read for payments again',
      )
    } catch (error) {
      if (!isUpstream(error)) throw error
      const waitMs = Math.min(AGAIN_MIN_MS * 2 ** Math.max(0, tries - TRIES + 1), AGAIN_MAX_MS)
      await store.deferGap(db, blockNumber, new Date(clock.now().getTime() + waitMs))
      quarantine.add('payment-gap', blockNumber, error)
    }
  }
}
