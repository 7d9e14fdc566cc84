/** What payers do with a top-up: submit its transaction, pay it on its page, replace its quote. */
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import { listPaymentsInTransaction } from './payment-store.ts'
import { isRenewable, renewTopup, type TopupDeps } from './quote.ts'
import { symbolOf, transactionHashOf } from './rules.ts'
import type { TopupRow } from './store.ts'
import * as store from './store.ts'
import { followTransaction } from './submissions.ts'
import {
  type AskedTopup,
  findLinkedTopup,
  findLinkedTopupWithPayments,
  getTopup,
} from './topup-record.ts'
import { type PaymentReceipt, remainderOf } from './view.ts'

/** Days for which a transaction that was submitted for a top-up is stored if it contains no payment. */
const SUBMISSIONS_KEPT_DAYS = 30
/** Days for which an unpaid quote is stored. A later payment is recorded as unmatched. */
const QUOTES_KEPT_DAYS = 90

/** The link's code, which is the top-up's handle, and the reader's language. */
interface Asked {
  readonly code: string
  readonly locale: Locale
}

/** Availability of a top-up's asset. An asset whose chain does not respond counts as available. */
interface PaymentStatus {
  readonly isPaused: boolean
  /** Whether the chain of the payment is unreachable. */
  readonly isSilent: boolean
  /** Symbols of other available assets, if this one is not available. */
  readonly others: readonly string[]
}

/** Data of the pay page. */
export interface PaymentPage extends PaymentStatus {
  readonly topup: Topup
  /**
   * Remainder that can still be paid; undefined if there is none, or while another payment is on its way.
   */
  readonly rest: Topup | undefined
  readonly receipts: readonly PaymentReceipt[]
  readonly canRenew: boolean
}

/**
 * Submits the transaction that pays a top-up, and returns the top-up's state. Idempotent; once the payment
 * is credited, the chain is not called.
 *
 * @throws AppError not_found `not_found`, conflict `tx_already_used` when the transaction pays another
 * top-up, `topup_state` when it failed or was rejected, upstream `dependency_unavailable`
 */
export async function confirmTopup(
  deps: TopupDeps,
  caller: Pick<Caller, 'wallet'>,
  { handle, txHash: text, locale }: AskedTopup & { readonly txHash: string },
): Promise<Topup> {
  const topup = await requireTopup(deps, caller, handle)
  const txHash = transactionHashOf(topup.asset, text)
  await follow(deps, topup, txHash)
  const record = await getTopup(deps, caller, { handle, locale }, txHash)
  if (record.status === 'failed' || record.status === 'rejected') {
    const { status, reason } = record
    throw new AppError('conflict', 'topup_state', { members: { topupStatus: status, reason } })
  }
  return record
}

async function follow(deps: TopupDeps, topup: TopupRow, txHash: string): Promise<void> {
  const { db, clock } = deps
  const known = await listPaymentsInTransaction(db, txHash)
  const ours = known.filter(({ handle }) => handle === topup.handle)
  if (ours.length > 0 && ours.every(({ settledAt }) => settledAt !== null)) return
  const isOthers = known.some(({ handle }) => handle !== null && handle !== topup.handle)
  if (isOthers && ours.length === 0) throw new AppError('conflict', 'tx_already_used')
  const now = clock.now()
  await store.retrySubmission(db, { handle: topup.handle, txHash }, now)
  const isFollowed = await followTransaction(deps, topup, { txHash, submittedAt: now })
  if (!isFollowed) throw new AppError('conflict', 'tx_already_used')
}

/** Finds one of the wallet's top-ups. @throws AppError not_found `not_found` */
async function requireTopup(
  deps: TopupDeps,
  { wallet }: Pick<Caller, 'wallet'>,
  handle: Hash,
): Promise<TopupRow> {
  const topup = await store.findTopup(deps.db, handle, wallet)
  if (topup === undefined) throw new AppError('not_found', 'not_found')
  return topup
}

/** Reads a top-up and the availability of its asset. @throws AppError not_found `not_found` */
export async function getLinkedTopup(
  deps: TopupDeps,
  asked: Asked,
): Promise<PaymentStatus & { readonly topup: Topup }> {
  const topup = await find(deps, asked)
  if (topup === undefined) throw new AppError('not_found', 'not_found')
  return { topup, ...(await paymentStatus(deps, topup)) }
}

/** Reads the data of the pay page; undefined when there is no such top-up. */
export async function readPaymentPage(
  deps: TopupDeps,
  asked: Asked,
): Promise<PaymentPage | undefined> {
  const handle = Hash.safeParse(asked.code)
  const { locale } = asked
  const record = handle.success
    ? await findLinkedTopupWithPayments(deps, { handle: handle.data, locale })
    : undefined
  if (record === undefined) return undefined
  const { topup, payments } = record
  const { isOpen, receipts } = payments
  const [status, canRenew] = await Promise.all([
    paymentStatus(deps, topup),
    isRenewable(deps, topup),
  ])
  const remainder = isOpen ? undefined : remainderOf(topup, deps.clock.now())
  return { topup, ...status, rest: remainder, receipts, canRenew }
}

/** Like `confirmTopup`, for the wallet of the top-up. */
export async function confirmLinkedTopup(
  deps: TopupDeps,
  { txHash, ...asked }: Asked & { readonly txHash: string },
): Promise<Topup> {
  const topup = await find(deps, asked)
  if (topup === undefined) throw new AppError('not_found', 'not_found')
  return await confirmTopup(deps, topup, { ...asked, handle: topup.handle, txHash })
}

/** Like `renewTopup`; returns undefined when there is no such top-up. */
export async function renewLinkedTopup(
  deps: TopupDeps,
  { code, ...request }: Asked & { readonly asset?: string },
): Promise<Topup | undefined> {
  const handle = Hash.safeParse(code)
  return handle.success ? await renewTopup(deps, { ...request, handle: handle.data }) : undefined
}

async function find(deps: TopupDeps, { code, locale }: Asked): Promise<Topup | undefined> {
  const handle = Hash.safeParse(code)
  return handle.success ? await findLinkedTopup(deps, { handle: handle.data, locale }) : undefined
}

async function paymentStatus(
  { paymentOptions, billing }: TopupDeps,
  { asset }: Topup,
): Promise<PaymentStatus> {
  const states = (await paymentOptions.list()).map((state) => ({
    ...state,
    symbol: symbolOf(state.asset.key, billing.serviceTokenSymbol),
    isOpen: state.available && !state.paused,
  }))
  const state = states.find(({ symbol }) => symbol === asset)
  return {
    isPaused: state?.paused === true,
    isSilent: state?.silent === true,
    others: state?.isOpen ? [] : states.flatMap(({ isOpen, symbol }) => (isOpen ? [symbol] : [])),
  }
}

/**
 * Deletes submitted transactions without a payment, and unpaid quotes, after their retention. Payments are
 * never deleted.
 */
export async function pruneTopups({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const ago = (days: number) => new Date(clock.now().getTime() - days * DAY_MS)
  await store.deleteSubmissionsBefore(db, ago(SUBMISSIONS_KEPT_DAYS))
  await store.deleteUnpaidQuotes(db, ago(QUOTES_KEPT_DAYS))
}
