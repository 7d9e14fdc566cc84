/**
 * A challenge is a text (EIP-4361) that a wallet signs to prove that it holds its key. Its nonce works
 * once, for five minutes, and only for the text it was written into. The scopes are part of that text, so
 * the wallet consents to them.
 *
 * A signed challenge is exchanged for a token: the right to act for the wallet within its scopes, for at
 * most thirty days. The service sends a token once and stores only its SHA-256. A wallet has at most ten
 * active tokens.
 */
import { z } from 'zod'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { Label, oneLine, textOf } from '#src/kernel/label.ts'
import { NoNextCursor } from '#src/kernel/pagination.ts'
import { Address, Id, Instant } from '#src/kernel/units.ts'

/** Time within which a challenge can be exchanged. */
export const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000
/** Lifetime of a token, whether it is used or not. */
export const TOKEN_LIFETIME_MS = 30 * DAY_MS
/** Maximum number of a wallet's active tokens (neither expired nor revoked). */
export const ACTIVE_TOKENS_MAX = 10
/** Maximum number of tokens in a list. */
export const LISTED_TOKENS_MAX = 50
/** Shortest time between two writes of a token's last use. */
export const LAST_USE_PRECISION_MS = 60 * 1000
/** Maximum number of characters of a message; messages of this service are far shorter. */
const MESSAGE_LENGTH_MAX = 4096
/** `0x` and two digits for each of at most 4096 bytes. */
const SIGNATURE_LENGTH_MAX = 2 + 2 * 4096

const Scopes = z.array(z.enum(SCOPES)).describe('operations:field.scopes')

/** Request for a challenge, before signing in. */
export const ChallengeRequest = z
  .strictObject({
    wallet: Address.describe('operations:field.willSign'),
    scopes: z
      .array(z.enum(SCOPES))
      .max(SCOPES.length)
      .default([])
      .describe('operations:field.askedScopes'),
    label: Label.optional()
      .describe('operations:field.tokenLabel')
      .meta({ examples: ['deploy script'] }),
  })
  .meta({ id: 'ChallengeRequest' })
export type ChallengeRequest = z.output<typeof ChallengeRequest>

/** A challenge as it is returned: the message to sign and its expiry. */
export const Challenge = z
  .object({
    wallet: Address.describe('operations:field.mustSign'),
    nonce: z
      .string()
      .describe('operations:field.nonce')
      .meta({ examples: ['b1f06c4dd2a94be7'] }),
    issuedAt: Instant,
    message: z.string().describe('operations:field.signedText'),
  })
  .meta({ id: 'Challenge' })
export type Challenge = z.output<typeof Challenge>

/** A challenge as it is stored. */
export interface StoredChallenge {
  readonly nonce: string
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  readonly label: string | undefined
  /** The exact text that is to be signed. */
  readonly message: string
  readonly expiresAt: Date
  readonly usedAt: Date | undefined
}

/** A signed challenge, sent in exchange for a token. */
export const TokenRequest = z
  .strictObject({
    message: textOf(1, MESSAGE_LENGTH_MAX).describe('operations:field.challengeMessage'),
    signature: oneLine(SIGNATURE_LENGTH_MAX).describe('operations:field.signature'),
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.output<typeof TokenRequest>

/** A new token. Only the response to its creation contains the secret. */
export const IssuedToken = z
  .object({
    token: z
      .string()
      .describe('operations:field.issuedToken')
      .meta({ examples: ['fwd_…'] }),
    wallet: Address,
    scopes: Scopes,
    expiresAt: Instant.describe('operations:field.tokenEnd'),
  })
  .meta({ id: 'IssuedToken' })
export type IssuedToken = z.output<typeof IssuedToken>

/** States of a token; only `active` authenticates. */
const TOKEN_STATUSES = ['active', 'expired', 'revoked'] as const
export type TokenStatus = (typeof TOKEN_STATUSES)[number]

/** A token as it is listed: without its secret and without its hash. */
export const TokenMetadata = z
  .object({
    id: Id,
    label: z.string().nullable(),
    scopes: Scopes,
    prefix: z
      .string()
      .describe('operations:field.tokenPrefix')
      .meta({ examples: ['fwd_3Kd9'] }),
    status: z.enum(TOKEN_STATUSES),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Instant.nullable().describe('operations:field.lastUsed'),
    revokedAt: Instant.nullable(),
  })
  .meta({ id: 'TokenMetadata' })
export type TokenMetadata = z.output<typeof TokenMetadata>

/** A wallet's tokens, active ones first, then the newest; at most 50. */
export const TokenList = z
  .object({ data: z.array(TokenMetadata).max(LISTED_TOKENS_MAX), nextCursor: NoNextCursor })
  .meta({ id: 'TokenList' })
export type TokenList = z.output<typeof TokenList>
