import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { connectCodes } from './tables.ts'

export type ConnectCodeRow = typeof connectCodes.$inferSelect

/** NOTIFY channel of codes that were used or refused; the payload is the code's hash. */
export const CONNECTS_CHANNEL = 'connects'

/** Stores a chat's code in place of its previous code. */
export async function putCode(db: Db, row: ConnectCodeRow): Promise<void> {
  const { chatId: _, ...set } = row
  await db.insert(connectCodes).values(row).onConflictDoUpdate({ target: connectCodes.chatId, set })
}

/** A code in any state. */
export async function findCode(db: Db, hash: string): Promise<ConnectCodeRow | undefined> {
  const [row] = await db.select().from(connectCodes).where(eq(connectCodes.hash, hash))
  return row
}

/**
 * Uses a code up and notifies the bot when the transaction is committed; undefined if the code is unknown, expired or
 * used. Of many concurrent attempts, one succeeds.
 *
 * @param wallet the linked wallet; null if the code is refused
 */
export async function spendCode(
  db: Db,
  hash: string,
  { now, wallet }: { readonly now: Date; readonly wallet: Address | null },
): Promise<ConnectCodeRow | undefined> {
  const isUsable = and(
    eq(connectCodes.hash, hash),
    isNull(connectCodes.usedAt),
    gt(connectCodes.expiresAt, now),
  )
  const [row] = await db
    .update(connectCodes)
    .set({ usedAt: now, wallet })
    .where(isUsable)
    .returning()
  if (row !== undefined) await db.execute(sql`select pg_notify(${CONNECTS_CHANNEL}, ${hash})`)
  return row
}

/** Deletes codes that ended before `before`. */
export async function deleteExpiredConnectCodes(db: Db, before: Date): Promise<void> {
  await db.delete(connectCodes).where(lte(connectCodes.expiresAt, before))
}

/** Deletes the code of a chat, and the codes that this Telegram account requested. */
export async function forgetCodes(
  db: Db,
  who: { readonly chatId: number; readonly personId: number },
): Promise<void> {
  const isTheirs = or(eq(connectCodes.chatId, who.chatId), eq(connectCodes.askedBy, who.personId))
  await db.delete(connectCodes).where(isTheirs)
}
