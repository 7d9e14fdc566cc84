import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { paymentCursors } from './tables.ts'

export type CursorRow = typeof paymentCursors.$inferSelect
export type PaymentChain = CursorRow['chain']

/** Read position of a chain; undefined before the first reading. */
export async function findPaymentCursor(
  db: Db,
  chain: PaymentChain,
): Promise<CursorRow | undefined> {
  const [row] = await db.select().from(paymentCursors).where(eq(paymentCursors.chain, chain))
  return row
}

/** Like `findPaymentCursor`, but locks the row (`FOR UPDATE`). */
export async function lockPaymentCursor(
  tx: Db,
  chain: PaymentChain,
): Promise<CursorRow | undefined> {
  const { chain: name } = paymentCursors
  const [row] = await tx.select().from(paymentCursors).where(eq(name, chain)).for('update')
  return row
}

/** Stores the first read position of a chain, unless there is one. */
export async function insertPaymentCursor(
  db: Db,
  cursor: typeof paymentCursors.$inferInsert,
): Promise<void> {
  await db.insert(paymentCursors).values(cursor).onConflictDoNothing()
}

/** Moves the read position forward; never back. */
export async function movePaymentCursor(
  db: Db,
  chain: PaymentChain,
  position: number,
): Promise<void> {
  await db
    .update(paymentCursors)
    .set({ position: sql`greatest(${paymentCursors.position}, ${position}::bigint)` })
    .where(eq(paymentCursors.chain, chain))
}

/**
 * Stores the newest block seen.
 * @returns whether it changed
 */
export async function saveTip(db: Db, chain: PaymentChain, tip: number): Promise<boolean> {
  const isOther = sql`${paymentCursors.tip} is distinct from ${tip}::bigint`
  const changed = await db
    .update(paymentCursors)
    .set({ tip })
    .where(and(eq(paymentCursors.chain, chain), isOther))
    .returning({ chain: paymentCursors.chain })
  return changed.length > 0
}

/** Stores an address's balance at the end of a block up to which payments explain the whole balance. */
export async function saveExplainedBalance(
  db: Db,
  balance: {
    readonly balanceOf: string
    readonly balanceBlock: number
    readonly balanceUnits: bigint
    readonly balanceAssumed: boolean
  },
): Promise<void> {
  await db.update(paymentCursors).set(balance).where(eq(paymentCursors.chain, 'flare'))
}
