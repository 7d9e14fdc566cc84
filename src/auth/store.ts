import { and, count, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { lockKey } from '#src/db/lock.ts'
import { deleteInBatches } from '#src/db/prune.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { LISTED_TOKENS_MAX, type StoredChallenge } from './model.ts'
import { grantedScopes } from './rules.ts'
import { challenges, tokens } from './tables.ts'

export type TokenRow = typeof tokens.$inferSelect

/** Stores a new challenge. */
export async function insertChallenge(
  db: Db,
  challenge: StoredChallenge & { readonly issuedAt: Date },
): Promise<void> {
  await db.insert(challenges).values({
    nonce: challenge.nonce,
    wallet: challenge.wallet,
    scopes: [...challenge.scopes],
    label: challenge.label ?? null,
    message: challenge.message,
    issuedAt: challenge.issuedAt,
    expiresAt: challenge.expiresAt,
  })
}

/** The challenge with this nonce, used or not. */
export async function findChallenge(db: Db, nonce: string): Promise<StoredChallenge | undefined> {
  const [row] = await db.select().from(challenges).where(eq(challenges.nonce, nonce))
  if (row === undefined) return undefined
  return {
    nonce: row.nonce,
    wallet: storedAddress(row.wallet),
    scopes: grantedScopes(row.scopes),
    label: row.label ?? undefined,
    message: row.message,
    expiresAt: row.expiresAt,
    usedAt: row.usedAt ?? undefined,
  }
}

/**
 * Marks an unused challenge as used, locking its row until the transaction ends.
 *
 * @returns false if it was already used
 */
export async function spendChallenge(db: Db, nonce: string, usedAt: Date): Promise<boolean> {
  const spent = await db
    .update(challenges)
    .set({ usedAt })
    .where(and(eq(challenges.nonce, nonce), isNull(challenges.usedAt)))
    .returning({ nonce: challenges.nonce })
  return spent.length > 0
}

/** Deletes challenges that expired before the instant. */
export async function deleteChallengesExpiredBefore(db: Db, instant: Date): Promise<void> {
  await deleteInBatches(async (limit) => {
    const ended = db
      .select({ nonce: challenges.nonce })
      .from(challenges)
      .where(lt(challenges.expiresAt, instant))
      .orderBy(challenges.expiresAt)
      .limit(limit)
    const gone = await db
      .delete(challenges)
      .where(inArray(challenges.nonce, ended))
      .returning({ nonce: challenges.nonce })
    return gone.length
  })
}

/**
 * Takes a lock under which only this transaction counts and creates tokens of the wallet, until it ends.
 */
export async function lockTokensOfWallet(db: Db, wallet: Address): Promise<void> {
  const key = lockKey(`tokens ${wallet}`)
  await db.execute(sql`select pg_advisory_xact_lock(${key}::bigint)`)
}

/** Number of the wallet's tokens that are neither revoked nor expired. */
export async function countActiveTokens(db: Db, wallet: Address, now: Date): Promise<number> {
  const [row] = await db
    .select({ active: count() })
    .from(tokens)
    .where(and(eq(tokens.wallet, wallet), isNull(tokens.revokedAt), gt(tokens.expiresAt, now)))
  return row?.active ?? 0
}

/** Stores a new token without its secret. */
export async function insertToken(
  db: Db,
  token: {
    readonly wallet: Address
    readonly label: string | undefined
    readonly scopes: readonly Scope[]
    readonly prefix: string
    readonly hash: string
    readonly createdAt: Date
    readonly expiresAt: Date
  },
): Promise<void> {
  await db
    .insert(tokens)
    .values({ ...token, label: token.label ?? null, scopes: [...token.scopes] })
}

/** The token with this SHA-256, in any status. */
export async function findTokenByHash(db: Db, hash: string): Promise<TokenRow | undefined> {
  // Plain SQL: this query is part of every request, and building it from tables costs more than it.
  const [row] = await db.execute<TokenRow & Record<string, unknown>>(sql`
    select id, wallet, label, scopes, prefix, hash, created_at as "createdAt", expires_at as "expiresAt",
      last_used_at as "lastUsedAt", revoked_at as "revokedAt"
    from tokens where hash = ${hash}`)
  return row
}

/** Query for `id`, `wallet` and `last_used_at` of the token with this SHA-256, if it is active at `now`. */
export function selectActiveToken(hash: SQL, now: Date): SQL {
  return sql`select id, wallet, last_used_at from tokens
    where hash = ${hash} and revoked_at is null and expires_at > ${now}::timestamptz`
}

/** Records a token's last use, unless one after `staleBefore` is recorded. */
export async function saveLastUse(
  db: Db,
  id: number,
  { usedAt, staleBefore }: { readonly usedAt: Date; readonly staleBefore: Date },
): Promise<void> {
  const isStale = or(isNull(tokens.lastUsedAt), lte(tokens.lastUsedAt, staleBefore))
  await db
    .update(tokens)
    .set({ lastUsedAt: usedAt })
    .where(and(eq(tokens.id, id), isStale))
}

/** The wallet's tokens, active ones first, then the newest; at most `LISTED_TOKENS_MAX`. */
export async function listTokens(db: Db, wallet: Address, now: Date): Promise<readonly TokenRow[]> {
  const isActive = sql`(${and(isNull(tokens.revokedAt), gt(tokens.expiresAt, now))})`
  return db
    .select()
    .from(tokens)
    .where(eq(tokens.wallet, wallet))
    .orderBy(desc(isActive), desc(tokens.createdAt), desc(tokens.id))
    .limit(LISTED_TOKENS_MAX)
}

/**
 * Revokes a token of the wallet; a revoked token keeps the time of its first revocation.
 *
 * @returns false if the wallet has no such token
 */
export async function revokeToken(
  db: Db,
  wallet: Address,
  { id, revokedAt }: { readonly id: number; readonly revokedAt: Date },
): Promise<boolean> {
  const revoked = await db
    .update(tokens)
    .set({ revokedAt: sql`coalesce(${tokens.revokedAt}, ${revokedAt})` })
    .where(and(eq(tokens.wallet, wallet), eq(tokens.id, id)))
    .returning({ id: tokens.id })
  return revoked.length > 0
}

/** Deletes tokens that expired or were revoked before the instant. */
export async function deleteTokensEndedBefore(db: Db, instant: Date): Promise<void> {
  for (const column of [tokens.expiresAt, tokens.revokedAt]) {
    await deleteInBatches(async (limit) => {
      const ended = db
        .select({ id: tokens.id })
        .from(tokens)
        .where(lt(column, instant))
        .orderBy(column)
        .limit(limit)
      const gone = await db
        .delete(tokens)
        .where(inArray(tokens.id, ended))
        .returning({ id: tokens.id })
      return gone.length
    })
  }
}
