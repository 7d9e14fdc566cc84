/** Texts of the pay page: the order, the details of a payment, the receipt. */
import { formatUnits } from 'viem/utils'
import { MIN_TOPUP_CREDITS, PERIOD_DAYS } from '#src/billing/price-list.ts'
import { creditsWithUsd, renewalText, usdText } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { type Topup, TX_NOT_FOUND } from '#src/billing/topups/model.ts'
import type { PaymentReceipt } from '#src/billing/topups/view.ts'
import {
  formatAmount,
  formatDateTime,
  formatDuration,
  formatPrice,
  formatTime,
  shortAddress,
} from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { explorerLink } from '../chain-params.ts'

/** A line of the order. */
export interface OrderLine {
  readonly label: string
  readonly value: string
  /** Whether the value is an address or a hash, which runs from left to right. */
  readonly isCode?: boolean
  /** Whether the line is a part of the line above. */
  readonly isPart?: boolean
  readonly isTotal?: boolean
}

/** A labelled value with a copy button. */
interface Row {
  readonly label: string
  readonly value: string
  /** Text for the copy button, by default the value; null if there is no button. */
  readonly copy?: string | null
  readonly href?: string
  readonly isBig?: boolean
  /** Whether the value is prose in the reader's language and direction. */
  readonly isText?: boolean
}

/** An amount for reading, rounded. */
export function roundedAmountText(t: Translate, { asset, decimals }: Topup, units: bigint): string {
  return formatAmount({ units, decimals, symbol: asset }, t.locale)
}

/** An amount for paying, with all digits. */
function exactAmountText({ asset, decimals }: Topup, units: bigint): string {
  return `${formatUnits(units, decimals)}\u00a0${asset}`
}

function credits(t: Translate, count: number): string {
  return t('units:credits', { count })
}

/** Slots and their duration. */
export function slotsText(
  t: Translate,
  { slots, periods }: { readonly slots: number; readonly periods: number },
): string {
  return t('pages:pay.order.slots', {
    slots: t('units:slots', { count: slots }),
    duration: formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'short'),
  })
}

/** The smallest top-up, and that credits left over are kept. */
export function minimumText(t: Translate): string {
  return t('bot:noSlot.minimum', { price: creditsWithUsd(t, MIN_TOPUP_CREDITS) })
}

/** The order of a quote: credits, slots that they buy, the wallet, the total. */
export function orderLines(t: Translate, topup: Topup, due: Topup): readonly OrderLine[] {
  const { then, bonusCredits, wallet } = topup
  const isWhole = due === topup
  return [
    { label: credits(t, topup.credits), value: usdText(t, topup.credits) },
    ...(bonusCredits === 0
      ? []
      : [
          {
            label: t('pages:pay.order.bonus'),
            value: creditsWithUsd(t, bonusCredits),
            isPart: true,
          },
        ]),
    ...(then === null
      ? []
      : [
          {
            label: t('pages:pay.order.part', { what: slotsText(t, then) }),
            value: creditsWithUsd(t, priceSlots(then.slots, then.periods).totalCredits),
            isPart: true,
          },
        ]),
    { label: t('pages:pay.order.wallet'), value: shortAddress(wallet), isCode: true },
    ...(isWhole
      ? []
      : [
          {
            label: t('pages:pay.receipt.paid'),
            value: roundedAmountText(t, topup, topup.paidAmount ?? 0n),
          },
        ]),
    {
      label: t(isWhole ? 'pages:pay.order.total' : 'pages:pay.order.rest'),
      value: roundedAmountText(t, due, due.amount),
      isTotal: true,
    },
  ]
}

/**
 * Remarks on the order: the price of one unit of the asset and until when it is valid, the renewal of the
 * ordered slots, and, if a whole order has the minimum size and leaves credits over, a sentence about the minimum.
 */
export function orderRemarks(
  t: Translate,
  topup: Topup,
  { isWhole, timezone }: { readonly isWhole: boolean; readonly timezone: string },
): readonly string[] {
  const { amount, asset, decimals, expiresAt, then } = topup
  const leavesCredits =
    then !== null && topup.credits > priceSlots(then.slots, then.periods).totalCredits
  const perUnit = topup.credits / 1000 / Number(formatUnits(amount, decimals))
  return [
    t('pages:pay.price', {
      asset: id(asset),
      unit: formatPrice({ value: perUnit.toPrecision(6), symbol: 'USD' }, t.locale),
      time: formatTime(expiresAt, t.locale, timezone, { offset: true }),
    }),
    ...(then === null
      ? []
      : [renewalText(t, { quantity: then.slots, periods: then.periods, renew: then.autoRenew })]),
    ...(topup.credits > MIN_TOPUP_CREDITS || !isWhole || !leavesCredits ? [] : [minimumText(t)]),
  ]
}

