/** Credits, slots and terms of a wallet, for screens of the bot that show several of them at once. */
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { capacityOf } from './capacity.ts'
import type { Capacity, Subscription } from './model.ts'
import { toSubscription } from './service.ts'
import { readWalletStatus } from './wallet-status-store.ts'

/** What a wallet has now. */
export interface WalletStatus {
  readonly balanceCredits: number
  readonly slots: Capacity
  /** The subscriptions that have not ended, ordered by id. */
  readonly subscriptions: readonly Subscription[]
  /** End of the trial, running or ended; null if the wallet has had none. */
  readonly trialEndsAt: Date | null
  /** Whether the wallet accepted the terms in force. */
  readonly hasAcceptedTerms: boolean
}

/** Reads the status of the caller's wallet. */
export async function getWalletStatus(
  deps: {
    readonly db: Db
    readonly clock: Clock
    readonly billing: { readonly enabled: boolean; readonly terms: { readonly version: string } }
  },
  { wallet }: Pick<Caller, 'wallet'>,
): Promise<WalletStatus> {
  const { db, clock, billing } = deps
  const walletStatus = await readWalletStatus(db, wallet)
  const { account, trial, running } = walletStatus
  return {
    balanceCredits: account?.balanceCredits ?? 0,
    slots: capacityOf(walletStatus, billing, clock.now()),
    subscriptions: running.map(toSubscription),
    trialEndsAt: trial?.endsAt ?? null,
    hasAcceptedTerms: account?.termsVersion === billing.terms.version,
  }
}
