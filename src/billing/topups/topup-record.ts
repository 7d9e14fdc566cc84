/** Top-ups with their state, for the wallet and for holders of a handle. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash } from '#src/kernel/units.ts'
import { type Topup, TX_NOT_FOUND } from './model.ts'
import { findPaymentCursor, type PaymentRow } from './payment-store.ts'
import { chainOf } from './rules.ts'
import {
  findRecord,
  listOpenQuotes,
  listSubmittedTransactions,
  type SubmissionRow,
  type TopupRecord,
} from './store.ts'
import { type TopupAttempt, topupOutcomeOf, transactionOutcomeOf } from './topup-outcome.ts'
import { paymentsOf, type TopupContext, type TopupPayments, toPurchase, toTopup } from './view.ts'

interface Deps extends TopupContext {
  readonly db: Db
  readonly clock: Clock
}

/** Handle of a top-up, and the language of its instructions. */
export interface AskedTopup {
  readonly handle: Hash
  readonly locale: Locale
}

/** A top-up with its payments. */
export interface TopupWithPayments {
  readonly topup: Topup
  readonly payments: TopupPayments
}

/**
 * A top-up of the caller's wallet with its state.
 *
 * @param txHash limits the state to this transaction
 * @throws AppError not_found `not_found`
 */
export async function getTopup(
  deps: Deps,
  caller: Pick<Caller, 'wallet'>,
  { handle, locale }: AskedTopup,
  txHash?: string,
): Promise<Topup> {
  const record = await requireRecord(deps, caller, handle)
  return await show(deps, record, locale, txHash)
}

/** A top-up of the caller's wallet with its state and its payments. @throws AppError not_found `not_found` */
export async function getTopupWithPayments(
  deps: Deps,
  caller: Pick<Caller, 'wallet'>,
  { handle, locale }: AskedTopup,
): Promise<TopupWithPayments> {
  const record = await requireRecord(deps, caller, handle)
  return { topup: await show(deps, record, locale), payments: paymentsOf(record.payments) }
}

/** Number of newest quotes that are checked. */
const QUOTES_MAX = 5

/** The caller's newest quote that can still be paid and has no payment yet, or null. */
export async function findOpenTopup(
  deps: Deps,
  caller: Caller,
  { locale }: { readonly locale: Locale },
): Promise<Topup | null> {
  const now = deps.clock.now()
  const rows = await listOpenQuotes(deps.db, { wallet: caller.wallet, now, limit: QUOTES_MAX })
  for (const row of rows) {
    const topup = await getTopup(deps, caller, { handle: z.decode(Hash, row.handle), locale })
    if (topup.status === 'draft') return topup
  }
  return null
}

/** The top-up with this handle, whatever its wallet: whoever has the handle may read the top-up. */
export async function findLinkedTopup(
  deps: Deps,
  { handle, locale }: AskedTopup,
): Promise<Topup | undefined> {
  const record = await findRecord(deps.db, handle)
  return record && (await show(deps, record, locale))
}

/** Like `findLinkedTopup`, with the payments. */
export async function findLinkedTopupWithPayments(
  deps: Deps,
  { handle, locale }: AskedTopup,
): Promise<TopupWithPayments | undefined> {
  const record = await findRecord(deps.db, handle)
  if (record === undefined) return undefined
  return { topup: await show(deps, record, locale), payments: paymentsOf(record.payments) }
}

async function requireRecord(
  { db }: Deps,
  { wallet }: Pick<Caller, 'wallet'>,
  handle: Hash,
): Promise<TopupRecord> {
  const record = await findRecord(db, handle, wallet)
  if (record === undefined) throw new AppError('not_found', 'not_found')
  return record
}

async function show(
  deps: Deps,
  record: TopupRecord,
  locale: Locale,
  txHash?: string,
): Promise<Topup> {
  const { topup } = record
  // A payment that is not rejected decides alone, whatever else was submitted; see `topupOutcomeOf`.
  const isDecided = record.payments.some(({ payment }) => stateOf(payment) !== 'rejected')
  const submissions =
    txHash === undefined && isDecided ? [] : await listSubmittedTransactions(deps.db, topup.handle)
  const attempts = await listAttempts(deps, record, submissions)
  const { expiresAt } = topup
  const now = deps.clock.now()
  const outcome =
    txHash === undefined
      ? topupOutcomeOf(attempts, { expiresAt }, now)
      : transactionOutcomeOf(attempts, { txHash, expiresAt }, now)
  return toTopup(deps, topup, { outcome, purchase: toPurchase(record.purchase) }, locale)
}

async function listAttempts(
  { db }: Deps,
  { topup, payments }: TopupRecord,
  submissions: readonly SubmissionRow[],
): Promise<readonly TopupAttempt[]> {
  const isCounting = payments.some(({ payment }) => payment.settledAt === null)
  const cursor = isCounting ? await findPaymentCursor(db, chainOf(topup.asset)) : undefined
  return [
    ...payments.map(({ payment, reason }) => ({
      txHash: payment.txHash,
      amountUnits: payment.amountUnits,
      credits: (payment.credits ?? 0) + (payment.bonusCredits ?? 0),
      confirmations: confirmationsOf(payment, cursor?.tip ?? null),
      reason,
      state: stateOf(payment),
    })),
    ...submissions.map((named) => {
      const { txHash, reason } = named
      const nothing = { amountUnits: null, credits: 0, confirmations: 0 }
      return { ...nothing, txHash, reason, state: namedState(named) }
    }),
  ]
}

/** State of a submitted transaction; `unknown` if no endpoint knows it, also after the search for it has ended. */
function namedState({ state, reason }: SubmissionRow): TopupAttempt['state'] {
  return state === 'dropped' || reason === TX_NOT_FOUND ? 'unknown' : state
}

function stateOf({ settledAt, credits }: PaymentRow): TopupAttempt['state'] {
  if (settledAt === null) return 'confirming'
  return credits === null ? 'rejected' : 'credited'
}

/** Confirmations of a payment; fixed when it is settled. */
function confirmationsOf({ confirmations, blockNumber }: PaymentRow, tip: number | null): number {
  return confirmations ?? Math.max(1, (tip ?? blockNumber) - blockNumber + 1)
}
