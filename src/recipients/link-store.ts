import { and, asc, eq, gt, isNotNull, isNull, lt, type SQL } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { type NewRecipientRow, type RecipientRow, switching } from './store.ts'
import { linkCodes, recipients } from './tables.ts'

export type LinkCodeRow = typeof linkCodes.$inferSelect

export async function insertLinkCode(db: Db, row: LinkCodeRow): Promise<void> {
  await db.insert(linkCodes).values(row)
}

/** A code that can still be used at `now`. */
export async function findUsable(
  db: Db,
  hash: string,
  now: Date,
): Promise<LinkCodeRow | undefined> {
  const [row] = await db.select().from(linkCodes).where(isUsable(hash, now))
  return row
}

/** Uses a code up; undefined when it is unknown, over or used: of many who try at once, one gets it. */
export async function spendCode(db: Db, hash: string, now: Date): Promise<LinkCodeRow | undefined> {
  const [row] = await db
    .update(linkCodes)
    .set({ usedAt: now })
    .where(isUsable(hash, now))
    .returning()
  return row
}

/** A code that was used up, by whomever. */
export async function findSpent(db: Db, hash: string): Promise<LinkCodeRow | undefined> {
  const where = and(eq(linkCodes.hash, hash), isNotNull(linkCodes.usedAt))
  const [row] = await db.select().from(linkCodes).where(where)
  return row
}

function isUsable(hash: string, now: Date): SQL | undefined {
  return and(eq(linkCodes.hash, hash), isNull(linkCodes.usedAt), gt(linkCodes.expiresAt, now))
}

/** Every recipient that is this chat, of all wallets, the oldest first. */
export function listByChat(db: Db, chatId: number): Promise<RecipientRow[]> {
  return db
    .select()
    .from(recipients)
    .where(eq(recipients.chatId, chatId))
    .orderBy(asc(recipients.id))
}

/** Changes the chat's recipients of all wallets, or only those with one status. @returns them */
export async function updateChatRows(
  db: Db,
  chatId: number,
  changes: Pick<
    Partial<NewRecipientRow>,
    'locale' | 'timezone' | 'status' | 'statusReason' | 'failingSince' | 'mutedUntil'
  > & {
    readonly updatedAt: Date
  },
  onlyStatus?: RecipientRow['status'],
): Promise<RecipientRow[]> {
  const ofChat = eq(recipients.chatId, chatId)
  const where = onlyStatus === undefined ? ofChat : and(ofChat, eq(recipients.status, onlyStatus))
  return await db
    .update(recipients)
    .set({ ...changes, ...switching(changes) })
    .where(where)
    .returning()
}

/** Forgets who linked chats, where it was this Telegram account. */
export async function forgetLinker(db: Db, personId: number): Promise<void> {
  await db.update(recipients).set({ linkedBy: null }).where(eq(recipients.linkedBy, personId))
}

/** Forgets codes that ended before `before`. */
export async function deleteOldCodes(db: Db, before: Date): Promise<void> {
  await db.delete(linkCodes).where(lt(linkCodes.expiresAt, before))
}
