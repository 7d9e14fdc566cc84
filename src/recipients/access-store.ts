/** Rows of `recipients` as a whole wallet's: rights of its chats, and its deletion. */
import { and, eq, inArray, isNotNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import {
  confirmationMails,
  connectCodes,
  linkCodes,
  notificationSettings,
  recipients,
} from './tables.ts'

/** Deletes the codes that would link a chat to the wallet. */
export async function deleteLinkCodes(db: Db, wallet: Address): Promise<void> {
  await db.delete(linkCodes).where(eq(linkCodes.wallet, wallet))
}

/** Takes every right from the wallet's chats. @returns the number of chats that had one */
export async function clearChatScopes(db: Db, wallet: Address, at: Date): Promise<number> {
  const changed = await db
    .update(recipients)
    .set({ chatScopes: [], updatedAt: at })
    .where(
      and(
        eq(recipients.wallet, wallet),
        isNotNull(recipients.chatId),
        ne(recipients.chatScopes, sql`'{}'::text[]`),
      ),
    )
    .returning({ id: recipients.id })
  return changed.length
}

/** Switches the wallet's active recipients off. @returns their number */
export async function switchOff(
  db: Db,
  wallet: Address,
  { statusReason, at }: { readonly statusReason: string; readonly at: Date },
): Promise<number> {
  const off = await db
    .update(recipients)
    .set({ status: 'disabled', statusReason, switchedAt: at, updatedAt: at })
    .where(and(eq(recipients.wallet, wallet), eq(recipients.status, 'active')))
    .returning({ id: recipients.id })
  return off.length
}

/** Switches those recipients of the wallet on that are off for this reason. @returns their number */
export async function switchOnAgain(
  db: Db,
  wallet: Address,
  { statusReason, at }: { readonly statusReason: string; readonly at: Date },
): Promise<number> {
  const on = await db
    .update(recipients)
    .set({ status: 'active', statusReason: null, switchedAt: at, updatedAt: at })
    .where(and(eq(recipients.wallet, wallet), eq(recipients.statusReason, statusReason)))
    .returning({ id: recipients.id })
  return on.length
}

/** Deletes everything that these tables hold of a wallet. @returns its recipients with their chats */
export async function deleteWallet(
  db: Db,
  wallet: Address,
): Promise<{ readonly id: number; readonly chatId: number | null }[]> {
  await db.delete(confirmationMails).where(eq(confirmationMails.wallet, wallet))
  await db
    .delete(connectCodes)
    .where(or(eq(connectCodes.wallet, wallet), eq(connectCodes.spendOf, wallet)))
  const gone = await db
    .delete(recipients)
    .where(eq(recipients.wallet, wallet))
    .returning({ id: recipients.id, chatId: recipients.chatId })
  await db.delete(notificationSettings).where(eq(notificationSettings.wallet, wallet))
  return gone
}

/** Chats among these that a recipient of any wallet still has. */
export async function listLinkedChats(db: Db, chatIds: readonly number[]): Promise<number[]> {
  if (chatIds.length === 0) return []
  const rows = await db
    .selectDistinct({ chatId: recipients.chatId })
    .from(recipients)
    .where(inArray(recipients.chatId, [...chatIds]))
  return rows.flatMap(({ chatId }) => chatId ?? [])
}

/** Wallets of people that have a recipient, in order, after `after`. */
export async function listOwners(db: Db, after: string, limit: number): Promise<Address[]> {
  const rows = await db
    .selectDistinct({ wallet: recipients.wallet })
    .from(recipients)
    .where(sql`${recipients.wallet} > ${after} and ${recipients.follows} is null`)
    .orderBy(recipients.wallet)
    .limit(limit)
  return rows.map(({ wallet }) => wallet)
}
