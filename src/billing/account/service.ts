import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AcceptTerms, TermsAcceptance } from './model.ts'
import * as store from './store.ts'

/** The terms in force. */
export interface Terms {
  readonly version: string
  readonly url: string
}

interface TermsDeps {
  readonly db: Db
  readonly billing: { readonly terms: Terms }
}

/** Which terms are in force and what the wallet has accepted of them. */
export async function getTerms(deps: TermsDeps, caller: Caller): Promise<TermsAcceptance> {
  const { terms } = deps.billing
  const account = await store.findAccount(deps.db, caller.wallet)
  return {
    currentVersion: terms.version,
    url: terms.url,
    accepted: account?.termsVersion === terms.version,
    acceptedVersion: account?.termsVersion ?? null,
    acceptedAt: account?.termsAcceptedAt ?? null,
  }
}

/**
 * Accepts the terms in force. Twice is fine and keeps the first time.
 *
 * @throws AppError conflict `terms_version_changed` when another version is in force
 */
export async function acceptTerms(
  deps: TermsDeps & { readonly clock: Clock },
  caller: Caller,
  input: AcceptTerms,
): Promise<TermsAcceptance> {
  const { version } = deps.billing.terms
  if (input.version !== version) {
    throw new AppError('conflict', 'terms_version_changed', { values: { version } })
  }
  await store.saveTerms(deps.db, caller.wallet, version, deps.clock.now())
  return getTerms(deps, caller)
}

/** @throws AppError forbidden `terms_not_accepted` unless the wallet accepted the terms in force */
export async function requireTerms(deps: TermsDeps, wallet: Address): Promise<void> {
  const { version } = deps.billing.terms
  const account = await store.findAccount(deps.db, wallet)
  if (account?.termsVersion === version) return
  throw new AppError('forbidden', 'terms_not_accepted', { values: { version } })
}
