/**
 * The right of a page to show and revoke the tokens of a wallet that has just signed: a signed code, which the
 * page keeps in its forms. It is no token: it opens nothing else, and ends after ten minutes.
 */
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { Address } from '#src/kernel/units.ts'

interface Deps {
  readonly box: SecretBox
  readonly clock: Clock
}

/** A wallet, and the scopes that it signed. */
export interface TokensHolder {
  readonly wallet: Address
  readonly scopes: readonly Scope[]
}

const PURPOSE = 'tokens'
const LIFETIME_MS = 10 * MINUTE_MS

/** Creates the code for a wallet that has just signed. */
export function signTokensLink({ box, clock }: Deps, { wallet, scopes }: TokensHolder): string {
  const until = (clock.now().getTime() + LIFETIME_MS).toString(36)
  return box.signLink(PURPOSE, [until, wallet, ...scopes].join('.'))
}

/** @throws AppError not_found `link_not_valid` for a code that is expired or was not signed here */
export function readTokensLink({ box, clock }: Deps, code: string): TokensHolder {
  const [until = '', address, ...rest] = box.readLink(PURPOSE, code)?.split('.') ?? []
  const wallet = Address.safeParse(address).data
  if (wallet === undefined || Number.parseInt(until, 36) <= clock.now().getTime()) {
    throw new AppError('not_found', 'link_not_valid')
  }
  return { wallet, scopes: SCOPES.filter((scope) => rest.includes(scope)) }
}
