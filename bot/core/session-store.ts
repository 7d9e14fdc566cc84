import { and, eq, gt, lte } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { drafts, questions } from './tables.ts'

/** A person in a chat: owner of a question or draft. */
export interface ChatPerson {
  readonly chatId: number
  readonly personId: number
}

export type QuestionRow = typeof questions.$inferSelect
export type DraftRow = typeof drafts.$inferSelect

/** The person's open question, unless it has expired. */
export async function findQuestion(
  db: Db,
  place: ChatPerson,
  now: Date,
): Promise<QuestionRow | undefined> {
  const [row] = await db
    .select()
    .from(questions)
    .where(and(ofQuestion(place), gt(questions.expiresAt, now)))
  return row
}

/** Stores a question instead of the previous one. */
export async function putQuestion(db: Db, row: QuestionRow): Promise<void> {
  await db
    .insert(questions)
    .values(row)
    .onConflictDoUpdate({ target: [questions.chatId, questions.personId], set: row })
}

/** Deletes the person's open question; returns whether it existed. */
export async function deleteQuestion(db: Db, place: ChatPerson): Promise<boolean> {
  const gone = await db.delete(questions).where(ofQuestion(place)).returning()
  return gone.length > 0
}

/** The person's draft, unless it has expired. */
export async function findDraft(
  db: Db,
  place: ChatPerson,
  now: Date,
): Promise<DraftRow | undefined> {
  const [row] = await db
    .select()
    .from(drafts)
    .where(and(ofDraft(place), gt(drafts.expiresAt, now)))
  return row
}

/** Stores a draft instead of the previous one. */
export async function putDraft(db: Db, row: DraftRow): Promise<void> {
  await db
    .insert(drafts)
    .values(row)
    .onConflictDoUpdate({ target: [drafts.chatId, drafts.personId], set: row })
}

/** Deletes a person's draft. */
export async function deleteDraft(db: Db, place: ChatPerson): Promise<void> {
  await db.delete(drafts).where(ofDraft(place))
}

/** Deletes questions and drafts that expired before `now`. */
export async function deleteExpired(db: Db, now: Date): Promise<void> {
  await db.delete(questions).where(lte(questions.expiresAt, now))
  await db.delete(drafts).where(lte(drafts.expiresAt, now))
}

function ofQuestion({ chatId, personId }: ChatPerson) {
  return and(eq(questions.chatId, chatId), eq(questions.personId, personId))
}

function ofDraft({ chatId, personId }: ChatPerson) {
  return and(eq(drafts.chatId, chatId), eq(drafts.personId, personId))
}
