import { randomBytes } from 'node:crypto'
import type { Chain } from '#src/chain/chain.ts'
import type { Db, SQL } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { storedAddress } from '#src/kernel/units.ts'
import { readMessage, writeMessage } from './message.ts'
import {
  ACTIVE_TOKENS_MAX,
  type Challenge,
  type ChallengeRequest,
  type IssuedToken,
  LAST_USE_PRECISION_MS,
  type StoredChallenge,
  type TokenList,
  type TokenMetadata,
  type TokenRequest,
} from './model.ts'
import {
  challengeExpiry,
  grantedScopes,
  hasRoomForToken,
  isUseNews,
  judgeChallenge,
  tokenExpiry,
  tokenStatus,
} from './rules.ts'
import * as store from './store.ts'
import { createToken, hashToken, isTokenForm, prefixOf } from './token.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** What is needed to check a signed challenge. */
export interface SignInDeps extends Deps {
  readonly chain: Pick<Chain, 'verifyMessage'>
}

/** Who signed in, and to what they consented. */
export type SignedIn = Pick<StoredChallenge, 'wallet' | 'scopes' | 'label'>

const NONCE_BYTES = 16
/** After that a late exchange is told `message_mismatch` instead of `nonce_expired`. */
const CHALLENGES_KEPT_MS = DAY_MS
const ENDED_TOKENS_KEPT_MS = 90 * DAY_MS

/** Makes the text that the wallet is to sign. Gives nobody any right yet. */
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
  const message = writeMessage({ publicUrl, wallet, scopes, nonce, issuedAt, expiresAt })
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
 * Spends a signed challenge and does what it was signed for, in one transaction, once the signature is known
 * to be good or wrong.
 *
 * A wrong signature spends the challenge too. When the chain does not answer, or `then` throws, nothing
 * has happened and the challenge can be sent again.
 *
 * @param deps its `db` must not be a transaction, or a refusal could not spend the challenge
 * @throws AppError unauthenticated `message_mismatch`, `nonce_used`, `nonce_expired`, `invalid_signature`
 * @throws AppError upstream `dependency_unavailable`
 */
export async function signIn<T>(
  deps: SignInDeps,
  { message, signature }: TokenRequest,
  then: (tx: Db, signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  const now = deps.clock.now()
  const nonce = readMessage(message)?.nonce
  const found = nonce === undefined ? undefined : await store.findChallenge(deps.db, nonce)
  const judged = judgeChallenge(found, message, now)
  if (!judged.ok) throw new AppError('unauthenticated', judged.reason)
  const { challenge } = judged
  const running = inHand.get(challenge.nonce)
  if (running !== undefined) return await afterAnother(running)
  const own = finishSignIn(deps, { message, signature }, challenge, then)
  inHand.set(challenge.nonce, own)
  try {
    return await own
  } finally {
    inHand.delete(challenge.nonce)
  }
}

/** Sign-ins that this process checks right now, by nonce: the chain is asked once for all that come meanwhile. */
const inHand = new Map<string, Promise<unknown>>()

/** What somebody hears whose challenge another request was spending: that it is spent, or why it could not be. */
async function afterAnother(running: Promise<unknown>): Promise<never> {
  try {
    await running
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'unauthenticated') throw error
  }
  throw new AppError('unauthenticated', 'nonce_used')
}

