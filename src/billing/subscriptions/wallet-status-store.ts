import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AccountRow } from '../account/store.ts'
import { accounts } from '../account/tables.ts'
import { isRunning, type SubscriptionRow, type TrialRow } from './store.ts'
import { subscriptions, trials } from './tables.ts'

/** Account, trial and running subscriptions of a wallet, as one statement sees them. */
export interface WalletStatusRows {
  readonly account: AccountRow | undefined
  /** The trial, running or ended. */
  readonly trial: TrialRow | undefined
  /** The subscriptions that have not ended, ordered by id. */
  readonly running: readonly SubscriptionRow[]
}

/** Reads what decides about the wallet's credits and slots, in one statement. */
export async function readWalletStatus(db: Db, wallet: Address): Promise<WalletStatusRows> {
  const rows = await db
    .select({ account: accounts, trial: trials, subscription: subscriptions })
    // One row without columns, because each of the three may be missing.
    .from(sql`(select) as asked`)
    .leftJoin(accounts, eq(accounts.wallet, wallet))
    .leftJoin(trials, eq(trials.wallet, wallet))
    .leftJoin(subscriptions, and(eq(subscriptions.wallet, wallet), isRunning()))
    .orderBy(asc(subscriptions.id))
  return {
    account: rows[0]?.account ?? undefined,
    trial: rows[0]?.trial ?? undefined,
    running: rows.flatMap(({ subscription }) => subscription ?? []),
  }
}
