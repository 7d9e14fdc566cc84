import type { Db } from '#src/db/connection.ts'
import type { Hash } from '#src/kernel/units.ts'
import { listPaymentsFor } from './payment-store.ts'

/** A payment that was credited. */
export interface Receipt {
  /** As its chain writes it. */
  readonly txHash: string
  readonly blockNumber: number
  /** The time of its block. */
  readonly paidAt: Date
  /** In the smallest unit of the top-up's asset. */
  readonly amountUnits: bigint
  /** Bonus included. */
  readonly credits: number
}

/** Whether a payment of a top-up was seen that is not settled yet. */
export async function hasOpenPayment({ db }: { readonly db: Db }, handle: Hash): Promise<boolean> {
  const payments = await listPaymentsFor(db, handle)
  return payments.some(({ payment }) => payment.settledAt === null)
}

/** The payments of a top-up that were credited, oldest first. */
export async function listReceipts(
  { db }: { readonly db: Db },
  handle: Hash,
): Promise<readonly Receipt[]> {
  const payments = await listPaymentsFor(db, handle)
  return payments.flatMap(({ payment }) => {
    const { txHash, blockNumber, blockAt, amountUnits, credits, bonusCredits } = payment
    if (credits === null) return []
    const brought = credits + (bonusCredits ?? 0)
    return [{ txHash, blockNumber, paidAt: blockAt, amountUnits, credits: brought }]
  })
}
