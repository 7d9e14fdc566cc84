import { and, eq, or } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import type { LiveRow } from './live-store.ts'
import { isOpenQuestion, type QuestionRow, type SessionKey } from './session-store.ts'
import { chats, drafts, liveMessages, questions } from './tables.ts'

/** Stored data of a chat, except its links. */
export interface KnownChat {
  readonly id: number
  readonly kind: ChatKind
  readonly title: string
  readonly locale: Locale
  /** The selected wallet, if several are linked. */
  readonly wallet: string | null
  /** The current message of each task. */
  readonly currentMessages: CurrentMessageIds
}

/** Tasks that have a current message. */
export type Task = 'navigation' | 'wizard' | 'topup' | 'status'
export type CurrentMessageIds = Readonly<Record<Task, number | null>>

export const CHAT_KINDS = ['private', 'group', 'supergroup', 'channel'] as const
export type ChatKind = (typeof CHAT_KINDS)[number]

export async function findChat(db: Db, id: number): Promise<KnownChat | undefined> {
  const [row] = await db.select().from(chats).where(eq(chats.id, id))
  return row && toKnown(row)
}

/** What is stored about the place of an update. */
export interface StoredPlace {
  readonly chat: KnownChat
  /** The person's open question, unless it has expired. */
  readonly question: QuestionRow | undefined
  /** The row of the pressed message if it changes with its subject. */
  readonly live: LiveRow | undefined
}

/** @param messageId the pressed message, if any */
export async function findPlace(
  db: Db,
  { chatId, personId, messageId = 0 }: SessionKey & { readonly messageId: number | undefined },
  now: Date,
): Promise<StoredPlace | undefined> {
  const isPressed = and(eq(liveMessages.chatId, chatId), eq(liveMessages.messageId, messageId))
  const [row] = await db
    .select({ chat: chats, question: questions, live: liveMessages })
    .from(chats)
    .leftJoin(questions, isOpenQuestion({ chatId, personId }, now))
    .leftJoin(liveMessages, isPressed)
    .where(eq(chats.id, chatId))
  if (row === undefined) return undefined
  const { chat, question, live } = row
  return { chat: toKnown(chat), question: question ?? undefined, live: live ?? undefined }
}

/** Inserts a chat, or updates kind and title of a known one. */
export async function upsertChat(
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

/** Changes language, selected wallet or some of the current messages of a known chat. */
export async function changeChat(
  db: Db,
  id: number,
  changes: {
    readonly locale?: Locale
    readonly wallet?: string
    readonly currentMessages?: Partial<CurrentMessageIds>
  },
  now: Date,
): Promise<void> {
  const { currentMessages, ...rest } = changes
  await db
    .update(chats)
    .set({
      ...rest,
      ...(currentMessages && {
        currentMessageId: currentMessages.navigation,
        wizardMessageId: currentMessages.wizard,
        topupMessageId: currentMessages.topup,
        statusMessageId: currentMessages.status,
      }),
      updatedAt: now,
    })
    .where(eq(chats.id, id))
}

/** Moves the data of a group to the chat that it became. */
export async function moveKnownChat(db: Db, from: number, to: number, now: Date): Promise<void> {
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

/** Deletes all data of a chat and its person. */
export async function forgetChat(
  db: Db,
  { chatId, personId }: { readonly chatId: number; readonly personId: number },
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.delete(liveMessages).where(eq(liveMessages.chatId, chatId))
    await tx
      .delete(questions)
      .where(or(eq(questions.chatId, chatId), eq(questions.personId, personId)))
    await tx.delete(drafts).where(or(eq(drafts.chatId, chatId), eq(drafts.personId, personId)))
    await tx.delete(chats).where(eq(chats.id, chatId))
  })
}

/**
 * Deletes what chats remember of a wallet: the choice of it, drafts of its watches, messages about it; and all data of the
 * chats that no wallet has any more.
 */
export async function forgetWalletInChats(
  tx: Db,
  { wallet, chatIds }: { readonly wallet: string; readonly chatIds: readonly number[] },
): Promise<void> {
  await tx.update(chats).set({ wallet: null }).where(eq(chats.wallet, wallet))
  await tx.delete(drafts).where(eq(drafts.wallet, wallet))
  await tx.delete(liveMessages).where(eq(liveMessages.wallet, wallet))
  // A private chat has the number of its person.
  for (const chatId of chatIds) await forgetChat(tx, { chatId, personId: chatId })
}

function toKnown(row: typeof chats.$inferSelect): KnownChat {
  const { id, title, wallet } = row
  const kind = z.enum(CHAT_KINDS).parse(row.kind)
  const locale = z.enum(LOCALES).parse(row.locale)
  const currentMessages = {
    navigation: row.currentMessageId,
    wizard: row.wizardMessageId,
    topup: row.topupMessageId,
    status: row.statusMessageId,
  }
  return { id, kind, title, locale, wallet, currentMessages }
}
