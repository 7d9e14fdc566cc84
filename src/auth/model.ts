/**
 * A challenge is a text (EIP-4361) that a wallet signs to prove itself. Its nonce works once, for five
 * minutes, and only for the text it was written into. The scopes are part of that text, so the wallet
 * consents to them.
 *
 * A token is what a signed challenge is exchanged for: the right to act for the wallet within its
 * scopes, for thirty days at most. It leaves the service once; what stays is its SHA-256. A wallet has
 * at most ten active tokens.
 */
import { z } from 'zod'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { LABEL_LENGTH_MAX, Label } from '#src/kernel/label.ts'
import { Address, Id, Instant } from '#src/kernel/units.ts'

/** How long a challenge can be exchanged. */
export const CHALLENGE_LIFETIME_MS = 5 * 60 * 1000
/** How long a token is good for, used or not. */
export const TOKEN_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000
/** Most tokens of a wallet that are neither expired nor revoked. */
export const ACTIVE_TOKENS_MAX = 10
/** Most tokens that a list shows. */
export const LISTED_TOKENS_MAX = 50
/** A token's last use is written at most this often. */
export const LAST_USE_PRECISION_MS = 60 * 1000
/** Longest message that is looked at; ours are far shorter. */
export const MESSAGE_LENGTH_MAX = 4096
/** `0x` and two digits for each of at most 4096 bytes. */
const SIGNATURE_LENGTH_MAX = 2 + 2 * 4096

const Scopes = z.array(z.enum(SCOPES)).describe('What the token may do. `read` is always included.')

/** What is asked for before signing in. */
export const ChallengeRequest = z
  .strictObject({
    wallet: Address.describe('The wallet that will sign.'),
    scopes: z
      .array(z.enum(SCOPES))
      .max(SCOPES.length)
      .default([])
      .describe(
        'What the token may do besides reading: `write`, `spend`. Ask only for what you need.',
      ),
    label: Label.optional()
      .describe(`A name for the token in lists, at most ${LABEL_LENGTH_MAX} characters.`)
      .meta({ examples: ['deploy script'], minLength: 1, maxLength: LABEL_LENGTH_MAX }),
  })
  .meta({ id: 'ChallengeRequest' })
export type ChallengeRequest = z.output<typeof ChallengeRequest>

/** What is to be signed. */
export const Challenge = z
  .object({
    wallet: Address.describe('The wallet that must sign.'),
    nonce: z
      .string()
      .describe('Works once, for five minutes.')
      .meta({ examples: ['b1f06c4dd2a94be7'] }),
    issuedAt: Instant,
    message: z
      .string()
      .describe('EIP-4361 text. Sign it exactly as it is (personal_sign), whitespace included.'),
  })
  .meta({ id: 'Challenge' })
export type Challenge = z.output<typeof Challenge>

/** A challenge as it is kept. */
export interface KeptChallenge {
  readonly nonce: string
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  readonly label: string | undefined
  /** The exact text that is to be signed. */
  readonly message: string
  readonly expiresAt: Date
  readonly usedAt: Date | undefined
}

/** A signed challenge. */
export const TokenRequest = z
  .strictObject({
    message: z
      .string()
      .min(1)
      .max(MESSAGE_LENGTH_MAX)
      .describe('The message of the challenge, unchanged.'),
    signature: z
      .string()
      .min(1)
      .max(SIGNATURE_LENGTH_MAX)
      .describe(
        'EIP-191 signature of the message, hexadecimal. Of a contract wallet: what ERC-1271 or ERC-6492 asks for, at most 4096 bytes.',
      ),
  })
  .meta({ id: 'TokenRequest' })
export type TokenRequest = z.output<typeof TokenRequest>

/** A new token. The only time it is shown. */
export const IssuedToken = z
  .object({
    token: z
      .string()
      .describe('Send it as `Authorization: Bearer`. It is not shown again.')
      .meta({ examples: ['fwd_…'] }),
    wallet: Address,
    scopes: Scopes,
    expiresAt: Instant.describe('Thirty days after it was issued.'),
  })
  .meta({ id: 'IssuedToken' })
export type IssuedToken = z.output<typeof IssuedToken>

/** Whether a token opens anything. */
const TOKEN_STATUSES = ['active', 'expired', 'revoked'] as const
export type TokenStatus = (typeof TOKEN_STATUSES)[number]

/** What is shown of a token: never itself or its hash. */
export const TokenMetadata = z
  .object({
    id: Id,
    label: z.string().nullable(),
    scopes: Scopes,
    prefix: z
      .string()
      .describe('The first characters of the token, to tell it from others.')
      .meta({ examples: ['fwd_3Kd9'] }),
    status: z.enum(TOKEN_STATUSES),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Instant.nullable().describe('To the minute; null when it was never used.'),
    revokedAt: Instant.nullable(),
  })
  .meta({ id: 'TokenMetadata' })
export type TokenMetadata = z.output<typeof TokenMetadata>

/** A wallet's tokens, active ones first, then the newest; at most 50. */
export const TokenList = z
  .object({ data: z.array(TokenMetadata).max(LISTED_TOKENS_MAX), nextCursor: z.null() })
  .meta({ id: 'TokenList' })
export type TokenList = z.output<typeof TokenList>
