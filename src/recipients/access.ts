/** What an operator does to all recipients of a wallet: a ban, its end, and the deletion of the account. */
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import * as store from './access-store.ts'
import { OFF_BY_OPERATOR } from './model.ts'
import { lockWallet } from './settings.ts'

/** What a ban took from a wallet's recipients. */
export interface WithdrawnAccess {
  /** Chats that had rights and now have none. */
  readonly chats: number
  /** Recipients that were active and are now off. */
  readonly switchedOff: number
}

/**
 * Takes all rights from the wallet's chats, makes its links invalid, and switches its recipients off. Idempotent.
 */
export async function withdrawAccess(tx: Db, wallet: Address, at: Date): Promise<WithdrawnAccess> {
  // Codes first: a chat that is linked at this moment uses its code up before it locks the wallet.
  await store.deleteLinkCodes(tx, wallet)
  await lockWallet(tx, wallet, at)
  const chats = await store.clearChatScopes(tx, wallet, at)
  const off = { statusReason: OFF_BY_OPERATOR, at }
  return { chats, switchedOff: await store.switchOff(tx, wallet, off) }
}

/**
 * Switches on what a ban switched off. Chats get their rights back when their wallet connects them again.
 * @returns the number of recipients
 */
export async function restoreRecipients(tx: Db, wallet: Address, at: Date): Promise<number> {
  await lockWallet(tx, wallet, at)
  return await store.switchOnAgain(tx, wallet, { statusReason: OFF_BY_OPERATOR, at })
}

/**
 * Deletes the wallet's recipients with their destinations, settings, codes and confirmation e-mails.
 *
 * @returns ids of the recipients, and their chats that no other wallet has
 */
export async function forgetRecipients(
  tx: Db,
  wallet: Address,
  at: Date,
): Promise<{ readonly recipientIds: readonly number[]; readonly chatIds: readonly number[] }> {
  await store.deleteLinkCodes(tx, wallet)
  await lockWallet(tx, wallet, at)
  const gone = await store.deleteWallet(tx, wallet)
  const chatIds = gone.flatMap(({ chatId }) => chatId ?? [])
  const linked = new Set(await store.listLinkedChats(tx, chatIds))
  return {
    recipientIds: gone.map(({ id }) => id),
    chatIds: chatIds.filter((id) => !linked.has(id)),
  }
}

/** Wallets of people that have a recipient, in order, after `after`; the empty text before the first. */
export function listOwners(db: Db, after: string, limit: number): Promise<readonly Address[]> {
  return store.listOwners(db, after, limit)
}
