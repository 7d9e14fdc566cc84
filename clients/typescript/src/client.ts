import { WatchdogError } from './errors.ts'
import type { ChallengeRequest, IssuedToken } from './generated/models.ts'
import { Operations } from './generated/operations.ts'
import type { WatchdogOptions } from './transport.ts'

/** The API of a Watchdog. Each operation is a method; methods that begin with `all` read a list to its end. */
export class Watchdog extends Operations {}

/**
 * Signer of messages, such as any viem account. A wallet client signs with `{ account, message }`;
 * wrap its `signMessage`.
 */
export interface Signer {
  readonly address: string
  signMessage(input: { readonly message: string }): Promise<string>
}

/** Settings of a sign-in. */
export interface SignInOptions extends Omit<WatchdogOptions, 'token'> {
  readonly account: Signer
  /** Rights beside `read`: `write` and `spend`. */
  readonly scopes?: ChallengeRequest['scopes']
  /** Name of the token in the list of tokens. */
  readonly label?: string
  /** Host that the message must name; that of `baseUrl` by default. */
  readonly domain?: string
  readonly signal?: AbortSignal
}

/** A client with a token, and the token itself with its scopes and expiry. */
export interface SignedIn {
  readonly watchdog: Watchdog
  readonly issued: IssuedToken
}

/**
 * Signs in with a wallet (EIP-4361): requests a message, has it signed and exchanges both for a token.
 *
 * Only a message that names this service and this wallet is signed.
 *
 * @throws WatchdogError `unexpected_answer` for another message
 */
export async function signIn(options: SignInOptions): Promise<SignedIn> {
  const { account, scopes, label, domain, signal, ...others } = options
  const anonymous = new Watchdog(others)
  const asked = { wallet: account.address, ...(scopes && { scopes }), ...(label && { label }) }
  const { message } = await anonymous.createChallenge(asked, { signal })
  requireSignIn(message, domain ?? new URL(options.baseUrl).host, account.address)
  const signature = await account.signMessage({ message })
  const issued = await anonymous.exchangeToken({ message, signature }, { signal })
  return { watchdog: new Watchdog({ ...others, token: issued.token }), issued }
}

/** @see EIP-4361, "Message Format" */
function requireSignIn(message: string, host: string, address: string): void {
  const [first, second] = message.split('\n')
  const isOurs =
    first === `${host} wants you to sign in with your Ethereum account:` &&
    second?.toLowerCase() === address.toLowerCase()
  if (isOurs) return
  const text = `The message to sign does not name ${host} and the wallet.`
  throw new WatchdogError({ code: 'unexpected_answer', message: text })
}
