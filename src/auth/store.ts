import { and, desc, eq, gt, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { lockKey } from '#src/db/advisory-lock.ts'
import { batchedRead } from '#src/db/batched-read.ts'
import type { Db } from '#src/db/connection.ts'
import { deleteInBatches } from '#src/db/delete-in-batches.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'
import { LISTED_TOKENS_MAX, type StoredChallenge } from './model.ts'
import { grantedScopes } from './rules.ts'
import { bans, challenges, tokens } from './tables.ts'

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

interface ChallengeRow extends Record<string, unknown> {
  readonly nonce: string
  readonly wallet: string
  readonly scopes: readonly string[]
  readonly label: string | null
  readonly message: string
  readonly expiresAt: Date
  readonly usedAt: Date | null
}

async function findChallenges(
  db: Db,
  nonces: readonly string[],
): Promise<ReadonlyMap<string, StoredChallenge>> {
  const rows = await db.execute<ChallengeRow>(sql`
    select nonce, wallet, scopes, label, message, expires_at as "expiresAt", used_at as "usedAt"
    from unnest(${sql.param(nonces)}::text[]) as asked (name)
      cross join lateral (select * from challenges where nonce = asked.name limit 1) as challenge`)
  return new Map(rows.map((row) => [row.nonce, toChallenge(row)]))
}

/** The challenge with this nonce, used or not. Concurrent calls share a statement. */
export const findChallenge = batchedRead((nonce: string) => nonce, findChallenges)

function toChallenge(row: ChallengeRow): StoredChallenge {
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

/** A verified challenge to spend, and the token to issue for it. */
export interface ChallengeExchange {
  readonly nonce: string
  readonly wallet: Address
  /**
   * The token to issue; undefined if the signature is wrong: then the challenge is spent and nothing is
   * issued.
   */
  readonly token:
    | {
        readonly label: string | undefined
        readonly scopes: readonly Scope[]
        readonly prefix: string
        readonly hash: string
      }
    | undefined
}

/**
 * Result for a challenge. `spent`: by this exchange. `used_before`: by an earlier exchange.
 * `too_many_tokens`: the wallet has too many tokens, and the challenge is not spent. `banned`: nor is that of a banned wallet.
 */
export type ChallengeExchangeResult = 'spent' | 'used_before' | 'too_many_tokens' | 'banned'

/**
 * Locks the tokens of wallets until the transaction ends, so that no other transaction counts or issues
 * tokens of these wallets.
 *
 * @returns the locked wallets: with `isPatient` it waits and returns all, otherwise those that no other
 * transaction holds
 */
export async function lockTokens(
  db: Db,
  wallets: readonly Address[],
  { isPatient }: { readonly isPatient: boolean },
): Promise<ReadonlySet<string>> {
  const keys = sql.param(wallets.map((wallet) => lockKey(`tokens ${wallet}`)))
  const lock = isPatient
    ? sql`pg_advisory_xact_lock(key)::text is not null`
    : sql`pg_try_advisory_xact_lock(key)`
  const rows = await db.execute<{ wallet: string; held: boolean }>(sql`
    select wallet, ${lock} as held
    from unnest(${sql.param(wallets)}::text[], ${keys}::bigint[]) as asked (wallet, key)`)
  return new Set(rows.flatMap(({ wallet, held }) => (held ? [wallet] : [])))
}

/**
 * Spends challenges and issues their tokens, in one statement. The caller must have locked the tokens of
 * each wallet with `lockTokens` in an earlier statement, and must pass each wallet once.
 *
 * A challenge whose wallet has `tokensMax` active tokens is not spent.
 *
 * @returns the result of each challenge, by nonce
 */
export async function exchangeChallenges(
  db: Db,
  exchanges: readonly ChallengeExchange[],
  options: { readonly at: Date; readonly expiresAt: Date; readonly tokensMax: number },
): Promise<ReadonlyMap<string, ChallengeExchangeResult>> {
  const { expiresAt, tokensMax } = options
  const at = sql`${options.at}::timestamptz`
  const column = (pick: (exchange: ChallengeExchange) => unknown) => sql.param(exchanges.map(pick))
  const rows = await db.execute<{ nonce: string; result: ChallengeExchangeResult }>(sql`
    with asked as materialized (
      select asked.*, (select count(*) from tokens where tokens.wallet = asked.wallet
        and revoked_at is null and expires_at > ${at}) as active,
        exists (select from bans where bans.wallet = asked.wallet) as is_banned
      from unnest(
        ${column(({ nonce }) => nonce)}::text[],
        ${column(({ wallet }) => wallet)}::text[],
        ${column(({ token }) => token?.hash ?? null)}::text[],
        ${column(({ token }) => token?.prefix ?? null)}::text[],
        ${column(({ token }) => token?.label ?? null)}::text[],
        ${column(({ token }) => token?.scopes.join() ?? null)}::text[]
      ) as asked (nonce, wallet, hash, prefix, label, scopes)
    ), fitting as (
      select * from asked where hash is null or (active < ${tokensMax}::int and not is_banned)
    ), spent as (
      update challenges set used_at = ${at} from fitting
      where challenges.nonce = fitting.nonce and challenges.wallet = fitting.wallet and used_at is null
      returning challenges.nonce
    ), issued as (
      insert into tokens (wallet, label, scopes, prefix, hash, created_at, expires_at)
      select wallet, label, string_to_array(scopes, ','), prefix, hash, ${at}, ${expiresAt}::timestamptz
      from fitting join spent using (nonce) where hash is not null
    )
    select nonce, case
      when exists (select from spent where spent.nonce = asked.nonce) then 'spent'
      when hash is not null and is_banned then 'banned'
      when hash is not null and active >= ${tokensMax}::int and exists (
        select from challenges where challenges.nonce = asked.nonce
          and challenges.wallet = asked.wallet and used_at is null) then 'too_many_tokens'
      else 'used_before' end as result
    from asked`)
  return new Map(rows.map(({ nonce, result }) => [nonce, result]))
}

/** The columns of a token that authentication reads. */
type KnownToken = Pick<
  TokenRow,
  'id' | 'wallet' | 'scopes' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'
>

async function findTokensByHash(
  db: Db,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, KnownToken>> {
  // Plain SQL, because this query is part of every request, and building it with Drizzle takes longer than
  // running it. The `limit 1` in the lateral join keeps PostgreSQL on one index lookup per token, so it can
  // reuse one plan, whatever the number of hashes.
  const rows = await db.execute<KnownToken & { hash: string }>(sql`
    select hash, id, wallet, scopes, expires_at as "expiresAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from unnest(${sql.param(hashes)}::text[]) as asked (name)
      cross join lateral (select * from tokens where hash = asked.name limit 1) as token`)
  return new Map(rows.map((row) => [row.hash, row]))
}

/** The token with this SHA-256, in any status. Concurrent calls share a statement. */
export const findTokenByHash = batchedRead((hash: string) => hash, findTokensByHash)

/** Query for `id`, `wallet` and `last_used_at` of the token with this SHA-256, if it is active at `now`. */
export function activeTokenQuery(hash: SQL, now: Date): SQL {
  return sql`select id, wallet, last_used_at from tokens
    where hash = ${hash} and revoked_at is null and expires_at > ${now}::timestamptz`
}

/**
 * Records the last use of tokens, except where a use is recorded that is less than `precisionMs` older. A row that
 * another transaction has locked is left out: it is being used or revoked.
 */
export async function saveLastUse(
  db: Db,
  usedAt: ReadonlyMap<number, Date>,
  precisionMs: number,
): Promise<void> {
  const uses = sql`unnest(
    ${sql.param([...usedAt.keys()])}::int[], ${sql.param([...usedAt.values()])}::timestamptz[]) as u(id, used_at)`
  await db.execute(sql`
    update tokens t set last_used_at = u.used_at
    from ${uses}
    where t.id = u.id and t.id = any(array(
      select t.id from tokens t join ${uses} on u.id = t.id
      where t.last_used_at is null
        or t.last_used_at <= u.used_at - ${precisionMs}::int * interval '1 millisecond'
      for update of t skip locked))`)
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

/**
 * Revokes the token that was issued for a challenge of the wallet. The token has the time at which the challenge was spent;
 * another token of the wallet with this label would need the same millisecond, and is revoked with it.
 */
export async function revokeTokenOf(
  db: Db,
  { wallet, nonce }: Pick<StoredChallenge, 'wallet' | 'nonce'>,
  revokedAt: Date,
): Promise<void> {
  await db
    .update(tokens)
    .set({ revokedAt })
    .from(challenges)
    .where(
      and(
        eq(challenges.nonce, nonce),
        eq(challenges.wallet, wallet),
        eq(tokens.wallet, wallet),
        eq(tokens.createdAt, challenges.usedAt),
        sql`${tokens.label} is not distinct from ${challenges.label}`,
        isNull(tokens.revokedAt),
      ),
    )
}

/**
 * Bans a wallet. The caller must have locked its tokens with `lockTokens`.
 * @returns false if it was banned already; the first reason stays
 */
export async function insertBan(db: Db, ban: typeof bans.$inferInsert): Promise<boolean> {
  const banned = await db.insert(bans).values(ban).onConflictDoNothing().returning()
  return banned.length > 0
}

/** @returns whether the wallet was banned */
export async function deleteBan(db: Db, wallet: Address): Promise<boolean> {
  const ended = await db.delete(bans).where(eq(bans.wallet, wallet)).returning()
  return ended.length > 0
}

/** The ban of a wallet; undefined if it is not banned. */
export async function findBan(
  db: Db,
  wallet: Address,
): Promise<{ readonly reason: string; readonly bannedAt: Date } | undefined> {
  const [ban] = await db.select().from(bans).where(eq(bans.wallet, wallet))
  return ban
}

/** Revokes every active token of the wallet. @returns their number */
export async function revokeTokens(db: Db, wallet: Address, revokedAt: Date): Promise<number> {
  const revoked = await db
    .update(tokens)
    .set({ revokedAt })
    .where(
      and(eq(tokens.wallet, wallet), isNull(tokens.revokedAt), gt(tokens.expiresAt, revokedAt)),
    )
    .returning({ id: tokens.id })
  return revoked.length
}

/** Deletes the challenges and tokens of the wallet. */
export async function deleteSignIns(db: Db, wallet: Address): Promise<void> {
  await db.delete(challenges).where(eq(challenges.wallet, wallet))
  await db.delete(tokens).where(eq(tokens.wallet, wallet))
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
