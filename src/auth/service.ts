import { randomBytes } from 'node:crypto'
import type { Chain } from '#src/chain/chain.ts'
import type { Db, SQL } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { issueToken } from './issue-token.ts'
import { readMessage, writeMessage } from './message.ts'
import type {
  Challenge,
  ChallengeRequest,
  IssuedToken,
  StoredChallenge,
  TokenList,
  TokenMetadata,
  TokenRequest,
} from './model.ts'
import { ACTIVE_TOKENS_MAX, LAST_USE_PRECISION_MS } from './model.ts'
import {
  challengeExpiry,
  grantedScopes,
  judgeChallenge,
  mustRecordUse,
  tokenStatus,
} from './rules.ts'
import * as store from './store.ts'
import { hashToken, hasTokenForm } from './token.ts'
import { createTokenUses } from './token-uses.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** Dependencies of checking a signed challenge. */
export interface SignInDeps extends Deps {
  readonly chain: Pick<Chain, 'verifyMessage'>
}

/** The wallet that signed in, and the scopes and label it consented to. */
export type SignedIn = Pick<StoredChallenge, 'wallet' | 'scopes' | 'label'>

const NONCE_BYTES = 16
/** Retention of expired challenges. Later exchanges get `message_mismatch` instead of `nonce_expired`. */
const EXPIRED_CHALLENGE_RETENTION_MS = DAY_MS
const ENDED_TOKENS_KEPT_MS = 90 * DAY_MS

/** Creates the challenge that the wallet is to sign. An unsigned challenge grants no right. */
export async function createChallenge(
  deps: Deps & { readonly publicUrl: string },
  input: ChallengeRequest,
): Promise<Challenge> {
  const { wallet, label } = input
  const issuedAt = deps.clock.now()
  const expiresAt = challengeExpiry(issuedAt)
  const nonce = randomBytes(NONCE_BYTES).toString('hex')
  const scopes = grantedScopes(input.scopes)
  const { publicUrl } = deps
  const message = await writeMessage({ publicUrl, wallet, scopes, nonce, issuedAt, expiresAt })
  const challenge = {
    nonce,
    wallet,
    scopes,
    label,
    message,
    issuedAt,
    expiresAt,
    usedAt: undefined,
  }
  await store.insertChallenge(deps.db, challenge)
  return { wallet, nonce, issuedAt, message }
}

/**
 * Verifies a signed challenge, spends it, and runs `then` in the same transaction.
 *
 * A wrong signature spends the challenge, too. If the chain does not answer or `then` throws, the
 * transaction is rolled back and the challenge can be sent again.
 *
 * @param deps its `db` must not be a transaction, otherwise a refusal could not spend the challenge
 * @throws AppError unauthenticated `message_mismatch`, `nonce_used`, `nonce_expired`, `invalid_signature`
 * @throws AppError forbidden `wallet_banned`
 * @throws AppError upstream `dependency_unavailable`
 */
