import type { Db } from '#src/db/connection.ts'
import { sumAccounts } from './account/store.ts'

/** Public totals over all wallets. Spent credits are those not given back. */
export interface BillingTotals {
  readonly wallets: number
  readonly creditsSold: number
  readonly creditsSpent: number
  /** Payments that were credited. */
  readonly topups: number
}

/** Adds up everything that was ever sold and spent. */
export function getBillingTotals(db: Db): Promise<BillingTotals> {
  return sumAccounts(db)
}
