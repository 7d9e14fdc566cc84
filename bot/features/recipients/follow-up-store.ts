import { and, eq, lte, ne, or, sql } from 'drizzle-orm'
import { valueArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import type { Queue } from '#src/db/queue.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { followUps } from '../../core/tables.ts'

export type FollowUpRow = typeof followUps.$inferSelect
/** Queue of follow-ups. A claimed follow-up is due again when its lease ends. */
export const FOLLOW_UPS = {
  table: followUps,
  id: ['chatId', 'messageId'],
  dueAt: 'dueAt',
} as const satisfies Queue<typeof followUps>

/** Wallet and kind by which follow-ups are selected. */
export type FollowUpsOf = Pick<FollowUpRow, 'wallet' | 'kind'>

/** Queue of the follow-ups of one kind that belong to a wallet. */
export function followUpsOf(owner: FollowUpsOf): Queue<typeof followUps> {
  const { wallet, kind } = followUps
  return { ...FOLLOW_UPS, where: sql`${wallet} = ${owner.wallet} and ${kind} = ${owner.kind}` }
}

type MessageName = Pick<FollowUpRow, 'chatId' | 'messageId'>

/** Stores a follow-up of a message, which replaces an earlier follow-up. */
export async function putFollowUp(db: Db, row: FollowUpRow): Promise<void> {
  await db
    .insert(followUps)
    .values(row)
    .onConflictDoUpdate({ target: [followUps.chatId, followUps.messageId], set: row })
}

/** Makes the follow-ups of messages about these wallets' mailboxes due now. */
export async function hurryConfirmations(
  db: Db,
  wallets: readonly string[],
  now: Date,
): Promise<void> {
  const isIncluded = sql`${followUps.wallet} = any(${valueArray(wallets, 'text')})`
  await db
    .update(followUps)
    .set({ dueAt: now })
    .where(and(isIncluded, eq(followUps.kind, 'confirmation')))
}

/** Makes the follow-ups of one kind that belong to a wallet due now. @returns whether there are any */
export async function hurryFollowUps(db: Db, owner: FollowUpsOf, now: Date): Promise<boolean> {
  const hurried = await db
    .update(followUps)
    .set({ dueAt: now })
    .where(followUpsOf(owner).where)
    .returning({ messageId: followUps.messageId })
  return hurried.length > 0
}

/** Makes a claimed follow-up due at an instant, unless it was made due or replaced since its claim. */
export async function postponeFollowUp(db: Db, row: FollowUpRow, at: Date): Promise<void> {
  await db
    .update(followUps)
    .set({ dueAt: at })
    .where(and(isSame(row), eq(followUps.dueAt, row.dueAt)))
}

/**
 * Removes the follow-up of a message that shows another screen now.
 * @returns the follow-up
 */
export async function takeFollowUp(db: Db, message: MessageName): Promise<FollowUpRow | undefined> {
  const [row] = await db.delete(followUps).where(isMessage(message)).returning()
  return row
}

/**
 * Removes the follow-ups of one kind of a chat's messages about a recipient.
 * @returns the follow-ups
 */
export function takeFollowUps(
  db: Db,
  owner: Pick<FollowUpRow, 'chatId' | 'recipientId' | 'kind'>,
): Promise<FollowUpRow[]> {
  const { chatId, recipientId, kind } = followUps
  const isIncluded = and(
    eq(chatId, owner.chatId),
    eq(recipientId, owner.recipientId),
    eq(kind, owner.kind),
  )
  return db.delete(followUps).where(isIncluded).returning()
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

/**
 * Deletes follow-ups that expired. The follow-up of a link is kept for a day longer, because the link may have
 * been used just before it expired; usually its last check deletes the follow-up.
 */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  const hasExpired = and(ne(followUps.kind, 'chat'), lte(followUps.expiresAt, now))
  const expiredADayAgo = lte(followUps.expiresAt, new Date(now.getTime() - DAY_MS))
  await db.delete(followUps).where(or(hasExpired, expiredADayAgo))
}

function isMessage({ chatId, messageId }: MessageName) {
  return and(eq(followUps.chatId, chatId), eq(followUps.messageId, messageId))
}

function isSame(row: FollowUpRow) {
  return and(isMessage(row), eq(followUps.kind, row.kind), eq(followUps.shownAt, row.shownAt))
}
