/** Data and actions of the pay page, for holders of a top-up's handle. */
import { AppError } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash } from '#src/kernel/units.ts'
import type { Topup } from './model.ts'
import { isRenewable, renewTopup } from './quote-renewal.ts'
import { symbolOf } from './rules.ts'
import { confirmTopup, type TopupDeps } from './service.ts'
import { findLinkedTopup, findLinkedTopupWithPayments } from './topup-record.ts'
import { type PaymentReceipt, remainderOf } from './view.ts'

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
