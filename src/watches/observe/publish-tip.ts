/**
 * Work that one `watcher` process, the leader, does for all of them: it reads the newest confirmed block,
 * publishes it, and fires alerts about outages.
 */
import type { BlockRef } from '#src/chain/chain.ts'
import { transactUnder } from '#src/db/leases.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { failingSince } from '../outage/monitoring.ts'
import { fireOutages, type OutageDeps } from '../outage/outages.ts'
import { TIP_CURSOR } from '../tables.ts'
import * as store from '../target-store.ts'
import { CHAIN_WATCH_TYPES } from '../types/index.ts'

export interface TipDeps extends OutageDeps {
  readonly chain: FspChain
  /** Confirmations that a block needs before it is observed; 1 is the tip itself. */
  readonly confirmations: number
}

/**
 * Publishes the newest confirmed block, then fires alerts about outages that have lasted long enough.
 *
 * @throws the errors of `publishTip`
 */
export async function publishTipAndOutages(deps: TipDeps, signal: AbortSignal): Promise<BlockRef> {
  try {
    return await publishTip(deps, signal)
  } finally {
    if (!signal.aborted) await fireOutages(deps, CHAIN_WATCH_TYPES)
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
  const before = await store.findObservationCursor(db, TIP_CURSOR)
  let tip: BlockRef | undefined
  try {
    tip = await chain.readNewestBlock(deps.confirmations, signal)
    return tip
  } finally {
    const now = clock.now()
    const isNew = tip !== undefined && tip.number > (before?.blockNumber ?? -1)
    const cursor = {
      type: TIP_CURSOR,
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
