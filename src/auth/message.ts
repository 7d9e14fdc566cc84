import { z } from 'zod'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { Address, Instant } from '#src/kernel/units.ts'
import { MESSAGE_LENGTH_MAX } from './model.ts'

/** The fields of a sign-in message. */
export interface SignInMessage {
  /** Origin of the service that the wallet signs in to, optionally with a path. */
  readonly publicUrl: string
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** Random text of at least 8 letters and digits (EIP-4361). */
  readonly nonce: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

const SCOPE_URN = 'urn:flare-watchdog:scope:'

/**
 * Writes the EIP-4361 text that a wallet shows and signs. Deterministic: equal inputs give equal bytes.
 *
 * @throws Error when `publicUrl` or `nonce` cannot be written into an EIP-4361 text
 * @see EIP-4361
 */
export function writeMessage(input: SignInMessage): string {
  const { publicUrl, wallet, scopes, nonce, issuedAt, expiresAt } = input
  if (!/^[\x21-\x7e]+$/.test(publicUrl) || !/^[0-9A-Za-z]{8,}$/.test(nonce)) {
    throw new Error('public URL or nonce cannot be written into a sign-in message')
  }
  return [
    `${new URL(publicUrl).host} wants you to sign in with your Ethereum account:`,
    wallet,
    '',
    `Sign in to Watchdog with these permissions: ${scopes.join(', ')}. This signature costs nothing and moves no funds.`,
    '',
    `URI: ${publicUrl}`,
    'Version: 1',
    `Chain ID: ${servedChain().id}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
    'Resources:',
    ...scopes.map((scope) => `- ${SCOPE_URN}${scope}`),
  ].join('\n')
}

/**
 * Parses a sign-in message; undefined for any text that this service did not write in this form.
 *
 * Only a signature proves who sent the text.
 */
export function readMessage(text: string): SignInMessage | undefined {
  if (text.length > MESSAGE_LENGTH_MAX) return undefined
  const read = Fields.safeParse(FORM.exec(text)?.groups)
  if (!read.success) return undefined
  try {
    // The pattern finds the fields. This service wrote the text only if writing the fields again returns
    // the same bytes.
    return writeMessage(read.data) === text ? read.data : undefined
  } catch {
    return undefined
  }
}

/** Pattern of a message, with a group for each field. */
const FORM = new RegExp(
  [
    '^[^\\n]+',
    '(?<wallet>0x[0-9a-fA-F]{40})',
    '',
    '[^\\n]+',
    '',
    'URI: (?<publicUrl>[^\\n]+)',
    'Version: 1',
    'Chain ID: \\d+',
    'Nonce: (?<nonce>[0-9A-Za-z]+)',
    'Issued At: (?<issuedAt>[^\\n]+)',
    'Expiration Time: (?<expiresAt>[^\\n]+)',
    `Resources:(?<scopes>(?:\\n- ${SCOPE_URN}[a-z]+)*)$`,
  ].join('\\n'),
)

const Fields = z.object({
  publicUrl: z.string(),
  wallet: Address,
  nonce: z.string(),
  issuedAt: Instant,
  expiresAt: Instant,
  scopes: z
    .string()
    .transform((lines) => lines.split(`\n- ${SCOPE_URN}`).slice(1))
    .pipe(z.array(z.enum(SCOPES))),
})
