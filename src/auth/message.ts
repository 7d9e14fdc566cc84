import { SiweMessage } from 'siwe'
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
  /** At least 8 letters and digits (EIP-4361). */
  readonly nonce: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

const SCOPE_URN = 'urn:flare-watchdog:scope:'

/**
 * Writes the EIP-4361 text that a wallet shows and signs. Deterministic: equal inputs give equal bytes.
 * @throws Error when `publicUrl` cannot be written into an EIP-4361 text
 * @see EIP-4361
 */
export function writeMessage(input: SignInMessage): string {
  return new SiweMessage({
    domain: new URL(input.publicUrl).host,
    address: input.wallet,
    statement: `Sign in to Watchdog with these permissions: ${input.scopes.join(', ')}. This signature costs nothing and moves no funds.`,
    uri: input.publicUrl,
    version: '1',
    chainId: servedChain().id,
    nonce: input.nonce,
    issuedAt: input.issuedAt.toISOString(),
    expirationTime: input.expiresAt.toISOString(),
    resources: input.scopes.map((scope) => `${SCOPE_URN}${scope}`),
  }).prepareMessage()
}

/**
 * Parses a sign-in message; undefined for any text this service did not write in this form.
 *
 * Parsing proves nothing about the sender: only the signature does.
 */
export function readMessage(text: string): SignInMessage | undefined {
  if (text.length > MESSAGE_LENGTH_MAX) return undefined
  const read = Fields.safeParse(parse(text))
  if (!read.success) return undefined
  const { uri, address, resources, nonce, issuedAt, expirationTime } = read.data
  return {
    publicUrl: uri,
    wallet: address,
    scopes: resources,
    nonce,
    issuedAt,
    expiresAt: expirationTime,
  }
}

const Fields = z.object({
  uri: z.string(),
  address: Address,
  /** Id of the served chain; a message for another chain is refused. */
  chainId: z.int().refine((id) => id === servedChain().id),
  nonce: z.string(),
  issuedAt: Instant,
  expirationTime: Instant,
  resources: z.array(
    z
      .templateLiteral([SCOPE_URN, z.enum(SCOPES)])
      .transform((urn) => z.enum(SCOPES).parse(urn.slice(SCOPE_URN.length))),
  ),
})

function parse(text: string): unknown {
  try {
    return new SiweMessage(text)
  } catch {
    // A text that does not parse is not a sign-in message; the parser's reason is of no use to the client.
    return undefined
  }
}
