import type { Db } from '#src/db/connection.ts'
import * as store from './store.ts'

/**
 * Deletes what chats remember of a wallet, in the transaction that deletes its account, and all data of the chats that no
 * wallet has any more.
 */
export function forgetWallet(
  tx: Db,
  of: { readonly wallet: string; readonly chatIds: readonly number[] },
): Promise<void> {
  return store.forgetWalletInChats(tx, of)
}
