import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { topupSubmissions, topups, unmatchedPayments } from './tables.ts'

export type TopupRow = typeof topups.$inferSelect
export type SubmissionRow = typeof topupSubmissions.$inferSelect

/** @returns false when the handle or the destination tag is taken */
export async function insertTopup(db: Db, topup: TopupRow): Promise<boolean> {
  const inserted = await db
    .insert(topups)
    .values(topup)
    .onConflictDoNothing()
    .returning({ handle: topups.handle })
  return inserted.length > 0
}

/** The top-up of a handle, of whatever wallet or of the given one. */
export async function findTopup(
  db: Db,
  handle: string,
  wallet?: Address,
): Promise<TopupRow | undefined> {
  const [found] = await db
    .select()
    .from(topups)
    .where(and(eq(topups.handle, handle), wallet && eq(topups.wallet, wallet)))
  return found
}

/** The top-up that a destination tag stands for. */
export async function findTopupByTag(db: Db, tag: number): Promise<TopupRow | undefined> {
  const [found] = await db.select().from(topups).where(eq(topups.destinationTag, tag))
  return found
}

/** What was named for a top-up and brought no payment, oldest first. */
export function listSubmissions(db: Db, handle: string): Promise<SubmissionRow[]> {
  return db
    .select()
    .from(topupSubmissions)
    .where(eq(topupSubmissions.handle, handle))
    .orderBy(asc(topupSubmissions.submittedAt), asc(topupSubmissions.txHash))
}

/** What has become of a transaction that was named. One that is named again keeps its first time. */
export async function saveSubmission(db: Db, submission: SubmissionRow): Promise<void> {
  const { state, reason, checkedAt } = submission
  await db
    .insert(topupSubmissions)
    .values(submission)
    .onConflictDoUpdate({
      target: [topupSubmissions.handle, topupSubmissions.txHash],
      set: { state, reason, checkedAt },
    })
}

/** Names a transaction once more that was given up. */
export async function renewSubmission(
  db: Db,
  of: Pick<SubmissionRow, 'handle' | 'txHash'>,
  at: Date,
): Promise<void> {
  await db
    .update(topupSubmissions)
    .set({ submittedAt: at })
    .where(and(sameSubmission(of), eq(topupSubmissions.state, 'dropped')))
}

/** Forgets a transaction whose payments speak for it. */
export async function deleteSubmission(
  db: Db,
  of: Pick<SubmissionRow, 'handle' | 'txHash'>,
): Promise<void> {
  await db.delete(topupSubmissions).where(sameSubmission(of))
}

/** Transactions that wait to be found, the ones looked for longest ago first. */
export function listWaitingSubmissions(db: Db, limit: number): Promise<SubmissionRow[]> {
  return db
    .select()
    .from(topupSubmissions)
    .where(eq(topupSubmissions.state, 'submitted'))
    .orderBy(asc(topupSubmissions.checkedAt))
    .limit(limit)
}

/** Keeps a payment that nobody is credited for. */
export async function insertUnmatched(
  db: Db,
  payment: typeof unmatchedPayments.$inferInsert,
): Promise<void> {
  await db.insert(unmatchedPayments).values(payment)
}

function sameSubmission({ handle, txHash }: Pick<SubmissionRow, 'handle' | 'txHash'>) {
  return and(eq(topupSubmissions.handle, handle), eq(topupSubmissions.txHash, txHash))
}
