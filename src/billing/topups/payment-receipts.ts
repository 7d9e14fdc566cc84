import type { PaymentOfTopup } from './store.ts'

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

/** The credited payments among those of a top-up, and whether another is not settled yet. */
export function paymentsOf(payments: readonly PaymentOfTopup[]): TopupPayments {
  const receipts = payments.flatMap(({ payment }) => {
    const { txHash, blockNumber, blockAt: paidAt, amountUnits, payer } = payment
    if (payment.credits === null) return []
    const bonusCredits = payment.bonusCredits ?? 0
    const credits = payment.credits + bonusCredits
    return [{ txHash, blockNumber, paidAt, amountUnits, credits, bonusCredits, payer }]
  })
  return { isOpen: payments.some(({ payment }) => payment.settledAt === null), receipts }
}
