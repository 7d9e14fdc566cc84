import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { lockWallet } from './settings.ts'
import { listLinkers } from './store.ts'

/** Telegram accounts that linked a chat to a wallet. Each account gets one free trial (`src/billing`). */
export const linkedAccounts = {
  /**
   * Returns the accounts, and locks the wallet so that no other chat is linked to it until the transaction
   * ends.
   */
  lock: async (tx: Db, wallet: Address, now: Date): Promise<readonly number[]> => {
    await lockWallet(tx, wallet, now)
    return await listLinkers(tx, wallet)
  },
  list: (db: Db, wallet: Address): Promise<readonly number[]> => listLinkers(db, wallet),
} as const
