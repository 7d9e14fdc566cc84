import type { Db } from '#src/db/connection.ts'
import { findLastProof } from './account/proof.ts'
import { findFirstActivity, sumAccountsInSpan } from './account/store.ts'

/** Public totals over all wallets. Refunded credits do not count as spent. */
export type BillingTotals = {
  readonly wallets: number
  readonly creditsSold: number
  readonly creditsSpent: number
  /** Credited payments. */
  readonly topups: number
}

/** Totals of everything before `until`. */
export interface BillingBase {
  readonly until: Date
  readonly totals: BillingTotals
}

const ZERO_TOTALS: BillingTotals = { wallets: 0, creditsSold: 0, creditsSpent: 0, topups: 0 }

/**
 * The totals of the last proof of the ledger. Without one: zeros until the first account or entry, or undefined if there
 * is neither.
 */
export async function findBillingBase(db: Db): Promise<BillingBase | undefined> {
  const proof = await findLastProof(db)
  if (proof?.totalsUntil) {
    const totals = {
      wallets: proof.totalWallets ?? 0,
      creditsSold: proof.totalCreditsSold ?? 0,
      creditsSpent: proof.totalCreditsSpent ?? 0,
      topups: proof.totalTopups ?? 0,
    }
    return { until: proof.totalsUntil, totals }
  }
  const first = await findFirstActivity(db)
  return first && { until: first, totals: ZERO_TOTALS }
}

/** Sums accounts, credits and payments in a time span. A span without an end lasts until now. */
export function sumBilling(
  db: Db,
  { since, until }: { readonly since: Date; readonly until: Date | undefined },
): Promise<BillingTotals> {
  return sumAccountsInSpan(db, since, until)
}
