import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { followUps } from '../../core/tables.ts'

export type FollowUpRow = typeof followUps.$inferSelect
type MessageName = Pick<FollowUpRow, 'chatId' | 'messageId'>

/** Stores a follow-up of a message, replacing an earlier one. */
export async function putFollowUp(db: Db, row: FollowUpRow): Promise<void> {
  await db
    .insert(followUps)
    .values(row)
    .onConflictDoUpdate({ target: [followUps.chatId, followUps.messageId], set: row })
}

/**
 * Removes the follow-up of a message that shows something else now.
 * @returns the follow-up
 */
export async function takeFollowUp(db: Db, message: MessageName): Promise<FollowUpRow | undefined> {
  const [row] = await db.delete(followUps).where(isMessage(message)).returning()
  return row
}

/** Postpones a follow-up. */
export async function postponeFollowUp(db: Db, message: MessageName, dueAt: Date): Promise<void> {
  await db.update(followUps).set({ dueAt }).where(isMessage(message))
}

/** Claims due follow-ups until `nextAt`. Expired ones are deleted. */
export async function claimFollowUps(
  db: Db,
  { now, nextAt, limit }: { readonly now: Date; readonly nextAt: Date; readonly limit: number },
): Promise<FollowUpRow[]> {
  await db.delete(followUps).where(lte(followUps.expiresAt, now))
  const due = db
    .select({ chatId: followUps.chatId, messageId: followUps.messageId })
    .from(followUps)
    .where(lte(followUps.dueAt, now))
    .orderBy(followUps.dueAt)
    .limit(limit)
    .for('update', { skipLocked: true })
  return await db
    .update(followUps)
    .set({ dueAt: nextAt })
    .where(sql`(${followUps.chatId}, ${followUps.messageId}) in ${due}`)
    .returning()
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(followUps.chatId, chatId), eq(followUps.messageId, messageId))
}
