import { and, eq, gt, lte, type SQL } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { drafts, questions } from './tables.ts'

/** Key of a question or draft: a person in a chat. */
export interface SessionKey {
  readonly chatId: number
  readonly personId: number
}

export type QuestionRow = typeof questions.$inferSelect
export type DraftRow = typeof drafts.$inferSelect

/** The person's open question, unless it has expired. */
export async function findQuestion(
  db: Db,
  key: SessionKey,
  now: Date,
): Promise<QuestionRow | undefined> {
  const [row] = await db.select().from(questions).where(isOpenQuestion(key, now))
  return row
}

/** Stores a question, which replaces the person's previous question. */
export async function putQuestion(db: Db, row: QuestionRow): Promise<void> {
  await db
    .insert(questions)
    .values(row)
    .onConflictDoUpdate({ target: [questions.chatId, questions.personId], set: row })
}

/** Deletes the person's question; returns whether there was one. */
export async function deleteQuestion(db: Db, key: SessionKey): Promise<boolean> {
  const deleted = await db.delete(questions).where(ofQuestion(key)).returning()
  return deleted.length > 0
}

/** The person's draft, unless it has expired. */
export async function findDraft(db: Db, key: SessionKey, now: Date): Promise<DraftRow | undefined> {
  const [row] = await db
    .select()
    .from(drafts)
    .where(and(ofDraft(key), gt(drafts.expiresAt, now)))
  return row
}

/** Stores a draft, which replaces the person's previous draft. */
export async function putDraft(db: Db, row: DraftRow): Promise<void> {
  await db
    .insert(drafts)
    .values(row)
    .onConflictDoUpdate({ target: [drafts.chatId, drafts.personId], set: row })
}

/** Deletes a person's draft. */
export async function deleteDraft(db: Db, key: SessionKey): Promise<void> {
  await db.delete(drafts).where(ofDraft(key))
}

/** Deletes questions and drafts that expired at or before `now`. */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.delete(questions).where(lte(questions.expiresAt, now))
  await db.delete(drafts).where(lte(drafts.expiresAt, now))
}

/** Condition: the question is that of the person, and has not expired. */
export function isOpenQuestion(key: SessionKey, now: Date): SQL | undefined {
  return and(ofQuestion(key), gt(questions.expiresAt, now))
}

function ofQuestion({ chatId, personId }: SessionKey) {
  return and(eq(questions.chatId, chatId), eq(questions.personId, personId))
}

function ofDraft({ chatId, personId }: SessionKey) {
  return and(eq(drafts.chatId, chatId), eq(drafts.personId, personId))
}
