/** A stored top-up as callers see it: instructions, payments, purchase and remainder. */
import { encodeFunctionData, formatUnits } from 'viem/utils'
import { z } from 'zod'
import { ROUTER_ABI } from '#src/chain/contracts.ts'
import { id, translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { Hash, storedAddress } from '#src/kernel/units.ts'
import { type Purchase, SETTLEMENT_NAMES, type Topup } from './model.ts'
import { paymentAssetOf, requiredConfirmations, symbolOf, xrpWalletLink } from './rules.ts'
import type { PaymentOfTopup, PurchaseRow, TopupRow } from './store.ts'
import type { TopupOutcome } from './topup-outcome.ts'

/** The service's settings that a top-up in responses contains. */
export interface TopupContext {
  readonly publicUrl: string
  readonly chainId: number
  readonly confirmations: number
  readonly billing: { readonly serviceTokenSymbol: string }
}

/** A payment that was credited. */
export interface PaymentReceipt {
  /** Hash of the transaction, in the notation of its chain. */
  readonly txHash: string
  readonly blockNumber: number
  /** Time of the payment's block. */
  readonly paidAt: Date
  /** Amount in the smallest unit of the top-up's asset. */
  readonly amountUnits: bigint
  /** Credits, including the bonus. */
  readonly credits: number
  readonly bonusCredits: number
  /** Account that paid, in the notation of its chain. */
  readonly payer: string
}

/** Payments of a top-up. */
export interface TopupPayments {
  /** Whether a payment is not settled yet. */
  readonly isOpen: boolean
  /** The credited payments, oldest first. */
  readonly receipts: readonly PaymentReceipt[]
}

/** Converts a stored top-up to a top-up in responses, with payment instructions and state. */
export function toTopup(
  context: TopupContext,
  topup: TopupRow,
  { outcome, purchase }: { readonly outcome: TopupOutcome; readonly purchase: Purchase | null },
  locale: Locale,
): Topup {
  const asset = paymentAssetOf(topup.asset)
  const handle = z.decode(Hash, topup.handle)
  const page = `${context.publicUrl}/pay/${handle}`
  return {
    handle,
    status: outcome.status,
    wallet: storedAddress(topup.wallet),
    asset: symbolOf(topup.asset, context.billing.serviceTokenSymbol),
    credits: topup.credits,
    bonusCredits: topup.bonusCredits,
    amount: topup.amountUnits,
    decimals: asset.decimals,
    payTo: topup.payTo,
    destinationTag: topup.destinationTag,
    settlement: SETTLEMENT_NAMES[asset.way],
    chainId: context.chainId,
    ...payment(topup, handle),
    page,
    pageQr:
      topup.destinationTag === null
        ? page
        : xrpWalletLink(topup.payTo, topup.destinationTag, topup.amountUnits),
    expiresAt: topup.expiresAt,
    instructions: instructions(context, topup, locale),
    then: purchase,
    txHash: outcome.txHash,
    confirmations: outcome.confirmations,
    requiredConfirmations: requiredConfirmations(asset.way, context.confirmations),
    paidAmount: outcome.paidUnits,
    creditedCredits: outcome.creditedCredits,
    reason: outcome.reason,
  }
}

/** The transaction that a wallet signs. */
function payment(
  { asset, token, payTo, contractPayTo, amountUnits }: TopupRow,
  handle: Hash,
): Pick<Topup, 'transaction' | 'contractWallet' | 'approval'> {
  const nothing = { transaction: null, contractWallet: null, approval: null }
  const { way } = paymentAssetOf(asset)
  if (way === 'xrpl' || way === 'authorization') return nothing
  const to = storedAddress(payTo)
  if (token === null) {
    const transaction = { to, value: amountUnits, data: handle }
    if (contractPayTo === null) return { ...nothing, transaction }
    const call = { functionName: 'payNative', args: [handle] } as const
    const data = encodeFunctionData({ abi: ROUTER_ABI, ...call })
    const contractWallet = { to: storedAddress(contractPayTo), value: amountUnits, data }
    return { ...nothing, transaction, contractWallet }
  }
  const contract = storedAddress(token)
  const args = [handle, contract, amountUnits] as const
  const data = encodeFunctionData({ abi: ROUTER_ABI, functionName: 'pay', args })
  return {
    ...nothing,
    transaction: { to, value: 0n, data },
    approval: { token: contract, spender: to, amount: amountUnits },
  }
}

function instructions(
  { billing }: TopupContext,
  { asset, amountUnits, payTo, contractPayTo, destinationTag, handle }: TopupRow,
  locale: Locale,
): string {
  const { way, decimals } = paymentAssetOf(asset)
  const symbol = symbolOf(asset, billing.serviceTokenSymbol)
  // All digits of the amount, because exactly this amount has to be paid.
  const amount = id(`${formatUnits(amountUnits, decimals)}\u00a0${symbol}`)
  const instruction = translate(locale, `operations:instructions.${way}`, {
    amount,
    address: id(payTo),
    handle: id(handle),
    tag: id(destinationTag ?? ''),
  })
  if (way !== 'native') return instruction
  const contractWalletHint =
    contractPayTo === null
      ? translate(locale, 'operations:instructions.noContractWallet')
      : translate(locale, 'operations:instructions.contractWallet', {
          address: id(contractPayTo),
        })
  return `${instruction} ${contractWalletHint}`
}

/** State of the purchase that follows a top-up; null if there is none. */
export function toPurchase(row: PurchaseRow | undefined): Purchase | null {
  if (row === undefined) return null
  const { slots, periods, autoRenew, subscriptionId, reason } = row
  const status = subscriptionId === null ? 'waiting' : 'done'
  return { slots, periods, autoRenew, status, subscriptionId, reason }
}

/** The credited payments among those of a top-up, and whether another is not settled yet. */
export function paymentsOf(payments: readonly PaymentOfTopup[]): TopupPayments {
  const receipts = payments.flatMap(({ payment }) => {
    const { txHash, blockNumber, blockAt: paidAt, amountUnits, payer } = payment
    if (payment.credits === null) return []
    const bonusCredits = payment.bonusCredits ?? 0
    const credits = payment.credits + bonusCredits
    return [{ txHash, blockNumber, paidAt, amountUnits, credits, bonusCredits, payer }]
  })
  return { isOpen: payments.some(({ payment }) => payment.settledAt === null), receipts }
}

/**
 * The remainder of a partly paid quote, as a quote with the same destination and reference. The remainder
 * is credited at the same price until the quote expires. Undefined when no amount or no time is left.
 */
export function remainderOf(topup: Topup, now: Date): Topup | undefined {
  const { status, paidAmount, expiresAt, handle, transaction, contractWallet, approval } = topup
  const left = topup.amount - (paidAmount ?? 0n)
  if (status !== 'credited' || left <= 0n || now >= expiresAt) return undefined
  const amount = left
  if (topup.destinationTag !== null) {
    const pageQr = xrpWalletLink(topup.payTo, topup.destinationTag, amount)
    return { ...topup, amount, pageQr }
  }
  if (approval === null) {
    return {
      ...topup,
      amount,
      transaction: transaction && { ...transaction, value: amount },
      contractWallet: contractWallet && { ...contractWallet, value: amount },
    }
  }
  const args = [handle, approval.token, amount] as const
  const data = encodeFunctionData({ abi: ROUTER_ABI, functionName: 'pay', args })
  return {
    ...topup,
    amount,
    transaction: transaction && { ...transaction, data },
    approval: { ...approval, amount },
  }
}
