/**
 * Work that one `watcher` process, the leader, does for all of them: it reads the newest confirmed block,
 * publishes it, and fires alerts about outages of the chain.
 */
import type { BlockRef } from '#src/chain/chain.ts'
import { transactUnder } from '#src/db/lock.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { CLOCK_TOLERANCE_MS } from '#src/kernel/clock.ts'
import { type ChainOutageDeps, fireChainOutages } from '../outage/chain-outage.ts'
import { failingSince } from '../outage/monitoring.ts'
import * as store from '../target-store.ts'
import { CHAIN_WATCH_TYPES } from '../types/index.ts'

export interface TipDeps extends ChainOutageDeps {
  readonly chain: FspChain
  /** Confirmations that a block needs before it is observed; 1 is the tip itself. */
  readonly confirmations: number
}

/**
 * Publishes the newest confirmed block, then fires alerts about chain outages that have lasted long enough.
 *
 * @throws the errors of `publishTip`
 */
export async function publishTipAndOutages(deps: TipDeps, signal: AbortSignal): Promise<BlockRef> {
  try {
    return await publishTip(deps, signal)
  } finally {
    if (!signal.aborted) await fireChainOutages(deps, CHAIN_WATCH_TYPES)
  }
}

/**
 * Publishes the newest confirmed block. Also records the time of this check, and the time since which there has been no
 * new block.
 *
 * @throws AppError upstream when no block could be read; FenceError when another process took over;
 * database errors
 */
export async function publishTip(deps: TipDeps, signal: AbortSignal): Promise<BlockRef> {
  const { db, chain, clock, fence } = deps
  const before = await store.findObservationCursor(db, store.TIP_CURSOR)
  let tip: BlockRef | undefined
  try {
    tip = await chain.confirmedBlock(deps.confirmations, signal)
    return tip
  } finally {
    const now = clock.now()
    const isNew = tip !== undefined && tip.number > (before?.blockNumber ?? -1)
    if (tip !== undefined) reportSlowClock(deps, tip, before)
    const cursor = {
      type: store.TIP_CURSOR,
      ...(isNew && { blockNumber: tip?.number, blockAt: tip?.at }),
      ...(tip !== undefined && { observedAt: now }),
      failingSince: isNew ? null : failingSince(before, now),
      checkedAt: now,
    }
    if (!signal.aborted) {
      await transactUnder(fence, db, async (tx) => {
        await store.saveObservationCursor(tx, cursor)
        if (tip !== undefined) await store.publishBlock(tx, tip)
      })
    }
  }
}

/**
 * Logs once when the newest block has a time that this host's clock has not reached, so this clock is
 * behind the chain's.
 */
function reportSlowClock(
  { clock, log }: Pick<TipDeps, 'clock' | 'log'>,
  { number: block, at }: BlockRef,
  before: store.ObservationCursor | undefined,
): void {
  const now = clock.now()
  if (!isAhead(at, now) || isAhead(before?.blockAt, before?.checkedAt)) return
  const behindMs = at.getTime() - now.getTime()
  log.error({ block, behindMs }, 'clock of this host is behind the time of the newest block')
}

function isAhead(blockAt: Date | null | undefined, now: Date | null | undefined): boolean {
  return blockAt != null && now != null && blockAt.getTime() - now.getTime() > CLOCK_TOLERANCE_MS
}
