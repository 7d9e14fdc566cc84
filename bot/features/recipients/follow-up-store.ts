import { and, eq, lte } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { followUps } from '../../core/tables.ts'

export type FollowUpRow = typeof followUps.$inferSelect
/** A follow-up that is claimed is due again when its lease ends. */
export const FOLLOW_UPS = {
  table: followUps,
  id: ['chatId', 'messageId'],
  dueAt: 'dueAt',
} as const satisfies Queue<typeof followUps>

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

/** Deletes follow-ups that expired. */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.delete(followUps).where(lte(followUps.expiresAt, now))
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(followUps.chatId, chatId), eq(followUps.messageId, messageId))
}
