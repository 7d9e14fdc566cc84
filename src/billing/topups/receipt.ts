import type { Db } from '#src/db/connection.ts'
import type { Hash } from '#src/kernel/units.ts'
import { listPaymentsFor } from './payment-store.ts'

/** A payment that was credited. */
export interface Receipt {
  /** In the notation of its chain. */
  readonly txHash: string
  readonly blockNumber: number
  /** Time of its block. */
  readonly paidAt: Date
  /** In the smallest unit of the top-up's asset. */
  readonly amountUnits: bigint
  /** Including the bonus. */
  readonly credits: number
}

/** Whether a top-up has a payment that is not settled yet. */
export async function hasOpenPayment({ db }: { readonly db: Db }, handle: Hash): Promise<boolean> {
  const payments = await listPaymentsFor(db, handle)
  return payments.some(({ payment }) => payment.settledAt === null)
}

/** The credited payments of a top-up, oldest first. */
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
