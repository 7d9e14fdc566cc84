/**
 * Blocks that no endpoint can read: the scan continues after them, and they are retried until they can be
 * read.
 */
import { transact } from '#src/db/connection.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import {
  countFailedRead,
  deferGap,
  deleteGap,
  listDueGaps,
  lockPaymentCursor,
  movePaymentCursor,
  recordGap,
} from './payment-store.ts'
import { recordPayments } from './payments.ts'
import { type FollowDeps, isChainUnavailable } from './settle.ts'

/** Failed readings after which a block becomes a gap. */
const TRIES = 10
/** Maximum number of gaps retried in one pass. */
const GAPS_PER_PASS = 20
/** Bounds of the interval between two readings of a gap, which doubles each time. */
const AGAIN_MIN_MS = 10_000
/** Longest wait for the next reading of a gap. */
export const AGAIN_MAX_MS = HOUR_MS

/**
 * Counts a failed reading of a block that has enough confirmations, if no endpoint can read the block. After ten failed
 * readings the block becomes a gap, in the transaction that moves the cursor past it; it is logged and counted in the
 * quarantine.
 *
 * @returns whether the cursor is at or past the block, so that the scan can go on
 */
export async function recordUnreadable(
  deps: FollowDeps,
  block: number,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const { db, chain, clock, log, quarantine } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  if (!(await chain.isUnproven(block, { router, payTo }, signal))) return false
  const recordedAt = clock.now()
  const nextTryAt = new Date(recordedAt.getTime() + AGAIN_MIN_MS)
  const outcome = await transact(db, async (tx) => {
    const cursor = await lockPaymentCursor(tx, 'flare')
    if ((cursor?.position ?? 0) >= block) return 'passed'
    if ((await countFailedRead(tx, block, recordedAt)) < TRIES) return 'waits'
    await recordGap(tx, block, { recordedAt, nextTryAt })
    await movePaymentCursor(tx, 'flare', block)
    return 'recorded'
  })
  if (outcome === 'recorded') {
    const fields = { block, tries: TRIES, nextTryAt }
    log.error(
      fields,
      'block cannot be read for payments; later blocks are read, and this block is retried',
    )
    quarantine.add('payment-gap', block, error)
  }
  return outcome !== 'waits'
}

/** Retries due gaps. Payments of a block that can be read are recorded as usual. */
export async function readGaps(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { db, chain, clock, log, quarantine } = deps
  const { router, nativePayTo: payTo } = deps.billing.payments
  const due = await listDueGaps(db, clock.now(), GAPS_PER_PASS)
  for (const { blockNumber, tries } of due) {
    if (signal.aborted) return
    try {
      const paid = await chain.paymentsBetween(blockNumber, blockNumber, { router, payTo }, signal)
      await transact(db, async (tx) => {
        await recordPayments(deps, tx, paid, clock.now())
        await deleteGap(tx, blockNumber)
      })
      log.info(
        { block: blockNumber, payments: paid.length },
        'block can be read for payments again',
      )
    } catch (error) {
      if (!isChainUnavailable(error)) throw error
      const waitMs = Math.min(AGAIN_MIN_MS * 2 ** Math.max(0, tries - TRIES + 1), AGAIN_MAX_MS)
      await deferGap(db, blockNumber, new Date(clock.now().getTime() + waitMs))
      quarantine.add('payment-gap', blockNumber, error)
    }
  }
}
