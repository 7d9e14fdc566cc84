/** Automatic purchases after a top-up: slots that are bought when the top-up is credited. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { NewPurchase, Purchase } from './model.ts'
import * as store from './store.ts'
import { toPurchase } from './view.ts'

/** Stores the purchase to make when a top-up is credited, in the transaction that creates the top-up. */
export async function planPurchase(
  tx: Db,
  of: { readonly handle: string; readonly wallet: Address; readonly createdAt: Date },
  { slots, periods, autoRenew = false }: NewPurchase,
): Promise<Purchase | null> {
  return toPurchase(await store.insertPurchase(tx, { ...of, slots, periods, autoRenew }))
}

/** Moves the purchase of a quote that was replaced to the new quote; null if there is none. */
export async function movePurchase(tx: Db, from: string, to: string): Promise<Purchase | null> {
  return toPurchase(await store.movePendingPurchase(tx, from, to))
}
