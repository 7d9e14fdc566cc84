import { and, asc, eq, isNotNull, isNull, lte, min, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { paymentGaps } from './tables.ts'

export type GapRow = typeof paymentGaps.$inferSelect

/**
 * Counts a failed reading of a block.
 * @returns the number of failed readings, including this one
 */
export async function countFailedRead(db: Db, blockNumber: number, at: Date): Promise<number> {
  const [row] = await db
    .insert(paymentGaps)
    .values({ blockNumber, tries: 1, firstFailedAt: at })
    .onConflictDoUpdate({
      target: paymentGaps.blockNumber,
      set: { tries: sql`${paymentGaps.tries} + 1` },
    })
    .returning({ tries: paymentGaps.tries })
  return row?.tries ?? 1
}

/** Records a gap: the scan continues after the block, which is read again at `nextTryAt`. */
export async function recordGap(
  db: Db,
  blockNumber: number,
  times: { readonly recordedAt: Date; readonly nextTryAt: Date },
): Promise<void> {
  await db.update(paymentGaps).set(times).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Sets the next reading of a recorded gap. */
export async function deferGap(db: Db, blockNumber: number, nextTryAt: Date): Promise<void> {
  await db
    .update(paymentGaps)
    .set({ nextTryAt, tries: sql`${paymentGaps.tries} + 1` })
    .where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Recorded gaps due by `now`, the longest due first. */
export function listDueGaps(db: Db, now: Date, limit: number): Promise<GapRow[]> {
  const { nextTryAt, blockNumber } = paymentGaps
  return db
    .select()
    .from(paymentGaps)
    .where(lte(nextTryAt, now))
    .orderBy(asc(nextTryAt), asc(blockNumber))
    .limit(limit)
}

/** The lowest recorded gap; undefined when there is none. */
export async function findFirstGap(db: Db): Promise<number | undefined> {
  const { blockNumber, recordedAt } = paymentGaps
  const [row] = await db
    .select({ first: min(blockNumber) })
    .from(paymentGaps)
    .where(isNotNull(recordedAt))
  return row?.first ?? undefined
}

/** Deletes a gap that has been read. */
export async function deleteGap(db: Db, blockNumber: number): Promise<void> {
  await db.delete(paymentGaps).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Deletes the counts of failed readings of blocks up to `upTo` that have been read. */
export async function deleteFailedReadCounts(db: Db, upTo: number): Promise<void> {
  const { blockNumber, recordedAt } = paymentGaps
  await db.delete(paymentGaps).where(and(lte(blockNumber, upTo), isNull(recordedAt)))
}
