import { z } from 'zod'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { Address, Instant } from '#src/kernel/units.ts'

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
 * Longest text that is parsed, in UTF-16 units. Those of this service have at most 1,000, see `PUBLIC_URL`; of
 * a text of 4,096 the parser can hold the event loop for 40 ms.
 */
const READ_LENGTH_MAX = 1024

/** Loaded by the first sign-in, because its peer `ethers` takes 30 MB of memory and 0.1 s. */
const loadSiwe = () => import('siwe')

/**
 * Writes the EIP-4361 text that a wallet shows and signs. Deterministic: equal inputs give equal bytes.
 *
 * @throws Error when a field cannot be written into an EIP-4361 text
 * @see EIP-4361
 */
export async function writeMessage(input: SignInMessage): Promise<string> {
  const { SiweMessage } = await loadSiwe()
  return new SiweMessage(fieldsOf(input)).toMessage()
}

function fieldsOf({ publicUrl, wallet, scopes, nonce, issuedAt, expiresAt }: SignInMessage) {
  return {
    domain: new URL(publicUrl).host,
    address: wallet,
    statement: `Sign in to Watchdog with these permissions: ${scopes.join(', ')}. This signature costs nothing and moves no funds.`,
    uri: publicUrl,
    version: '1',
    chainId: servedChain().id,
    nonce,
    issuedAt: issuedAt.toISOString(),
    expirationTime: expiresAt.toISOString(),
    resources: scopes.map((scope) => SCOPE_URN + scope),
  }
}

/**
 * Parses a sign-in message; undefined for any text that this service did not write in this form.
 *
 * Only a signature proves who sent the text.
 */
export async function readMessage(text: string): Promise<SignInMessage | undefined> {
  if (text.length > READ_LENGTH_MAX) return undefined
  const { SiweMessage } = await loadSiwe()
  try {
    const parsed = new SiweMessage(text)
    const message = Fields.parse(parsed)
    // This service wrote the text only if its fields for this message are the same bytes.
    return Object.assign(parsed, fieldsOf(message)).toMessage() === text ? message : undefined
  } catch {
    return undefined
  }
}

/** The fields that this service writes, as the parser names them; it writes no other ones. */
const Fields = z
  .object({
    scheme: z.undefined(),
    address: Address,
    uri: z.string(),
    nonce: z.string(),
    issuedAt: Instant,
    expirationTime: Instant,
    notBefore: z.undefined(),
    requestId: z.undefined(),
    resources: z.array(
      z
        .templateLiteral([SCOPE_URN, z.enum(SCOPES)])
        .transform((urn) => urn.slice(SCOPE_URN.length))
        .pipe(z.enum(SCOPES)),
    ),
  })
  .transform(({ address, uri, nonce, issuedAt, expirationTime, resources }) => ({
    publicUrl: uri,
    wallet: address,
    scopes: resources,
    nonce,
    issuedAt,
    expiresAt: expirationTime,
  }))
