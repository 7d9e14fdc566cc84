import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import {
  ACTIVE_TOKENS_MAX,
  CHALLENGE_LIFETIME_MS,
  LAST_USE_PRECISION_MS,
  type StoredChallenge,
  TOKEN_LIFETIME_MS,
  type TokenStatus,
} from './model.ts'

/** Why a challenge cannot be exchanged. */
export type ChallengeRefusal = 'message_mismatch' | 'nonce_used' | 'nonce_expired'

/**
 * Whether a challenge can be exchanged now, for this message.
 *
 * The message must be the kept one byte for byte. Used says more than expired: it stays true.
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

/** What a token may do when these scopes are asked for: each once, `read` always. */
export function grantedScopes(asked: readonly string[]): readonly Scope[] {
  return SCOPES.filter((scope) => scope === 'read' || asked.includes(scope))
}

/** When a challenge issued now expires. */
export function challengeExpiry(issuedAt: Date): Date {
  return new Date(issuedAt.getTime() + CHALLENGE_LIFETIME_MS)
}

/** When a token made now expires. */
export function tokenExpiry(createdAt: Date): Date {
  return new Date(createdAt.getTime() + TOKEN_LIFETIME_MS)
}

/** Whether a token opens anything now. Revoked says more than expired. */
export function tokenStatus(
  token: { readonly expiresAt: Date; readonly revokedAt: Date | null },
  now: Date,
): TokenStatus {
  if (token.revokedAt !== null) return 'revoked'
  return now >= token.expiresAt ? 'expired' : 'active'
}

/** Whether a wallet with this many active tokens can have one more. */
export function hasRoomForToken(activeTokens: number): boolean {
  return activeTokens < ACTIVE_TOKENS_MAX
}

/** Whether a use at `now` is worth writing down. */
export function isUseNews(lastUsedAt: Date | null, now: Date): boolean {
  return lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= LAST_USE_PRECISION_MS
}
