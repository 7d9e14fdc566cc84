import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { PaymentRefusal } from './model.ts'
import type { PaymentRow } from './payment-store.ts'
import type { PurchaseRow } from './purchase-store.ts'
import type { TopupRow } from './store.ts'
import { topupPayments, topupPurchases, topups, unmatchedPayments } from './tables.ts'

/** A payment of a top-up, with the reason if it is unmatched. */
export interface PaymentOfTopup {
  readonly payment: PaymentRow
  readonly reason: PaymentRefusal | null
}

/** A top-up with its purchase and its payments, as one statement sees them. */
export interface TopupRecord {
  readonly topup: TopupRow
  readonly purchase: PurchaseRow | undefined
  /** Oldest first. */
  readonly payments: readonly PaymentOfTopup[]
}

/** The record of a handle; with `wallet`, only if the top-up belongs to that wallet. */
export async function findRecord(
  db: Db,
  handle: string,
  wallet?: Address,
): Promise<TopupRecord | undefined> {
  const rows = await db
    .select({
      topup: topups,
      purchase: topupPurchases,
      payment: topupPayments,
      reason: unmatchedPayments.reason,
    })
    .from(topups)
    .leftJoin(topupPurchases, eq(topupPurchases.handle, topups.handle))
    .leftJoin(topupPayments, eq(topupPayments.handle, topups.handle))
    .leftJoin(
      unmatchedPayments,
      and(
        eq(unmatchedPayments.txHash, topupPayments.txHash),
        eq(unmatchedPayments.logIndex, topupPayments.logIndex),
      ),
    )
    .where(and(eq(topups.handle, handle), wallet && eq(topups.wallet, wallet)))
    .orderBy(asc(topupPayments.blockNumber), asc(topupPayments.logIndex))
  const [first] = rows
  if (first === undefined) return undefined
  return {
    topup: first.topup,
    purchase: first.purchase ?? undefined,
    payments: rows.flatMap(({ payment, reason }) => (payment === null ? [] : { payment, reason })),
  }
}
