/** Exchanges verified challenges for tokens; concurrent exchanges share one transaction. */
import type { Db } from '#src/db/connection.ts'
import { isConnectionFailure } from '#src/db/session.ts'
import { type Batcher, createBatcher } from '#src/kernel/batcher.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { ACTIVE_TOKENS_MAX, type IssuedToken, type StoredChallenge } from './model.ts'
import { tokenExpiry } from './rules.ts'
import * as store from './store.ts'
import { createToken, displayPrefixOf, hashToken } from './token.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

/** A challenge whose signature was checked. */
interface CheckedChallenge {
  readonly challenge: StoredChallenge
  readonly isSigned: boolean
  readonly clock: Clock
}

interface ExchangeOutcome {
  readonly end: store.ChallengeExchangeResult
  /** The issued token, if the signature was right. */
  readonly issued?: IssuedToken | undefined
}

const LIMITS = {
  batchesAtOnce: 2,
  patienceMs: 50,
  groupsPerBatch: 50,
  // Each exchange must count the tokens that earlier exchanges of the wallet issued.
  itemsPerGroup: 1,
  itemsPerBatch: 50,
  waitingPerKeyMax: 100,
  itemsMax: 5000,
} as const

const batchers = new WeakMap<Db, Batcher<CheckedChallenge, ExchangeOutcome>>()

/**
 * Spends a challenge and issues the token for it; a wrong signature spends the challenge, too. If the
 * wallet has too many tokens, no token is issued and the challenge stays unspent.
 *
 * @param deps its `db` must not be a transaction
 * @throws AppError unauthenticated `nonce_used`, `invalid_signature`; conflict `token_limit_reached`; forbidden
 * `wallet_banned`
 */
export async function issueToken(
  { db, clock }: Deps,
  challenge: StoredChallenge,
  isSigned: boolean,
): Promise<IssuedToken> {
  const batcher = batchers.get(db) ?? createExchanges(db)
  batchers.set(db, batcher)
  const done = batcher.add(challenge.wallet, { challenge, isSigned, clock })
  if (done === undefined)
    throw new AppError('rate_limited', 'rate_limited', { retryAfterSeconds: 1 })
  const outcome = await done
  if (outcome.end === 'used_before') throw new AppError('unauthenticated', 'nonce_used')
  if (outcome.end === 'banned') throw new AppError('forbidden', 'wallet_banned')
  if (outcome.end === 'too_many_tokens') {
    const values = { count: ACTIVE_TOKENS_MAX }
    throw new AppError('conflict', 'token_limit_reached', { values })
  }
  if (outcome.issued === undefined) throw new AppError('unauthenticated', 'invalid_signature')
  return outcome.issued
}

function createExchanges(db: Db): Batcher<CheckedChallenge, ExchangeOutcome> {
  return createBatcher<CheckedChallenge, ExchangeOutcome>({
    ...LIMITS,
    processTogether: async (groups) => {
      const checked = groups.map(([row]) => row)
      try {
        const outcomes = await exchange(db, checked, { isPatient: false })
        return outcomes.map((outcome) => outcome && [outcome])
      } catch (error) {
        // The transaction was rolled back as a whole. A challenge that cannot be exchanged fails only its
        // own request.
        if (isConnectionFailure(error)) throw error
        return []
      }
    },
    processAlone: async ([row]) => {
      const [outcome] = await exchange(db, [row], { isPatient: true })
      return outcome === undefined ? [] : [outcome]
    },
  })
}

/**
 * @returns undefined where another transaction holds the lock of the wallet's tokens; then nothing was
 * changed
 */
async function exchange(
  db: Db,
  checked: readonly CheckedChallenge[],
  patience: { readonly isPatient: boolean },
): Promise<readonly (ExchangeOutcome | undefined)[]> {
  const [first] = checked
  if (first === undefined) return []
  const at = first.clock.now()
  const expiresAt = tokenExpiry(at)
  const prepared = checked.map(prepare)
  const ends = await db.transaction(async (tx) => {
    const wallets = checked.map(({ challenge }) => challenge.wallet)
    const locked = await store.lockTokens(tx, wallets, patience)
    const held = prepared.flatMap(({ exchange }) => (locked.has(exchange.wallet) ? [exchange] : []))
    if (held.length === 0) return new Map<string, store.ChallengeExchangeResult>()
    return await store.exchangeChallenges(tx, held, {
      at,
      expiresAt,
      tokensMax: ACTIVE_TOKENS_MAX,
    })
  })
  return prepared.map(({ exchange: { nonce, wallet, token: known }, token }) => {
    const end = ends.get(nonce)
    if (end === undefined) return undefined
    if (end !== 'spent' || known === undefined) return { end }
    return { end, issued: { token, wallet, scopes: [...known.scopes], expiresAt } }
  })
}

function prepare({ challenge: { nonce, wallet, label, scopes }, isSigned }: CheckedChallenge): {
  readonly exchange: store.ChallengeExchange
  readonly token: string
} {
  const token = createToken()
  const known = { label, scopes, prefix: displayPrefixOf(token), hash: hashToken(token) }
  return { exchange: { nonce, wallet, token: isSigned ? known : undefined }, token }
}
