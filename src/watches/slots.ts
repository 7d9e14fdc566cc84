/**
 * Watches and the slots they need. When a wallet has fewer slots than watches, the newest are suspended:
 * they keep their place, are not judged, and run again by themselves when there is a slot.
 */
import { fitChanged } from '#src/billing/subscriptions/capacity.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import * as slotStore from './slot-store.ts'
import * as store from './store.ts'

/** What fitting a wallet's watches did. */
export interface Fitted {
  readonly suspended: number
  readonly resumed: number
}

/**
 * Suspends the wallet's newest watches beyond `capacity`, and lets the oldest suspended ones below it
 * run again, each with a fresh baseline. Twice is fine. The wallet's slots must be locked.
 */
export async function fitWatches(
  tx: Db,
  wallet: Address,
  capacity: number,
  now: Date,
): Promise<Fitted> {
  const suspended = await slotStore.suspendBeyond(tx, wallet, capacity, now)
  const resumed = await slotStore.resumeWithin(tx, wallet, capacity, now)
  for (const { id, targetId } of resumed.toSorted((a, b) => a.targetId - b.targetId)) {
    await store.markStale(tx, targetId)
    await store.deleteStates(tx, id)
  }
  if (resumed.length > 0) await store.notifyLedger(tx, wallet)
  return { suspended, resumed: resumed.length }
}

/** Fits the watches of every wallet whose slots have changed. */
export async function fitChangedWallets(
  deps: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const fit = async (tx: Db, wallet: Address, capacity: number, now: Date) => {
    const fitted = await fitWatches(tx, wallet, capacity, now)
    if (fitted.suspended + fitted.resumed === 0) return
    deps.log.info({ wallet, capacity, ...fitted }, 'watches fitted to their slots')
  }
  await fitChanged(deps, fit, signal)
}
