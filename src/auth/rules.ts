import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import {
  CHALLENGE_LIFETIME_MS,
  LAST_USE_PRECISION_MS,
  type StoredChallenge,
  TOKEN_LIFETIME_MS,
  type TokenStatus,
} from './model.ts'

/** Reason why a challenge cannot be exchanged. */
export type ChallengeRefusal = 'message_mismatch' | 'nonce_used' | 'nonce_expired'

/**
 * Checks whether a challenge can be exchanged now, for this message.
 *
 * The message must equal the stored message byte for byte. `nonce_used` takes precedence over
 * `nonce_expired`, because a used nonce stays used.
 */
export function judgeChallenge(
  challenge: StoredChallenge | undefined,
  message: string,
  now: Date,
):
  | { readonly ok: true; readonly challenge: StoredChallenge }
  | { readonly ok: false; readonly reason: ChallengeRefusal } {
  if (challenge === undefined || challenge.message !== message) {
    return { ok: false, reason: 'message_mismatch' }
  }
  if (challenge.usedAt !== undefined) return { ok: false, reason: 'nonce_used' }
  if (now >= challenge.expiresAt) return { ok: false, reason: 'nonce_expired' }
  return { ok: true, challenge }
}

/** Scopes of a new token: the requested ones without duplicates, and always `read`. */
export function grantedScopes(asked: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'read' || asked.includes(scope))
}

/** Expiry of a challenge that is issued now. */
export function challengeExpiry(issuedAt: Date): Date {
  return new Date(issuedAt.getTime() + CHALLENGE_LIFETIME_MS)
}

/** Expiry of a token that is created now. */
export function tokenExpiry(createdAt: Date): Date {
  return new Date(createdAt.getTime() + TOKEN_LIFETIME_MS)
}

/** Status of a token now. `revoked` takes precedence over `expired`. */
export function tokenStatus(
  token: { readonly expiresAt: Date; readonly revokedAt: Date | null },
  now: Date,
): TokenStatus {
  if (token.revokedAt !== null) return 'revoked'
  return now >= token.expiresAt ? 'expired' : 'active'
}

/** Whether a use at `now` is recorded: at most one per `LAST_USE_PRECISION_MS`. */
export function mustRecordUse(lastUsedAt: Date | null, now: Date): boolean {
  return lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= LAST_USE_PRECISION_MS
}
