import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, or, type SQL } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { type NewRecipientRow, type RecipientRow, switchedAtChange } from './store.ts'
import { linkCodes, recipients } from './tables.ts'

export type LinkCodeRow = typeof linkCodes.$inferSelect

export async function insertLinkCode(db: Db, row: LinkCodeRow): Promise<void> {
  await db.insert(linkCodes).values(row)
}

/** A code as shown: its hash, and its group; null in a private chat. */
export interface ShownCode {
  readonly hash: string
  readonly groupId: number | null
}

/**
 * The link of a code that is usable at `now` in the chat that showed it. A group's code is bound to the
 * first group that shows it.
 */
export async function findUsableCode(
  db: Db,
  code: ShownCode,
  now: Date,
): Promise<LinkCodeRow | undefined> {
  if (code.groupId === null) {
    const [row] = await db.select().from(linkCodes).where(isUsable(code, now))
    return row
  }
  const [row] = await db
    .update(linkCodes)
    .set({ groupChatId: code.groupId })
    .where(isUsable(code, now))
    .returning()
  return row
}

/**
 * Uses up both codes of a link; undefined if the code is unknown, expired, used, or bound to another chat.
 * Of many concurrent attempts, one succeeds.
 */
export async function spendCode(
  db: Db,
  code: ShownCode,
  now: Date,
): Promise<LinkCodeRow | undefined> {
  const [row] = await db
    .update(linkCodes)
    .set({ usedAt: now, groupChatId: code.groupId })
    .where(isUsable(code, now))
    .returning()
  return row
}

/** The used link of a code. */
export async function findUsedCode(db: Db, code: ShownCode): Promise<LinkCodeRow | undefined> {
  const where = and(isOf(code), isNotNull(linkCodes.usedAt))
  const [row] = await db.select().from(linkCodes).where(where)
  return row
}

/** Time at which the wallet's link with this `expiresAt` was used; undefined if it was not used. */
export async function findUseTime(
  db: Db,
  link: { readonly wallet: Address; readonly expiresAt: Date },
): Promise<Date | undefined> {
  const [row] = await db
    .select({ usedAt: linkCodes.usedAt })
    .from(linkCodes)
    .where(
      and(
        eq(linkCodes.wallet, link.wallet),
        eq(linkCodes.expiresAt, link.expiresAt),
        isNotNull(linkCodes.usedAt),
      ),
    )
  return row?.usedAt ?? undefined
}

/** Binds the codes of a group to the chat that the group became. */
export async function moveCodes(db: Db, from: number, to: number): Promise<void> {
  await db.update(linkCodes).set({ groupChatId: to }).where(eq(linkCodes.groupChatId, from))
}

function isOf({ hash, groupId }: ShownCode): SQL | undefined {
  if (groupId === null) return eq(linkCodes.hash, hash)
  const here = or(isNull(linkCodes.groupChatId), eq(linkCodes.groupChatId, groupId))
  return and(eq(linkCodes.groupHash, hash), here)
}

function isUsable(code: ShownCode, now: Date): SQL | undefined {
  return and(isOf(code), isNull(linkCodes.usedAt), gt(linkCodes.expiresAt, now))
}

/** Every recipient of this chat that links it to a wallet, of all wallets, oldest first. */
export function listByChat(db: Db, chatId: number) {
  return db
    .select()
    .from(recipients)
    .where(and(eq(recipients.chatId, chatId), isNull(recipients.follows)))
    .orderBy(asc(recipients.id))
}

/**
 * Like `listByChat`, but locks the rows (`FOR UPDATE`). Rows that another transaction has moved to another
 * chat meanwhile are missing.
 */
export async function lockByChat(tx: Db, chatId: number): Promise<RecipientRow[]> {
  return await listByChat(tx, chatId).for('update')
}

/**
 * Changes the chat's recipients of all wallets, and what it follows.
 *
 * @param only only recipients with this status, one of these reasons for it, and a person's wallet
 * @returns the changed rows
 */
export async function updateChatRows(
  db: Db,
  chatId: number,
  changes: Pick<
    Partial<NewRecipientRow>,
    'locale' | 'timezone' | 'status' | 'statusReason' | 'failingSince' | 'mutedUntil'
  > & {
    readonly updatedAt: Date
  },
  only: {
    readonly status?: RecipientRow['status']
    readonly reasons?: readonly string[]
    readonly areLinks?: true
  } = {},
): Promise<RecipientRow[]> {
  const where = and(
    eq(recipients.chatId, chatId),
    only.status && eq(recipients.status, only.status),
    only.reasons && inArray(recipients.statusReason, only.reasons),
    only.areLinks && isNull(recipients.follows),
  )
  return await db
    .update(recipients)
    .set({ ...changes, ...switchedAtChange(changes) })
    .where(where)
    .returning()
}

/** Deletes this Telegram account where it is stored as the linker. */
export async function forgetLinker(db: Db, personId: number): Promise<void> {
  await db.update(recipients).set({ linkedBy: null }).where(eq(recipients.linkedBy, personId))
}

/** Deletes codes that ended before `before`. */
export async function deleteExpiredLinkCodes(db: Db, before: Date): Promise<void> {
  await db.delete(linkCodes).where(lt(linkCodes.expiresAt, before))
}
