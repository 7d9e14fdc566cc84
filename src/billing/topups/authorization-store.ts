import { and, asc, eq, isNotNull, lt, sql } from 'drizzle-orm'
import { lockKey } from '#src/db/advisory-lock.ts'
import type { Db } from '#src/db/connection.ts'
import type { TopupRow } from './store.ts'
import { topups } from './tables.ts'

/** The top-up of an authorization; undefined if the service has not seen the authorization. */
export async function findAuthorization(
  db: Db,
  of: { readonly wallet: string; readonly token: string; readonly nonce: string },
): Promise<TopupRow | undefined> {
  const { wallet, token, authorizationNonce } = topups
  const [row] = await db
    .select()
    .from(topups)
    .where(and(eq(wallet, of.wallet), eq(token, of.token), eq(authorizationNonce, of.nonce)))
  return row
}

/** Number of authorizations of a wallet whose use is still looked for. Lets no other transaction count them until it ends. */
export async function countOpenAuthorizations(tx: Db, of: string): Promise<number> {
  const key = lockKey(`authorizations ${of}`)
  await tx.execute(sql`select pg_advisory_xact_lock(${key}::bigint)`)
  const { wallet, authorizationBlock } = topups
  return await tx.$count(topups, and(eq(wallet, of), isNotNull(authorizationBlock)))
}

/** Authorizations whose use is still looked for, and that were stored before an instant, oldest first. */
export function listFollowedAuthorizations(
  db: Db,
  before: Date,
  limit: number,
): Promise<TopupRow[]> {
  const { authorizationBlock, createdAt } = topups
  return db
    .select()
    .from(topups)
    .where(and(isNotNull(authorizationBlock), lt(createdAt, before)))
    .orderBy(asc(createdAt))
    .limit(limit)
}

/** Looks for the use of an authorization from a block on; with null no more. */
export async function followAuthorization(
  db: Db,
  handle: string,
  authorizationBlock: number | null,
): Promise<void> {
  await db.update(topups).set({ authorizationBlock }).where(eq(topups.handle, handle))
}

/** Like `followAuthorization`, unless its use is looked for from another block than `from` by now. */
export async function moveAuthorization(
  db: Db,
  { handle, wallet }: Pick<TopupRow, 'handle' | 'wallet'>,
  from: number,
  authorizationBlock: number | null,
): Promise<void> {
  const isAsRead = eq(topups.authorizationBlock, from)
  await db
    .update(topups)
    .set({ authorizationBlock })
    .where(and(eq(topups.handle, handle), eq(topups.wallet, wallet), isAsRead))
}