/** Rows with all details for a manual payment. */
export function detailRows(t: Translate, topup: Topup): readonly Row[] {
  const { amount, decimals, payTo, approval, transaction, destinationTag, handle } = topup
  const { contractWallet } = topup
  const isToken = approval !== null
  return [
    {
      label: t('pages:pay.details.amount'),
      value: exactAmountText(topup, amount),
      copy: formatUnits(amount, decimals),
    },
    ...(isToken
      ? [
          { label: t('pages:pay.details.token'), value: approval.token },
          // Tokens that are sent directly to the contract would be lost, so its address is only shown for
          // comparison.
          { label: t('pages:pay.details.contract'), value: payTo, copy: null },
          { label: t('pages:pay.details.units'), value: String(amount) },
        ]
      : [{ label: t('pages:pay.details.address'), value: payTo }]),
    ...(destinationTag === null
      ? []
      : [{ label: t('pages:pay.details.tag'), value: String(destinationTag), isBig: true }]),
    ...(transaction === null
      ? []
      : [{ label: t('pages:pay.details.data'), value: transaction.data }]),
    ...(isToken ? [{ label: t('pages:pay.details.reference'), value: handle }] : []),
    ...(contractWallet === null
      ? []
      : [
          { label: t('pages:pay.details.contractWallet'), value: contractWallet.to },
          { label: t('pages:pay.details.contractData'), value: contractWallet.data },
        ]),
  ]
}

/** The receipts of a top-up, oldest first: lines to read, and rows of the transaction. */
export function shownPaymentReceipts(
  t: Translate,
  topup: Topup,
  {
    receipts,
    timezone,
  }: { readonly receipts: readonly PaymentReceipt[]; readonly timezone: string },
) {
  return receipts.map((receipt, index) => {
    const isLast = index === receipts.length - 1
    const { paidAt, amountUnits, bonusCredits, payer } = receipt
    const lines: readonly OrderLine[] = [
      { label: t('pages:pay.receipt.date'), value: formatDateTime(paidAt, t.locale, timezone) },
      { label: t('pages:pay.receipt.credits'), value: creditsWithUsd(t, receipt.credits) },
      ...(isLast ? spentLines(t, topup) : []),
      { label: t('pages:pay.order.wallet'), value: shortAddress(topup.wallet), isCode: true },
      { label: t('pages:pay.receipt.from'), value: shortAddress(payer), isCode: true },
      {
        label: t('pages:pay.receipt.paid'),
        value: `${roundedAmountText(t, topup, amountUnits)} · ${usdText(t, receipt.credits - bonusCredits)}`,
        isTotal: true,
      },
    ]
    return { lines, rows: transactionRows(t, topup, receipt) }
  })
}

/**
 * The slots that were bought, with their price, and the credits of the top-up that are left. The wallet's
 * balance is not shown: the reference of a payment is public on its chain, and opens this page.
 */
function spentLines(t: Translate, topup: Topup): readonly OrderLine[] {
  const { then, creditedCredits } = topup
  if (then?.status !== 'done') return []
  const what = slotsText(t, then)
  const { totalCredits } = priceSlots(then.slots, then.periods)
  const left = creditedCredits - totalCredits
  const line = (label: string, credited: number) => ({
    label,
    value: creditsWithUsd(t, credited),
    isPart: true,
  })
  return [
    line(t('pages:pay.receipt.spent', { what }), totalCredits),
    // If part of the price was paid from earlier credits of the wallet, nothing is left.
    ...(left < 0 ? [] : [line(t('pages:pay.receipt.left'), left)]),
  ]
}

/** A transaction that is not credited: on its way, or failed. */
export function openTransaction(t: Translate, topup: Topup): readonly Row[] {
  const { txHash, reason } = topup
  return txHash === null || reason === TX_NOT_FOUND ? [] : [transactionRow(t, topup, txHash)]
}

function transactionRows(
  t: Translate,
  topup: Topup,
  { txHash, blockNumber }: PaymentReceipt,
): readonly Row[] {
  const block = topup.destinationTag === null ? 'block' : 'ledger'
  return [
    transactionRow(t, topup, txHash),
    { label: t(`pages:pay.receipt.${block}`), value: String(blockNumber), copy: null },
    { label: t('pages:pay.details.reference'), value: topup.handle },
  ]
}

function transactionRow(t: Translate, { destinationTag }: Topup, txHash: string): Row {
  const isXrp = destinationTag !== null
  return {
    label: t('pages:pay.details.transaction'),
    value: txHash,
    href: isXrp ? `https://livenet.xrpl.org/transactions/${txHash}` : explorerLink(txHash),
  }
}