export async function signIn<T>(
  deps: SignInDeps,
  request: TokenRequest,
  then: (tx: Db, signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  return await verify(deps, request, async (challenge, isSigned) => {
    const now = deps.clock.now()
    const outcome = await deps.db.transaction(async (tx) => {
      const isOurs = await store.spendChallenge(tx, challenge.nonce, now)
      if (!isOurs) return { ok: false, reason: 'nonce_used' } as const
      // Returned instead of thrown, so that the transaction commits and the challenge stays spent.
      if (!isSigned) return { ok: false, reason: 'invalid_signature' } as const
      // The lock makes a ban at the same moment come before or after, never beside.
      await store.lockTokens(tx, [challenge.wallet], { isPatient: true })
      if ((await store.findBan(tx, challenge.wallet)) !== undefined) {
        return { ok: false, reason: 'wallet_banned' } as const
      }
      return { ok: true, value: await then(tx, challenge) } as const
    })
    if (outcome.ok) return outcome.value
    const { reason } = outcome
    throw new AppError(reason === 'wallet_banned' ? 'forbidden' : 'unauthenticated', reason)
  })
}

/**
 * Verifies a signed challenge that may still be exchanged, then runs `spend`, which alone decides whether it was
 * used meanwhile.
 */
async function verify<T>(
  deps: SignInDeps,
  { message, signature }: TokenRequest,
  spend: (challenge: StoredChallenge, isSigned: boolean) => Promise<T>,
): Promise<T> {
  const now = deps.clock.now()
  const nonce = (await readMessage(message))?.nonce
  const found = nonce === undefined ? undefined : await store.findChallenge(deps.db, nonce)
  const judged = judgeChallenge(found, message, now)
  if (!judged.ok) throw new AppError('unauthenticated', judged.reason)
  const { challenge } = judged
  const running = runningVerifications.get(challenge.nonce)
  if (running !== undefined) return await refuseAfterOther(running)
  const check = async () => {
    // Verified before any transaction begins: the chain may take long to answer, and meanwhile neither a
    // row nor a connection may be held.
    const address = challenge.wallet
    const isSigned = await deps.chain.verifyMessage({ address, message, signature })
    return await spend(challenge, isSigned)
  }
  const own = check()
  runningVerifications.set(challenge.nonce, own)
  try {
    return await own
  } finally {
    runningVerifications.delete(challenge.nonce)
  }
}

/**
 * Verifications in progress in this process, by nonce: concurrent requests with the same nonce share a
 * single call to the chain.
 */
const runningVerifications = new Map<string, Promise<unknown>>()

/**
 * Refuses a request whose challenge another request is verifying, with `nonce_used` or the error of that
 * verification.
 */
async function refuseAfterOther(running: Promise<unknown>): Promise<never> {
  try {
    await running
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'unauthenticated') throw error
  }
  throw new AppError('unauthenticated', 'nonce_used')
}

/**
 * Exchanges a signed challenge for a token. Only this result contains the token.
 *
 * @throws the errors of `signIn`
 * @throws AppError conflict `token_limit_reached`; the challenge can be sent again after a revocation
 */
export async function exchangeToken(deps: SignInDeps, input: TokenRequest): Promise<IssuedToken> {
  return await verify(deps, input, (challenge, isSigned) => issueToken(deps, challenge, isSigned))
}

/**
 * Verifies a signed challenge and leaves it unspent, for a code that is exchanged later. A wrong signature spends it.
 *
 * @throws the errors of `signIn`, which a banned wallet gets here, too
 * @throws AppError conflict `token_limit_reached`
 */
export async function acceptSigned(
  deps: SignInDeps,
  request: TokenRequest,
): Promise<StoredChallenge> {
  return await verify(deps, request, async (challenge, isSigned) => {
    if (!isSigned) await issueToken(deps, challenge, isSigned)
    if ((await store.findBan(deps.db, challenge.wallet)) !== undefined) {
      throw new AppError('forbidden', 'wallet_banned')
    }
    const listed = await store.listTokens(deps.db, challenge.wallet, deps.clock.now())
    const active = listed.filter((row) => tokenStatus(row, deps.clock.now()) === 'active')
    if (active.length < ACTIVE_TOKENS_MAX) return challenge
    const values = { count: ACTIVE_TOKENS_MAX }
    throw new AppError('conflict', 'token_limit_reached', { values })
  })
}

/**
 * Exchanges a challenge whose signature `acceptSigned` verified, by its nonce. A second exchange revokes the token of the
 * first: one of the two programs stole the code, and nobody knows which.
 *
 * @throws AppError unauthenticated `message_mismatch`, `nonce_used`, `nonce_expired`; conflict `token_limit_reached`;
 * forbidden `wallet_banned`
 * @see RFC 6749, section 4.1.2
 */
export async function exchangeAccepted(deps: Deps, nonce: string): Promise<IssuedToken> {
  const found = await store.findChallenge(deps.db, nonce)
  if (found === undefined) throw new AppError('unauthenticated', 'message_mismatch')
  try {
    const judged = judgeChallenge(found, found.message, deps.clock.now())
    if (!judged.ok) throw new AppError('unauthenticated', judged.reason)
    return await issueToken(deps, judged.challenge, true)
  } catch (error) {
    if (error instanceof AppError && error.code === 'nonce_used') {
      await store.revokeTokenOf(deps.db, found, deps.clock.now())
    }
    throw error
  }
}