async function finishSignIn<T>(
  deps: SignInDeps,
  { message, signature }: TokenRequest,
  challenge: StoredChallenge,
  then: (tx: Db, signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  const now = deps.clock.now()
  const address = challenge.wallet
  // Before the transaction: whoever asks the chain may wait long, and holds neither row nor connection.
  const isSigned = await deps.chain.verifyMessage({ address, message, signature })

  const outcome = await deps.db.transaction(async (tx) => {
    const isOurs = await store.spendChallenge(tx, challenge.nonce, now)
    if (!isOurs) return { ok: false, reason: 'nonce_used' } as const
    // A value, not an exception: the challenge stays spent.
    if (!isSigned) return { ok: false, reason: 'invalid_signature' } as const
    return { ok: true, value: await then(tx, challenge) } as const
  })
  if (!outcome.ok) throw new AppError('unauthenticated', outcome.reason)
  return outcome.value
}

/**
 * Exchanges a signed challenge for a token. The token is in the answer and nowhere else.
 *
 * @throws AppError as `signIn` does
 * @throws AppError conflict `token_limit_reached`; the challenge can be sent again after a revocation
 */
export async function exchangeToken(deps: SignInDeps, input: TokenRequest): Promise<IssuedToken> {
  return signIn(deps, input, async (tx, { wallet, scopes, label }) => {
    const createdAt = deps.clock.now()
    await store.lockTokensOfWallet(tx, wallet)
    if (!hasRoomForToken(await store.countActiveTokens(tx, wallet, createdAt))) {
      const values = { count: ACTIVE_TOKENS_MAX }
      throw new AppError('conflict', 'token_limit_reached', { values })
    }
    const token = createToken()
    const expiresAt = tokenExpiry(createdAt)
    const known = { prefix: prefixOf(token), hash: hashToken(token) }
    await store.insertToken(tx, { wallet, label, scopes, ...known, createdAt, expiresAt })
    return { token, wallet, scopes: [...scopes], expiresAt }
  })
}

/**
 * Who a token speaks for. One indexed read; at most once a minute the use is written down.
 *
 * @throws AppError unauthenticated `invalid_token` for what is no token, unknown, expired or revoked
 */
export async function authenticate(deps: Deps, token: string): Promise<Caller> {
  const found = isTokenForm(token)
    ? await store.findTokenByHash(deps.db, hashToken(token))
    : undefined
  const now = deps.clock.now()
  if (found === undefined || tokenStatus(found, now) !== 'active') {
    throw new AppError('unauthenticated', 'invalid_token')
  }
  if (isUseNews(found.lastUsedAt, now)) {
    await store.saveLastUse(deps.db, found.id, { usedAt: now, staleBefore: lastNews(now) })
  }
  return {
    wallet: storedAddress(found.wallet),
    scopes: grantedScopes(found.scopes),
    via: 'http',
    tokenId: found.id,
  }
}

/** What `authenticate` does, for a statement of another room that does it on the way. */
export interface TokenLookup {
  /** Selects `id`, `wallet` and `last_used_at` of the token with this SHA-256 if it is active then. */
  activeTokenQuery(hash: SQL, now: Date): SQL
  /** Writes down, at most once a minute, a use that the statement found. Never rejects. */
  recordUse(
    token: { readonly id: number; readonly lastUsedAt: Date | null },
    now: Date,
  ): Promise<void>
}

/** Finds tokens in statements of this database. */
export function createTokenLookup(deps: { readonly db: Db; readonly log: Logger }): TokenLookup {
  return {
    activeTokenQuery: store.selectActiveToken,
    async recordUse({ id, lastUsedAt }, now) {
      if (!isUseNews(lastUsedAt, now)) return
      try {
        await store.saveLastUse(deps.db, id, { usedAt: now, staleBefore: lastNews(now) })
      } catch (error) {
        deps.log.warn({ tokenId: id, problem: traceOf(error) }, 'use of a token not noted')
      }
    },
  }
}

/**
 * The SHA-256 by which such a statement finds a token.
 *
 * @throws AppError unauthenticated `invalid_token` for what is no token
 */
export function readToken(token: string): string {
  if (!isTokenForm(token)) throw new AppError('unauthenticated', 'invalid_token')
  return hashToken(token)
}

/** The wallet's tokens, active ones first, then the newest; at most 50. */
export async function listTokens(deps: Deps, caller: Caller): Promise<TokenList> {
  const now = deps.clock.now()
  const rows = await store.listTokens(deps.db, caller.wallet, now)
  return { data: rows.map((row) => toMetadata(row, now)), nextCursor: null }
}

/**
 * Revokes a token of the caller's wallet, from the next request on. Twice is fine.
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

/** Forgets challenges a day after they expired, and tokens 90 days after they ended. */
export async function pruneSignIns(deps: Deps): Promise<void> {
  const ago = (ms: number) => new Date(deps.clock.now().getTime() - ms)
  await store.deleteChallengesExpiredBefore(deps.db, ago(CHALLENGES_KEPT_MS))
  await store.deleteTokensEndedBefore(deps.db, ago(ENDED_TOKENS_KEPT_MS))
}

/** A use before this is old enough for another to be written down at `now`. */
function lastNews(now: Date): Date {
  return new Date(now.getTime() - LAST_USE_PRECISION_MS)
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
