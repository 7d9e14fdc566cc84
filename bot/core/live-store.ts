import { and, desc, eq, gt, inArray, lte, notInArray, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { liveMessages } from './tables.ts'

export type LiveRow = typeof liveMessages.$inferSelect

/** Chat and id of a message. */
export type MessageName = Pick<LiveRow, 'chatId' | 'messageId'>

/** Queue of the live messages that have one of these kinds, or none of them. A claimed message is due again when its lease ends. */
export function liveQueue(
  kinds: readonly string[],
  which: 'of' | 'not of',
): Queue<typeof liveMessages> {
  const isIncluded = which === 'of' ? inArray : notInArray
  return {
    table: liveMessages,
    id: ['chatId', 'messageId'],
    dueAt: 'dueAt',
    leasedUntil: 'leasedUntil',
    where: isIncluded(liveMessages.kind, [...kinds]),
  }
}

/** Stores the subject of a live message, in place of an earlier subject. */
export async function putLive(db: Db, row: LiveRow): Promise<void> {
  await db
    .insert(liveMessages)
    .values(row)
    .onConflictDoUpdate({ target: [liveMessages.chatId, liveMessages.messageId], set: row })
}

/**
 * Wakes the job that changes live messages, when the transaction is committed.
 * @param handle of the messages that are due by it; without one, those whose time has come
 */
export async function notifyLive(db: Db, handle = ''): Promise<void> {
  await db.execute(sql`select pg_notify('live_messages', ${handle})`)
}

/** Deletes the row of a message that shows another screen, or was deleted. */
export async function deleteLive(db: Db, message: MessageName): Promise<void> {
  await db.delete(liveMessages).where(isMessage(message))
}

/** Deletes the row of a message whose subject is over. A newer subject of the message is not deleted. */
export async function endLive(db: Db, row: LiveRow): Promise<void> {
  await db.delete(liveMessages).where(isSame(row))
}

/** Deletes the rows of a chat's messages of one kind about a subject. @returns the rows */
export function takeLive(
  db: Db,
  { chatId, kind, handle }: Pick<LiveRow, 'chatId' | 'kind'> & { readonly handle: string },
): Promise<LiveRow[]> {
  const of = and(
    eq(liveMessages.chatId, chatId),
    eq(liveMessages.kind, kind),
    eq(liveMessages.handle, handle),
  )
  return db.delete(liveMessages).where(of).returning()
}

export async function findLive(db: Db, message: MessageName): Promise<LiveRow | undefined> {
  const [row] = await db.select().from(liveMessages).where(isMessage(message))
  return row
}

/** Messages of a kind in a chat, newest first. */
export function listLive(
  db: Db,
  { chatId, kind, wallet }: Pick<LiveRow, 'chatId' | 'kind'> & { readonly wallet?: string },
): Promise<LiveRow[]> {
  const { createdAt, messageId } = liveMessages
  return db
    .select()
    .from(liveMessages)
    .where(
      and(
        eq(liveMessages.chatId, chatId),
        eq(liveMessages.kind, kind),
        wallet === undefined ? undefined : eq(liveMessages.wallet, wallet),
      ),
    )
    .orderBy(desc(createdAt), desc(messageId))
}

/** Private chats with a message that has followed a top-up since `since`. */
export async function listChatsFollowing(
  db: Db,
  {
    handle,
    kind,
    since,
  }: Pick<LiveRow, 'kind'> & { readonly handle: string; readonly since: Date },
): Promise<number[]> {
  const { chatId, createdAt } = liveMessages
  const rows = await db
    .selectDistinct({ chatId })
    .from(liveMessages)
    .where(
      and(
        eq(liveMessages.handle, handle),
        eq(liveMessages.kind, kind),
        gt(chatId, 0),
        gt(createdAt, since),
      ),
    )
  return rows.map((row) => row.chatId)
}

/** Makes the messages of these subjects due after a notification. */
export async function wakeLive(db: Db, handles: readonly string[], now: Date): Promise<void> {
  await db
    .update(liveMessages)
    .set({ changeCount: sql`${liveMessages.changeCount} + 1`, dueAt: now })
    .where(inArray(liveMessages.handle, [...handles]))
}

/** Deletes rows of messages that no longer change. */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.delete(liveMessages).where(lte(liveMessages.expiresAt, now))
}

/**
 * Stores the result of a check and the time of the next check. If the subject changed during the check, the
 * message stays due and is checked when the lease ends. Changes nothing if the message shows another screen.
 */
export async function settleLive(
  db: Db,
  row: LiveRow,
  to: Pick<LiveRow, 'stage' | 'shown' | 'dueAt' | 'leasedUntil'>,
): Promise<void> {
  const { changeCount, dueAt } = liveMessages
  await db
    .update(liveMessages)
    .set({
      ...to,
      dueAt: sql`case when ${changeCount} = ${row.changeCount} then ${to.dueAt.toISOString()}::timestamptz else ${dueAt} end`,
    })
    .where(isSame(row))
}

/** Whether the message still has this row, and not that of another screen. */
export async function isStillLive(db: Db, row: LiveRow): Promise<boolean> {
  const rows = await db
    .select({ messageId: liveMessages.messageId })
    .from(liveMessages)
    .where(isSame(row))
  return rows.length > 0
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(liveMessages.chatId, chatId), eq(liveMessages.messageId, messageId))
}

function isSame(row: LiveRow) {
  const { kind, createdAt } = liveMessages
  return and(isMessage(row), eq(kind, row.kind), eq(createdAt, row.createdAt))
}
