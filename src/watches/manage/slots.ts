/**
 * Suspension of watches. When a wallet has fewer slots than watches, the newest are suspended: suspended
 * watches keep their order, are not judged, and resume when a slot is free.
 */
import {
  type ChangedCapacity,
  countSlots,
  forEachCapacityChange,
  lockSlots,
} from '#src/billing/subscriptions/capacity.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import * as store from '../store.ts'
import * as slotStore from './slot-store.ts'

/** Result of fitting a wallet's watches to its slots. */
export interface FittedWatches extends ChangedCapacity {
  /** Labels of the suspended watches, oldest first. */
  readonly suspended: readonly string[]
  readonly resumed: readonly string[]
}

/** Listener that notifies the wallet's owner, in the transaction of the change. */
export interface SlotListener {
  fitted(tx: Db, fitted: FittedWatches): Promise<void>
}

/**
 * Suspends the wallet's newest watches beyond `capacity`, resumes the oldest suspended watches within it,
 * and calls the listener. A resumed watch starts with a new baseline where no episode is open. Idempotent.
 * The wallet's slots must be locked.
 */
export async function fitWatchesToSlots(
  { notices }: { readonly notices: SlotListener },
  tx: Db,
  changed: ChangedCapacity,
): Promise<FittedWatches> {
  const { wallet, capacity, at } = changed
  const suspended = await slotStore.suspendBeyondCapacity(tx, wallet, capacity, at)
  const resumed = await slotStore.resumeWithinCapacity(tx, wallet, capacity, at)
  for (const { id, targetId } of resumed.toSorted((a, b) => a.targetId - b.targetId)) {
    await store.markTargetToJudge(tx, targetId)
    await store.deleteStatesWithoutEpisode(tx, id)
  }
  if (resumed.length > 0) await store.notifyLedgerJudge(tx, wallet)
  const fitted = { ...changed, suspended: labelsOf(suspended), resumed: labelsOf(resumed) }
  await notices.fitted(tx, fitted)
  return fitted
}

function labelsOf(rows: readonly slotStore.FittedWatch[]): readonly string[] {
  return rows.toSorted((a, b) => a.place - b.place).map(({ label }) => label)
}

/** Labels of the wallet's running watches that would be suspended at a capacity. */
export function listLabelsToSuspend(db: Db, wallet: Address, capacity: number): Promise<string[]> {
  return slotStore.listLabelsBeyondCapacity(db, wallet, capacity)
}

/** Number of wallets that one query reads. */
const WALLETS_PER_READ = 100

/**
 * Fits the watches of every wallet whose slots have changed. Where billing is disabled, all suspended
 * watches resume.
 */
export async function fitWalletsWithChangedSlots(
  deps: {
    readonly db: Db
    readonly clock: Clock
    readonly log: Logger
    readonly quarantine: Quarantine
    readonly notices: SlotListener
    readonly billing: { readonly enabled: boolean }
  },
  signal: AbortSignal,
): Promise<void> {
  const fit = async (tx: Db, changed: ChangedCapacity) => {
    const { suspended, resumed } = await fitWatchesToSlots(deps, tx, changed)
    if (suspended.length + resumed.length === 0) return
    const { wallet, capacity } = changed
    const counts = { suspended: suspended.length, resumed: resumed.length }
    deps.log.info({ wallet, capacity, ...counts }, 'watches of a wallet were suspended or resumed')
  }
  await forEachCapacityChange(deps, fit, signal)
  if (!deps.billing.enabled) await resumeFree(deps, fit, signal)
}

async function resumeFree(
  deps: Parameters<typeof fitWalletsWithChangedSlots>[0],
  adjust: (tx: Db, changed: ChangedCapacity) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { db, billing, clock, quarantine } = deps
  const options = { quarantine, kind: 'capacity-change', idOf: (wallet: Address) => wallet }
  let after: Address | undefined
  do {
    const wallets = await slotStore.listSuspendedWallets(db, after, WALLETS_PER_READ)
    await isolateEach(wallets, options, async (wallet) => {
      if (signal.aborted) return
      await transact(db, async (tx) => {
        await lockSlots(tx, wallet)
        const at = clock.now()
        const capacity = await countSlots({ db: tx, billing }, wallet, at)
        await adjust(tx, { wallet, capacity, trialEndedAt: undefined, at })
      })
    })
    after = wallets.at(-1)
  } while (after !== undefined && !signal.aborted)
}
