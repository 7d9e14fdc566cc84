import { and, asc, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { RESEAL_BATCH, type Resealed } from '#src/db/reseal.ts'
import { idempotencyKeys } from './tables.ts'

export type StoredAnswer = typeof idempotencyKeys.$inferSelect

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

/** Stores a response; replaces an expired one. */
export async function keepAnswer(tx: Db, answer: StoredAnswer, after: Date): Promise<void> {
  await tx
    .delete(idempotencyKeys)
    .where(and(sameKey(answer), lte(idempotencyKeys.createdAt, after)))
  await tx.insert(idempotencyKeys).values(answer)
}

/** Deletes responses stored up to `before`. */
export async function deleteAnswersBefore(db: Db, before: Date): Promise<void> {
  await db.delete(idempotencyKeys).where(lte(idempotencyKeys.createdAt, before))
}

/** Reads sealed responses in order of keys, after one of them. */
export async function listSealed(db: Db, after: KeyOf | undefined) {
  const { wallet, operation, key, answer } = idempotencyKeys
  const rows = await db
    .select({ wallet, operation, key, sealed: answer })
    .from(idempotencyKeys)
    .where(
      after &&
        sql`(${wallet}, ${operation}, ${key}) > (${after.wallet}, ${after.operation}, ${after.key})`,
    )
    .orderBy(asc(wallet), asc(operation), asc(key))
    .limit(RESEAL_BATCH)
  return rows.map(({ sealed, ...of }) => ({ key: of, sealed }))
}

/** Replaces sealed responses that did not change since they were read. */
export async function replaceSealed(db: Db, rows: readonly Resealed<KeyOf>[]): Promise<void> {
  const column = (pick: (row: Resealed<KeyOf>) => string) =>
    sql`${sql.param(rows.map(pick))}::text[]`
  await db.execute(sql`
    update idempotency_keys as stored set answer = row.resealed
    from unnest(${column(({ key }) => key.wallet)}, ${column(({ key }) => key.operation)},
      ${column(({ key }) => key.key)}, ${column(({ sealed }) => sealed)},
      ${column(({ resealed }) => resealed)}) as row(wallet, operation, key, sealed, resealed)
    where (stored.wallet, stored.operation, stored.key, stored.answer)
      = (row.wallet, row.operation, row.key, row.sealed)`)
}

function sameKey(of: KeyOf) {
  return and(
    eq(idempotencyKeys.wallet, of.wallet),
    eq(idempotencyKeys.operation, of.operation),
    eq(idempotencyKeys.key, of.key),
  )
}
