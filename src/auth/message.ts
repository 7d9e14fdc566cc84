import { SiweMessage } from 'siwe'
import { z } from 'zod'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { Address, Instant } from '#src/kernel/units.ts'
import { MESSAGE_LENGTH_MAX } from './model.ts'

/** What a sign-in message says. */
export interface SignInMessage {
  /** The service that is signed in to: an origin, perhaps with a path. */
  readonly publicUrl: string
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** At least 8 letters and digits. */
  readonly nonce: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** The chain that the interface names for signing in: Flare. */
const CHAIN_ID = 14
const SCOPE_URN = 'urn:flare-watchdog:scope:'

/**
 * The text that a wallet shows and signs. The same input gives the same bytes.
 *
 * @throws Error when the public address cannot be written into such a text
 * @see EIP-4361
 */
export function writeMessage(input: SignInMessage): string {
  return new SiweMessage({
    domain: new URL(input.publicUrl).host,
    address: input.wallet,
    statement: `Sign in to Watchdog with these permissions: ${input.scopes.join(', ')}. This signature costs nothing and moves no funds.`,
    uri: input.publicUrl,
    version: '1',
    chainId: CHAIN_ID,
    nonce: input.nonce,
    issuedAt: input.issuedAt.toISOString(),
    expirationTime: input.expiresAt.toISOString(),
    resources: input.scopes.map((scope) => `${SCOPE_URN}${scope}`),
  }).prepareMessage()
}

/**
 * What a sign-in message says; undefined for any text that is none of ours.
 *
 * Proves nothing: anybody can write such a text.
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
  chainId: z.literal(CHAIN_ID),
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
    // Whatever does not parse is no message of ours; the parser's reasons help nobody.
    return undefined
  }
}