/**
 * Returns the caller that a token authenticates, with one indexed read. Records the use of the token at
 * most once a minute.
 *
 * @throws AppError unauthenticated `invalid_token` for a malformed, unknown, expired or revoked token
 */
export async function authenticate(deps: Deps, token: string): Promise<Caller> {
  const found = hasTokenForm(token)
    ? await store.findTokenByHash(deps.db, hashToken(token))
    : undefined
  const now = deps.clock.now()
  if (found === undefined || tokenStatus(found, now) !== 'active') {
    throw new AppError('unauthenticated', 'invalid_token')
  }
  if (mustRecordUse(found.lastUsedAt, now)) {
    await store.saveLastUse(deps.db, new Map([[found.id, now]]), LAST_USE_PRECISION_MS)
  }
  return {
    wallet: storedAddress(found.wallet),
    scopes: grantedScopes(found.scopes),
    via: 'http',
    tokenId: found.id,
  }
}

/** The two steps of `authenticate`, for a statement of another room that looks up the token itself. */
export interface ApiTokenLookup {
  /**
   * Query for `id`, `wallet` and `last_used_at` of the token with this SHA-256, if it is active at `now`.
   */
  activeTokenQuery(hash: SQL, now: Date): SQL
  /** Records, at most once a minute, the use of a token that the statement found. Never rejects. */
  recordUse(
    token: { readonly id: number; readonly lastUsedAt: Date | null },
    now: Date,
  ): Promise<void>
}

/** Creates the token lookup for statements of this database. */
export function createTokenLookup(deps: { readonly db: Db; readonly log: Logger }): ApiTokenLookup {
  const uses = createTokenUses(deps)
  return {
    activeTokenQuery: store.activeTokenQuery,
    async recordUse({ id, lastUsedAt }, now) {
      if (mustRecordUse(lastUsedAt, now)) await uses.record(id, now)
    },
  }
}

/**
 * SHA-256 of a token, by which a statement of another room finds the token.
 *
 * @throws AppError unauthenticated `invalid_token` for a malformed token
 */
export function hashOfToken(token: string): string {
  if (!hasTokenForm(token)) throw new AppError('unauthenticated', 'invalid_token')
  return hashToken(token)
}

/** The wallet's tokens, active ones first, then the newest; at most 50. */
export async function listTokens(deps: Deps, caller: Caller): Promise<TokenList> {
  const now = deps.clock.now()
  const rows = await store.listTokens(deps.db, caller.wallet, now)
  return { data: rows.map((row) => toMetadata(row, now)), nextCursor: null }
}

/**
 * Revokes a token of the caller's wallet, effective with the next request. Idempotent.
 *
 * @throws AppError not_found
 */
export async function revokeToken(
  deps: Deps,
  caller: Caller,
  { id }: { readonly id: number },
): Promise<void> {
  const revokedAt = deps.clock.now()
  const isThere = await store.revokeToken(deps.db, caller.wallet, { id, revokedAt })
  if (!isThere) throw new AppError('not_found', 'not_found')
}

/** Deletes challenges a day after they expired, and tokens 90 days after they ended. */
export async function pruneSignIns(deps: Deps): Promise<void> {
  const ago = (ms: number) => new Date(deps.clock.now().getTime() - ms)
  await store.deleteChallengesExpiredBefore(deps.db, ago(EXPIRED_CHALLENGE_RETENTION_MS))
  await store.deleteTokensEndedBefore(deps.db, ago(ENDED_TOKENS_KEPT_MS))
}

function toMetadata(row: store.TokenRow, now: Date): TokenMetadata {
  return {
    id: row.id,
    label: row.label,
    scopes: [...grantedScopes(row.scopes)],
    prefix: row.prefix,
    status: tokenStatus(row, now),
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt,
    revokedAt: row.revokedAt,
  }
}
