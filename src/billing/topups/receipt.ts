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

/** The payments of a top-up. */
export interface Payments {
  /** One was seen that is not settled yet. */
  readonly isOpen: boolean
  /** Those that were credited, oldest first. */
  readonly receipts: readonly Receipt[]
}

/** Reads the payments of a top-up. */
export async function readPayments({ db }: { readonly db: Db }, handle: Hash): Promise<Payments> {
  const payments = await listPaymentsFor(db, handle)
  const receipts = payments.flatMap(({ payment }) => {
    const { txHash, blockNumber, blockAt, amountUnits, credits, bonusCredits } = payment
    if (credits === null) return []
    const brought = credits + (bonusCredits ?? 0)
    return [{ txHash, blockNumber, paidAt: blockAt, amountUnits, credits: brought }]
  })
  return { isOpen: payments.some(({ payment }) => payment.settledAt === null), receipts }
}
