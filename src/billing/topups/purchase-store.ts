import { and, eq, isNull } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { topupPurchases } from './tables.ts'

export type PurchaseRow = typeof topupPurchases.$inferSelect

export async function insertPurchase(
  db: Db,
  row: Omit<PurchaseRow, 'subscriptionId' | 'reason' | 'doneAt'>,
): Promise<PurchaseRow | undefined> {
  const [inserted] = await db.insert(topupPurchases).values(row).returning()
  return inserted
}

/** The pending purchase of a top-up, locked (`FOR UPDATE`). */
export async function lockPendingPurchase(
  tx: Db,
  handle: string,
): Promise<PurchaseRow | undefined> {
  const [row] = await tx.select().from(topupPurchases).where(isWaiting(handle)).for('update')
  return row
}

/**
 * Records that a purchase was made.
 *
 * @param done `handle`: the top-up whose payment paid for it
 */
export async function markPurchaseDone(
  tx: Db,
  handle: string,
  done: Pick<PurchaseRow, 'handle' | 'subscriptionId' | 'doneAt'>,
): Promise<void> {
  await tx
    .update(topupPurchases)
    .set({ ...done, reason: null })
    .where(eq(topupPurchases.handle, handle))
}

/** Records why a purchase could not be made. */
export async function markPurchaseRefused(tx: Db, handle: string, reason: string): Promise<void> {
  await tx.update(topupPurchases).set({ reason }).where(eq(topupPurchases.handle, handle))
}

/** Moves a pending purchase to another top-up. @returns the moved purchase; undefined if none was pending */
export async function movePendingPurchase(
  tx: Db,
  from: string,
  to: string,
): Promise<PurchaseRow | undefined> {
  const [moved] = await tx
    .update(topupPurchases)
    .set({ handle: to })
    .where(isWaiting(from))
    .returning()
  return moved
}

function isWaiting(handle: string) {
  return and(eq(topupPurchases.handle, handle), isNull(topupPurchases.subscriptionId))
}
