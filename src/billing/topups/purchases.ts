/** Automatic purchases after a top-up: slots that are bought when the top-up is credited. */
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import type { Terms } from '../account/service.ts'
import { createSubscription } from '../subscriptions/service.ts'
import type { NewPurchase, Purchase } from './model.ts'
import * as store from './store.ts'
import { toPurchase } from './view.ts'

interface Deps {
  readonly clock: Clock
  readonly billing: { readonly enabled: boolean; readonly terms: Terms }
}

/** Result of a purchase that follows a top-up. */
export interface PurchaseOutcome {
  readonly slots: number
  /** Code of the refusal; null if the slots were bought. */
  readonly reason: string | null
}

/** Stores the purchase to make when a top-up is credited, in the transaction that creates the top-up. */
export async function planPurchase(
  tx: Db,
  of: { readonly handle: string; readonly wallet: Address; readonly createdAt: Date },
  { slots, periods, autoRenew = false }: NewPurchase,
): Promise<Purchase | null> {
  return toPurchase(await store.insertPurchase(tx, { ...of, slots, periods, autoRenew }))
}

/**
 * Makes the planned purchase of a top-up, once, in the transaction that credits the top-up. A purchase that
 * is refused, because credits are missing or the slot limit is reached, records the reason and waits for
 * the next payment of the same top-up. A late payment of a quote that was replaced also makes the purchase,
 * which has moved to the new quote.
 *
 * @returns the result; null if no purchase was planned
 */
export async function carryOutPurchase(
  deps: Deps,
  tx: Db,
  handle: string,
): Promise<PurchaseOutcome | null> {
  const plan = await lockPendingPurchaseOf(tx, handle)
  if (plan === undefined) return null
  const { slots: quantity, periods, autoRenew } = plan
  const caller = { wallet: storedAddress(plan.wallet), scopes: ['spend'], via: 'http' } as const
  try {
    // `createSubscription` refuses before it writes, so that the transaction stays usable.
    const order = { quantity, periods, autoRenew }
    const { id } = await createSubscription({ ...deps, db: tx }, caller, order)
    await store.markPurchaseDone(tx, plan.handle, {
      handle,
      subscriptionId: id,
      doneAt: deps.clock.now(),
    })
    return { slots: quantity, reason: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await store.markPurchaseRefused(tx, plan.handle, error.code)
    return { slots: quantity, reason: error.code }
  }
}

/** The pending purchase of a quote, else of the quote that replaced it, and so on; locked (`FOR UPDATE`). */
async function lockPendingPurchaseOf(
  tx: Db,
  handle: string,
): Promise<store.PurchaseRow | undefined> {
  const plan = await store.lockPendingPurchase(tx, handle)
  if (plan !== undefined) return plan
  const next = await store.findRenewal(tx, handle)
  return next && (await lockPendingPurchaseOf(tx, next.handle))
}

/** Moves the purchase of a quote that was replaced to the new quote; null if there is none. */
export async function movePurchase(tx: Db, from: string, to: string): Promise<Purchase | null> {
  return toPurchase(await store.movePendingPurchase(tx, from, to))
}
