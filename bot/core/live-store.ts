import { and, desc, eq, gt, inArray, lte, notInArray, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { liveMessages } from './tables.ts'

export type LiveRow = typeof liveMessages.$inferSelect

/** Kinds of the messages to which results of backtests are added: a draft, values of a setting. */
const BACKTEST_KINDS = ['backtest-draft', 'backtest-values'] as const
export type BacktestKind = (typeof BACKTEST_KINDS)[number]

const QUEUE = {
  table: liveMessages,
  id: ['chatId', 'messageId'],
  dueAt: 'dueAt',
  leasedUntil: 'leasedUntil',
} as const satisfies Queue<typeof liveMessages>
/** Queue of live messages. After a change the lease is kept for a second, so that two changes are at least a second apart. */
export const LIVE_MESSAGES: Queue<typeof liveMessages> = {
  ...QUEUE,
  where: notInArray(liveMessages.kind, [...BACKTEST_KINDS]),
}
/** Queue of messages that wait for backtests. It is separate, because backtests take long. */
export const BACKTEST_MESSAGES: Queue<typeof liveMessages> = {
  ...QUEUE,
  where: inArray(liveMessages.kind, [...BACKTEST_KINDS]),
}

type MessageName = Pick<LiveRow, 'chatId' | 'messageId'>

/** Stores the subject of a live message, in place of an earlier subject. */
export async function putLive(db: Db, row: LiveRow): Promise<void> {
  await db
    .insert(liveMessages)
    .values(row)
    .onConflictDoUpdate({ target: [liveMessages.chatId, liveMessages.messageId], set: row })
}

/** Wakes the job that shows results of backtests. */
export async function notifyBacktests(db: Db): Promise<void> {
  await db.execute(sql`select pg_notify('backtests', '')`)
}

/** Deletes the row of a message that shows another screen, or was deleted. */
export async function deleteLive(db: Db, message: MessageName): Promise<void> {
  await db.delete(liveMessages).where(isMessage(message))
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

/** Makes messages of these top-ups due after a notification. */
export async function wakeLive(db: Db, handles: readonly string[], now: Date): Promise<void> {
  await db
    .update(liveMessages)
    .set({ changeCount: sql`${liveMessages.changeCount} + 1`, dueAt: now })
    .where(inArray(liveMessages.handle, [...handles]))
}

/**
 * Deletes rows of messages that no longer change. A screen that waits for backtests first shows that they
 * were not ready in time; this is tried for a day.
 */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  const { kind, expiresAt } = liveMessages
  const dayBefore = new Date(now.getTime() - DAY_MS)
  await db
    .delete(liveMessages)
    .where(
      and(
        lte(expiresAt, now),
        or(notInArray(kind, [...BACKTEST_KINDS]), lte(expiresAt, dayBefore)),
      ),
    )
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
    .where(and(isMessage(row), eq(liveMessages.createdAt, row.createdAt)))
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(liveMessages.chatId, chatId), eq(liveMessages.messageId, messageId))
}
