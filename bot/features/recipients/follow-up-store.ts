import { and, eq, lte } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { followUps } from '../../core/tables.ts'

export type FollowUpRow = typeof followUps.$inferSelect
/** Queue of follow-ups. A claimed follow-up is due again when its lease ends. */
export const FOLLOW_UPS = {
  table: followUps,
  id: ['chatId', 'messageId'],
  dueAt: 'dueAt',
} as const satisfies Queue<typeof followUps>

type MessageName = Pick<FollowUpRow, 'chatId' | 'messageId'>

/** Stores a follow-up of a message, which replaces an earlier follow-up. */
export async function putFollowUp(db: Db, row: FollowUpRow): Promise<void> {
  await db
    .insert(followUps)
    .values(row)
    .onConflictDoUpdate({ target: [followUps.chatId, followUps.messageId], set: row })
}

/** Makes the follow-ups of one kind due that belong to a wallet. */
export async function hurryFollowUps(
  db: Db,
  { wallet, kind }: Pick<FollowUpRow, 'wallet' | 'kind'>,
  now: Date,
): Promise<void> {
  await db
    .update(followUps)
    .set({ dueAt: now })
    .where(and(eq(followUps.wallet, wallet), eq(followUps.kind, kind)))
}

/**
 * Removes the follow-up of a message that shows another screen now.
 * @returns the follow-up
 */
export async function takeFollowUp(db: Db, message: MessageName): Promise<FollowUpRow | undefined> {
  const [row] = await db.delete(followUps).where(isMessage(message)).returning()
  return row
}

/** Whether a message still has this follow-up. */
export async function hasFollowUp(db: Db, row: FollowUpRow): Promise<boolean> {
  const rows = await db
    .select({ messageId: followUps.messageId })
    .from(followUps)
    .where(isSame(row))
  return rows.length > 0
}

/** Deletes a follow-up that was carried out. A newer follow-up of the message is not deleted. */
export async function deleteFollowUp(db: Db, row: FollowUpRow): Promise<void> {
  await db.delete(followUps).where(isSame(row))
}

/** Deletes follow-ups that expired. */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.delete(followUps).where(lte(followUps.expiresAt, now))
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(followUps.chatId, chatId), eq(followUps.messageId, messageId))
}

function isSame(row: FollowUpRow) {
  return and(isMessage(row), eq(followUps.kind, row.kind), eq(followUps.shownAt, row.shownAt))
}
