import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { paymentCursors } from './tables.ts'

export type CursorRow = typeof paymentCursors.$inferSelect
export type PaymentChain = CursorRow['chain']

/** How far a chain was read, if it ever was. */
export async function findCursor(db: Db, chain: PaymentChain): Promise<CursorRow | undefined> {
  const [found] = await db.select().from(paymentCursors).where(eq(paymentCursors.chain, chain))
  return found
}

/** The same, kept as it is for everybody else until the transaction ends. */
export async function lockCursor(tx: Db, chain: PaymentChain): Promise<CursorRow | undefined> {
  const { chain: name } = paymentCursors
  const [found] = await tx.select().from(paymentCursors).where(eq(name, chain)).for('update')
  return found
}

/** Begins to read a chain, unless somebody has. */
export async function insertCursor(
  db: Db,
  cursor: typeof paymentCursors.$inferInsert,
): Promise<void> {
  await db.insert(paymentCursors).values(cursor).onConflictDoNothing()
}

/** Everything up to here was read; never goes back. */
export async function moveCursor(db: Db, chain: PaymentChain, position: number): Promise<void> {
  await db
    .update(paymentCursors)
    .set({ position: sql`greatest(${paymentCursors.position}, ${position}::bigint)` })
    .where(eq(paymentCursors.chain, chain))
}

/** Notes the newest block that was seen. @returns whether it is another one than before */
export async function saveTip(db: Db, chain: PaymentChain, tip: number): Promise<boolean> {
  const isOther = sql`${paymentCursors.tip} is distinct from ${tip}::bigint`
  const changed = await db
    .update(paymentCursors)
    .set({ tip })
    .where(and(eq(paymentCursors.chain, chain), isOther))
    .returning({ chain: paymentCursors.chain })
  return changed.length > 0
}

/** Records an address's balance at the end of a block, up to which all of it is accounted for. */
export async function saveBalance(
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
