import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AcceptTerms, LedgerInput, TermsAcceptance } from './model.ts'
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

/** The terms in force and the version the wallet accepted. */
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
 * Accepts the terms in force. Idempotent: the first acceptance of a version keeps its time.
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

/**
 * Refuses the operation if billing is disabled.
 * @throws AppError conflict `billing_disabled`
 */
export function requireBilling({ enabled }: { readonly enabled: boolean }): void {
  if (!enabled) throw new AppError('conflict', 'billing_disabled')
}

/**
 * Refuses the operation unless the wallet accepted the terms in force.
 * @throws AppError forbidden `terms_not_accepted`
 */
export async function requireTerms(deps: TermsDeps, wallet: Address): Promise<void> {
  requireAccepted(deps.billing.terms, await store.findAccount(deps.db, wallet))
}

/** Like `requireTerms`, for an account that was read. */
export function requireAccepted(
  { version }: Pick<Terms, 'version'>,
  account: Pick<store.AccountRow, 'termsVersion'> | undefined,
): void {
  if (account?.termsVersion === version) return
  throw new AppError('forbidden', 'terms_not_accepted', { values: { version } })
}

/** Result of a credit. */
export interface CreditResult {
  readonly balanceCredits: number
  /** False when the reference was credited before, and nothing was changed. */
  readonly isNew: boolean
}

/**
 * Adds credits, once per reference. Creates the account if there is none.
 *
 * A transaction that changes several wallets must do so in the order of the wallets to avoid deadlocks.
 *
 * @throws Error when the reference belongs to another change
 */
export async function credit(tx: Db, input: LedgerInput): Promise<CreditResult> {
  const entry = toEntry(input, 1)
  let posted = await store.postEntry(tx, entry)
  if (posted === undefined) {
    await store.ensureAccount(tx, input.wallet, input.at)
    posted = await store.postEntry(tx, entry)
  }
  if (posted === undefined) throw new Error('an account was neither found nor created')
  if (posted.afterCredits !== undefined) return { balanceCredits: posted.afterCredits, isNew: true }
  const isReplay = await wasPosted(tx, entry)
  if (!isReplay) throw new Error(`a credit was not written: ${entry.reference}`)
  return { balanceCredits: posted.beforeCredits, isNew: false }
}

/** Result of a debit. `ok: false`: the balance is too low, and no credits were taken. */
export type DebitResult =
  | { readonly ok: true; readonly balanceCredits: number; readonly isNew: boolean }
  | { readonly ok: false; readonly balanceCredits: number }

/**
 * Takes credits, once per reference and never more than the balance.
 *
 * @throws Error when the reference belongs to another change
 */
export async function debit(tx: Db, input: LedgerInput): Promise<DebitResult> {
  const entry = toEntry(input, -1)
  const posted = await store.postEntry(tx, entry)
  if (posted?.afterCredits !== undefined) {
    return { ok: true, balanceCredits: posted.afterCredits, isNew: true }
  }
  const isReplay = await wasPosted(tx, entry)
  const balanceCredits = posted?.beforeCredits ?? 0
  return isReplay ? { ok: true, balanceCredits, isNew: false } : { ok: false, balanceCredits }
}

function toEntry(
  { amountCredits, note, ...rest }: LedgerInput,
  sign: 1 | -1,
): store.NewLedgerEntry {
  if (!Number.isSafeInteger(amountCredits) || amountCredits <= 0) {
    throw new Error(`not a number of credits: ${amountCredits}`)
  }
  return { ...rest, note, deltaCredits: sign * amountCredits }
}

async function wasPosted(tx: Db, entry: store.NewLedgerEntry): Promise<boolean> {
  const existing = await store.findEntry(tx, entry.reference)
  if (existing === undefined) return false
  const isSame = (['wallet', 'type', 'deltaCredits'] as const).every(
    (key) => existing[key] === entry[key],
  )
  if (!isSame) throw new Error(`a ledger reference was used twice: ${entry.reference}`)
  return true
}

/** The wallet's balance, and the position of its newest ledger entry; 0 before the first. */
export async function readBalance(
  db: Db,
  wallet: Address,
): Promise<{ balanceCredits: number; entry: number }> {
  const account = await store.findAccount(db, wallet)
  return { balanceCredits: account?.balanceCredits ?? 0, entry: account?.entryCount ?? 0 }
}

/** The wallet's balance at an instant, and the position of the newest entry at that instant. */
export async function readCreditsAt(
  db: Db,
  wallet: Address,
  at: Date,
): Promise<{ balanceCredits: number; entry: number }> {
  const [row] = await store.listLedger(db, wallet, { to: at }, undefined, 1)
  return { balanceCredits: row?.balanceAfterCredits ?? 0, entry: row?.position ?? 0 }
}

/** Up to `limit` entries of the wallet after a position, ordered by position. */
export function listEntriesAfter(
  db: Db,
  wallet: Address,
  position: number,
  limit: number,
): Promise<store.LedgerRow[]> {
  return store.listEntriesAfter(db, wallet, position, limit)
}

/** The wallets whose ledger has entries after the given positions. */
export function listWalletsWithNewEntries(
  db: Db,
  known: readonly { readonly wallet: Address; readonly position: number }[],
): Promise<Address[]> {
  return store.listWalletsWithNewEntries(db, known)
}

/**
 * Refuses a price that a balance does not cover.
 * @throws AppError payment_required `insufficient_credits`
 */
export function requireCredits(balanceCredits: number, totalCredits: number): void {
  const shortfallCredits = totalCredits - balanceCredits
  if (shortfallCredits <= 0) return
  throw new AppError('payment_required', 'insufficient_credits', {
    values: { count: shortfallCredits },
    members: { shortfallCredits },
  })
}
