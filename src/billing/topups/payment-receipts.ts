import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Hash } from '#src/kernel/units.ts'
import { listPaymentsOfTopup } from './payment-store.ts'
import { requireTopup, type TopupDeps } from './service.ts'

/** A payment that was credited. */
export interface PaymentReceipt {
  /** Hash of the transaction, in the notation of its chain. */
  readonly txHash: string
  readonly blockNumber: number
  /** Time of the payment's block. */
  readonly paidAt: Date
  /** Amount in the smallest unit of the top-up's asset. */
  readonly amountUnits: bigint
  /** Credits, including the bonus. */
  readonly credits: number
  readonly bonusCredits: number
  /** Account that paid, in the notation of its chain. */
  readonly payer: string
}

/** Payments of a top-up. */
export interface TopupPayments {
  /** Whether a payment is not settled yet. */
  readonly isOpen: boolean
  /** The credited payments, oldest first. */
  readonly receipts: readonly PaymentReceipt[]
}

/** The payments of one of the wallet's top-ups. @throws AppError not_found `not_found` */
export async function getPaymentsOfOwnTopup(
  deps: TopupDeps,
  caller: Caller,
  handle: Hash,
): Promise<TopupPayments> {
  await requireTopup(deps, caller, handle)
  return await readPaymentsOfTopup(deps, handle)
}

/**
 * The credited payments of a top-up, from the database, and whether another is not settled yet. Does not check whose
 * top-up it is.
 */
export async function readPaymentsOfTopup(
  { db }: { readonly db: Db },
  handle: Hash,
): Promise<TopupPayments> {
  const payments = await listPaymentsOfTopup(db, handle)
  const receipts = payments.flatMap(({ payment }) => {
    const { txHash, blockNumber, blockAt: paidAt, amountUnits, payer } = payment
    if (payment.credits === null) return []
    const bonusCredits = payment.bonusCredits ?? 0
    const credits = payment.credits + bonusCredits
    return [{ txHash, blockNumber, paidAt, amountUnits, credits, bonusCredits, payer }]
  })
  return { isOpen: payments.some(({ payment }) => payment.settledAt === null), receipts }
}
