import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { chats } from './tables.ts'

/** What the bot knows of a chat beyond its links. */
export interface KnownChat {
  readonly id: number
  readonly kind: ChatKind
  readonly title: string
  readonly locale: Locale
  /** The wallet it chose last, when it is linked to several. */
  readonly wallet: string | null
  /** The newest message with buttons that lead through the screens. */
  readonly livingMessageId: number | null
}

export const CHAT_KINDS = ['private', 'group', 'supergroup'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

export async function findChat(db: Db, id: number): Promise<KnownChat | undefined> {
  const [row] = await db.select().from(chats).where(eq(chats.id, id))
  return row && toKnown(row)
}

/** Writes a chat down; of one that is known only kind and title change. */
export async function keepChat(
  db: Db,
  chat: Pick<KnownChat, 'id' | 'kind' | 'title' | 'locale'>,
  now: Date,
): Promise<KnownChat> {
  const { kind, title } = chat
  const [row] = await db
    .insert(chats)
    .values({ ...chat, wallet: null, createdAt: now, updatedAt: now })
    .onConflictDoUpdate({ target: chats.id, set: { kind, title, updatedAt: now } })
    .returning()
  if (row === undefined) throw new Error('a chat was not written')
  return toKnown(row)
}

/** Writes language, chosen wallet or newest message of a known chat. */
export async function changeChat(
  db: Db,
  id: number,
  changes: {
    readonly locale?: Locale
    readonly wallet?: string
    readonly livingMessageId?: number
  },
  now: Date,
): Promise<void> {
  await db
    .update(chats)
    .set({ ...changes, updatedAt: now })
    .where(eq(chats.id, id))
}

/** Hands what is known of a group to the chat it became. */
export async function moveChat(db: Db, from: number, to: number, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const [old] = await tx.delete(chats).where(eq(chats.id, from)).returning()
    if (old === undefined) return
    const { title, locale, wallet } = old
    const moved = { kind: 'supergroup', title, locale, wallet, updatedAt: now }
    await tx
      .insert(chats)
      .values({ ...moved, id: to, createdAt: old.createdAt })
      .onConflictDoUpdate({ target: chats.id, set: moved })
  })
}

function toKnown(row: typeof chats.$inferSelect): KnownChat {
  const { id, title, wallet, livingMessageId } = row
  const kind = z.enum(CHAT_KINDS).parse(row.kind)
  const locale = z.enum(LOCALES).parse(row.locale)
  return { id, kind, title, locale, wallet, livingMessageId }
}
