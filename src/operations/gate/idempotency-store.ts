import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { SealedColumn } from '#src/db/reseal.ts'
import { idempotencyKeys } from '../tables.ts'

export type StoredAnswer = typeof idempotencyKeys.$inferSelect

/** The column with sealed responses. */
export const SEALED_ANSWERS: Omit<SealedColumn, 'purpose'> = {
  table: idempotencyKeys,
  key: [idempotencyKeys.wallet, idempotencyKeys.operation, idempotencyKeys.key],
  sealed: idempotencyKeys.answer,
}

export type KeyOf = Pick<StoredAnswer, 'wallet' | 'operation' | 'key'>

/**
 * Locks this key until the transaction ends.
 * @returns false while another transaction has locked it
 */
export async function holdKey(tx: Db, of: KeyOf): Promise<boolean> {
  const name = ['idempotency', of.wallet, of.operation, of.key].join('\n')
  const [row] = await tx.execute<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as held`,
  )
  return row?.held === true
}

/** The response stored for this key since `after`, if any. */
export async function findAnswer(
  tx: Db,
  of: KeyOf,
  after: Date,
): Promise<StoredAnswer | undefined> {
  const [found] = await tx.select().from(idempotencyKeys).where(sameKey(of))
  return found !== undefined && found.createdAt > after ? found : undefined
}

/** Stores a response; replaces an expired response. */
export async function keepAnswer(tx: Db, answer: StoredAnswer, after: Date): Promise<void> {
  const { wallet, operation, key, createdAt } = idempotencyKeys
  const kept = await tx
    .insert(idempotencyKeys)
    .values(answer)
    .onConflictDoUpdate({
      target: [wallet, operation, key],
      set: answer,
      setWhere: lte(createdAt, after),
    })
    .returning({ key })
  if (kept.length === 0) throw new Error('a response is stored already')
}

/** Deletes responses stored up to `before`. */
export async function deleteAnswersBefore(db: Db, before: Date): Promise<void> {
  await db.delete(idempotencyKeys).where(lte(idempotencyKeys.createdAt, before))
}

function sameKey(of: KeyOf) {
  return and(
    eq(idempotencyKeys.wallet, of.wallet),
    eq(idempotencyKeys.operation, of.operation),
    eq(idempotencyKeys.key, of.key),
  )
}

/** Deletes the stored answers of a wallet. */
export async function deleteAnswersOf(db: Db, wallet: string): Promise<void> {
  await db.delete(idempotencyKeys).where(eq(idempotencyKeys.wallet, wallet))
}
