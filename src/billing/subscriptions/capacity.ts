/** Counts of a wallet's slots, and the notification of changes. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { Address } from '#src/kernel/units.ts'
import * as accounts from '../account/store.ts'
import { FREE_WATCHES_MAX, SLOTS_MAX, TRIAL_SLOTS } from '../price-list.ts'
import { forEachDueWallet } from './due-wallets.ts'
import type { Capacity } from './model.ts'
import { capacitySteps, type LostSlots, slotsEndAt, trialSlots } from './rules.ts'
import * as store from './store.ts'
import { readWalletStatus, type WalletStatusRows } from './wallet-status-store.ts'

/** Dependencies of counting slots. */
export interface CapacityDeps {
  readonly db: Db
  readonly billing: { readonly enabled: boolean }
}

/**
 * The slots at `now` of a wallet with this status. Where billing is disabled slots are not counted, and only the
 * number of watches is limited.
 */
export function capacityOf(
  { account, trial: trialRow, running }: WalletStatusRows,
  billing: CapacityDeps['billing'],
  now: Date,
): Capacity {
  const used = account?.occupiedSlots ?? 0
  if (!billing.enabled) {
    const available = Math.max(0, FREE_WATCHES_MAX - used)
    return { purchased: 0, trial: 0, used, available, max: FREE_WATCHES_MAX }
  }
  const purchased = running.reduce((sum, { quantity }) => sum + quantity, 0)
  const trial = trialSlots(trialRow, now)
  const available = Math.max(0, purchased + trial - used)
  return { purchased, trial, used, available, max: SLOTS_MAX }
}

/** Number of the wallet's watches that may run at `now`. */
export async function countSlots(deps: CapacityDeps, wallet: Address, now: Date): Promise<number> {
  if (!deps.billing.enabled) return FREE_WATCHES_MAX
  const walletStatus = await readWalletStatus(deps.db, wallet)
  const { purchased, trial } = capacityOf(walletStatus, deps.billing, now)
  return purchased + trial
}

/**
 * Refuses `more` slots if the wallet would exceed the limit.
 * @throws AppError conflict `slot_limit_reached`
 */
export function requireCapacity({ purchased, trial, max }: Capacity, more: number): void {
  if (purchased + trial + more <= max) return
  throw new AppError('conflict', 'slot_limit_reached', { values: { count: max } })
}

/**
 * Locks the wallet's slots until the transaction ends. Call it before any watch or subscription of the
 * wallet is changed, which prevents deadlocks.
 */
export async function lockSlots(tx: Db, wallet: Address): Promise<void> {
  await accounts.lockAccount(tx, wallet)
}

/**
 * Takes one slot for a new watch, in the watch's transaction.
 *
 * @throws AppError conflict `no_free_slot`, or `watch_limit_reached` where billing is disabled
 */
export async function occupySlot(deps: CapacityDeps, wallet: Address, now: Date): Promise<void> {
  const { db: tx, billing } = deps
  await accounts.ensureAccount(tx, wallet, now)
  await lockSlots(tx, wallet)
  const capacity = await countSlots(deps, wallet, now)
  const isTaken = await accounts.occupySlot(tx, wallet, capacity)
  if (isTaken) return
  if (!billing.enabled) {
    throw new AppError('conflict', 'watch_limit_reached', { values: { count: capacity } })
  }
  throw new AppError('conflict', 'no_free_slot', { values: { count: capacity } })
}

/** Frees a deleted watch's slot, in the watch's transaction. */
export async function releaseSlot(tx: Db, wallet: Address): Promise<void> {
  await accounts.releaseSlot(tx, wallet)
}

/** A wallet's capacity after a change. */
export interface ChangedCapacity {
  readonly wallet: Address
  /** Number of the wallet's watches that may run. */
  readonly capacity: number
  /** End of the trial, if it caused the change. */
  readonly trialEndedAt: Date | undefined
  /** Time of the change, which may be earlier than `at`, the time at which it is processed. */
  readonly since?: Date
  readonly at: Date
}

/**
 * Calls `adjust` once for every change of a wallet's capacity. After a stop of the service there is one
 * call for each missed change, the earliest first.
 *
 * Each wallet is processed in a separate transaction, which also deletes the change: effects of `adjust`
 * are committed together with the deletion or not at all. A wallet that fails is put into quarantine, and the others
 * are processed. A pause of billing moves the ends of trials, so `adjust` is not called before the end of the pause is
 * recorded: until then these trials seem to have ended.
 */
export async function forEachCapacityChange(
  {
    db,
    billing,
    clock,
    quarantine,
  }: CapacityDeps & { readonly clock: Clock; readonly quarantine: Quarantine },
  adjust: (tx: Db, changed: ChangedCapacity) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (billing.enabled && (await store.isBillingPaused(db))) return
  const now = clock.now()
  const list = (page: Parameters<typeof store.listChangedWallets>[2]) =>
    store.listChangedWallets(db, now, page)
  await forEachDueWallet({ quarantine, kind: 'capacity-change', signal, list }, (wallet) =>
    transact(db, async (tx) => {
      await lockSlots(tx, wallet)
      const changes = await store.deleteCapacityChanges(tx, wallet, now)
      if (changes.length === 0) return
      const endsAt = (await store.findTrial(tx, wallet))?.endsAt
      const losses = await listLosses(tx, wallet, endsAt)
      const steps = capacitySteps(
        changes,
        losses,
        await countSlots({ db: tx, billing }, wallet, now),
      )
      for (const { at: since, capacity } of steps) {
        const trialEndedAt = since.getTime() === endsAt?.getTime() ? endsAt : undefined
        await adjust(tx, { wallet, capacity, trialEndedAt, since, at: now })
      }
    }),
  )
}

/** The slots a wallet loses by the end of its trial and of its subscriptions. */
async function listLosses(tx: Db, wallet: Address, trialEndsAt: Date | undefined) {
  const expired = await store.listExpired(tx, wallet)
  return [
    ...(trialEndsAt === undefined ? [] : [{ at: trialEndsAt, slots: TRIAL_SLOTS }]),
    ...expired.map(
      (row): LostSlots => ({ at: slotsEndAt(row) ?? row.endsAt, slots: row.quantity }),
    ),
  ]
}
