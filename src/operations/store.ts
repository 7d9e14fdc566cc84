import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { idempotencyKeys } from './tables.ts'

export type StoredAnswer = typeof idempotencyKeys.$inferSelect

type KeyOf = Pick<StoredAnswer, 'wallet' | 'operation' | 'key'>

/** Holds this key until the transaction ends. @returns false while another transaction holds it */
export async function holdKey(tx: Db, of: KeyOf): Promise<boolean> {
  const name = ['idempotency', of.wallet, of.operation, of.key].join('\n')
  const [row] = await tx.execute<{ held: boolean }>(
    sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as held`,
  )
  return row?.held === true
}

/** The answer kept for this key since `after`, if any. */
export async function findAnswer(
  tx: Db,
  of: KeyOf,
  after: Date,
): Promise<StoredAnswer | undefined> {
  const [found] = await tx.select().from(idempotencyKeys).where(sameKey(of))
  return found !== undefined && found.createdAt > after ? found : undefined
}

/** Keeps an answer; one that has grown too old gives way. */
export async function keepAnswer(tx: Db, answer: StoredAnswer, after: Date): Promise<void> {
  await tx
    .delete(idempotencyKeys)
    .where(and(sameKey(answer), lte(idempotencyKeys.createdAt, after)))
  await tx.insert(idempotencyKeys).values(answer)
}

/** Deletes the answers kept up to `before`. */
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
