import { and, asc, eq, gt, isNotNull, isNull, lte, min, or, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { paymentGaps } from './tables.ts'

export type GapRow = typeof paymentGaps.$inferSelect

/** Counts a reading of a block in vain. @returns how many there were, this one included */
export async function countTry(db: Db, blockNumber: number, at: Date): Promise<number> {
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

/** Records that the scan goes on behind a block, and when that is read again. */
export async function recordGap(
  db: Db,
  blockNumber: number,
  times: { readonly recordedAt: Date; readonly nextTryAt: Date },
): Promise<void> {
  await db.update(paymentGaps).set(times).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Notes when a recorded gap is read again. */
export async function deferGap(db: Db, blockNumber: number, nextTryAt: Date): Promise<void> {
  await db
    .update(paymentGaps)
    .set({ nextTryAt, tries: sql`${paymentGaps.tries} + 1` })
    .where(eq(paymentGaps.blockNumber, blockNumber))
}

/**
 * Recorded gaps that are to be read again by `now`, the longest due first. One that is due after `latest` was
 * written before the clock was put back, and is due now.
 */
export function listDueGaps(
  db: Db,
  { now, latest }: { readonly now: Date; readonly latest: Date },
  limit: number,
): Promise<GapRow[]> {
  const { nextTryAt, blockNumber } = paymentGaps
  return db
    .select()
    .from(paymentGaps)
    .where(or(lte(nextTryAt, now), gt(nextTryAt, latest)))
    .orderBy(asc(nextTryAt), asc(blockNumber))
    .limit(limit)
}

/** The lowest block that the scan left behind; undefined when there is none. */
export async function firstGap(db: Db): Promise<number | undefined> {
  const { blockNumber, recordedAt } = paymentGaps
  const [row] = await db
    .select({ first: min(blockNumber) })
    .from(paymentGaps)
    .where(isNotNull(recordedAt))
  return row?.first ?? undefined
}

/** Forgets a gap: it has been read. */
export async function deleteGap(db: Db, blockNumber: number): Promise<void> {
  await db.delete(paymentGaps).where(eq(paymentGaps.blockNumber, blockNumber))
}

/** Forgets the tries of blocks up to here that were read after all. */
export async function deleteTries(db: Db, upTo: number): Promise<void> {
  const { blockNumber, recordedAt } = paymentGaps
  await db.delete(paymentGaps).where(and(lte(blockNumber, upTo), isNull(recordedAt)))
}
