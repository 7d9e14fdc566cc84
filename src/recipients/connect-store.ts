import { and, eq, gt, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import type { Address } from '#src/kernel/units.ts'
import { connectCodes } from './tables.ts'

export type ConnectCodeRow = typeof connectCodes.$inferSelect

/** Codes whose chats must be notified. */
export const UNNOTIFIED_CODES = {
  table: connectCodes,
  id: ['chatId'],
  dueAt: 'notifyAt',
  attempts: 'notifyAttempts',
} as const satisfies Queue<typeof connectCodes>

/** NOTIFY channel for the bot about codes. */
export const CONNECTS_CHANNEL = 'connects'

/** Stores a chat's code in place of its previous code. */
export async function putCode(db: Db, row: ConnectCodeRow): Promise<void> {
  const { chatId: _, ...set } = row
  await db.insert(connectCodes).values(row).onConflictDoUpdate({ target: connectCodes.chatId, set })
}

/** The message that shows the open code of a chat; undefined if there is none. */
export async function findCodeMessage(
  db: Db,
  chatId: number,
  now: Date,
): Promise<number | undefined> {
  const { messageId, usedAt, notifyAt, expiresAt } = connectCodes
  const isOpen = and(isNull(usedAt), isNotNull(notifyAt), gt(expiresAt, now))
  const [row] = await db
    .select({ messageId })
    .from(connectCodes)
    .where(and(eq(connectCodes.chatId, chatId), isOpen))
  return row?.messageId ?? undefined
}

/** A code in any state. */
export async function findCode(db: Db, hash: string): Promise<ConnectCodeRow | undefined> {
  const [row] = await db.select().from(connectCodes).where(eq(connectCodes.hash, hash))
  return row
}

/**
 * Uses a code up and schedules the notification of the chat; undefined if the code is unknown, expired or
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
    .set({ usedAt: now, wallet, notifyAt: now })
    .where(isUsable)
    .returning()
  if (row !== undefined) await db.execute(sql`select pg_notify(${CONNECTS_CHANNEL}, '')`)
  return row
}

/**
 * Stores which message of the chat shows its code, so that the chat is notified when the code expires
 * unused.
 */
export async function saveMessage(db: Db, hash: string, messageId: number): Promise<void> {
  const { usedAt, notifyAt, expiresAt } = connectCodes
  await db
    .update(connectCodes)
    .set({
      messageId,
      notifyAt: sql`case when ${usedAt} is null then ${expiresAt} else ${notifyAt} end`,
    })
    .where(eq(connectCodes.hash, hash))
}

/**
 * Records that the message shows another screen now, so that the chat is not notified when the code expires
 * unused.
 */
export async function markMessageReplaced(
  db: Db,
  { chatId, messageId }: { readonly chatId: number; readonly messageId: number },
): Promise<void> {
  const isShown = and(eq(connectCodes.chatId, chatId), eq(connectCodes.messageId, messageId))
  await db
    .update(connectCodes)
    .set({ notifyAt: null })
    .where(and(isShown, isNull(connectCodes.usedAt)))
}

/** Records that a chat was notified about its code. A newer code is not changed. */
export async function markChatNotified(db: Db, hash: string): Promise<void> {
  await db.update(connectCodes).set({ notifyAt: null }).where(eq(connectCodes.hash, hash))
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
