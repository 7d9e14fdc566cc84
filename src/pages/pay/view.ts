import { erc20Abi } from 'viem'
import { encodeFunctionData, numberToHex } from 'viem/utils'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import {
  QUOTE_SECONDS,
  type Topup,
  type TopupStatus,
  TX_NOT_FOUND,
} from '#src/billing/topups/model.ts'
import { payerProblem } from '#src/billing/topups/rules.ts'
import type { PaymentPage } from '#src/billing/topups/service.ts'
import { formatTime, shortAddress } from '#src/i18n/format.ts'
import { refusalTitle } from '#src/i18n/refusal.ts'
import { checkedKey, hasText, html, id, type Translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { App } from '#src/operations/define.ts'
import { botUrl } from '../bot-url.ts'
import { chainParams } from '../chain-params.ts'
import type { RefusalView } from '../refusal-page.ts'
import { walletApps } from '../wallet-apps.ts'
import {
  detailRows,
  openTransaction,
  orderLines,
  orderRemarks,
  roundedAmountText,
  shownPaymentReceipts,
} from './order.ts'
import { payStepsOf } from './steps.ts'

/** Input of the pay page. */
export interface PayPage extends PaymentPage {
  readonly now: Date
  readonly timezone: string
  /** Link to this page in the same language and time zone. */
  readonly address: string
  /** Data URL of the QR code. */
  readonly qr: string | undefined
  /** Reason why the quote could not be renewed. */
  readonly refusal: RefusalView | undefined
}

/** States without a payment on its way. */
const PAYABLE: readonly TopupStatus[] = ['draft', 'failed', 'rejected']
/** States of a payment that was made and is not credited yet. */
const ON_ITS_WAY: readonly TopupStatus[] = ['submitted', 'confirming']
/** Remaining seconds at which the time is announced to screen readers. */
const ANNOUNCED_SECONDS = [300, 60] as const

/** Template data of the pay page. */
export function payView(app: App, t: Translate, page: PayPage) {
  const { topup, rest, now, isPaused, canRenew } = page
  const isUnpaid = rest !== undefined || (PAYABLE.includes(topup.status) && now < topup.expiresAt)
  const due = rest ?? topup
  const isOpen = isUnpaid && !isPaused
  return {
    title: titleOf(t, topup, { isUnpaid }),
    order: topup.status === 'credited' && rest === undefined ? [] : orderLines(t, topup, due),
    orderRemarks: isUnpaid
      ? orderRemarks(t, topup, { isWhole: due === topup, timezone: page.timezone })
      : [],
    countdown: isOpen ? countdown(t, topup, now) : undefined,
    status: topup.status,
    statusLine: statusLine(t, topup),
    isRefused: topup.status === 'rejected' || topup.status === 'failed',
    remarks: remarks(t, page),
    steps: payStepsOf(t, topup, { due, isOpen }),
    isSilent: page.isSilent,
    paused: isUnpaid && isPaused ? t('pages:pay.paused', { asset: id(topup.asset) }) : undefined,
    // The instructions name the whole amount, so they are left out for a remainder.
    instructions: rest === undefined ? topup.instructions : undefined,
    isOpen,
    canRenew,
    others: page.others,
    renewOther: t('pages:pay.renew.other', { asset: id(topup.asset) }),
    refusal: page.refusal,
    afterRejection: topup.status === 'rejected' ? afterRejection(app, t, topup) : undefined,
    isNative: topup.transaction !== null && topup.approval === null,
    wallet: isOpen && topup.transaction !== null ? walletData(due) : undefined,
    texts: walletTexts(t, due),
    amount: roundedAmountText(t, due, due.amount),
    details: isOpen ? detailRows(t, due) : [],
    paid: topup.paidAmount?.toString() ?? '',
    receipts: shownPaymentReceipts(t, topup, page),
    transaction: page.receipts.length === 0 ? openTransaction(t, topup) : [],
    addSlots: topup.then?.status === 'done' ? undefined : botUrl(app, 'slots'),
    qr: page.qr,
    xrpLink: topup.destinationTag === null ? undefined : due.pageQr,
    // An unknown transaction has not failed, so its sender must not be asked to pay again.
    failedTx: topup.reason === TX_NOT_FOUND ? null : topup.txHash,
    apps: walletApps(page.address),
    address: page.address,
    botUrl: botUrl(app),
    otherAsset: botUrl(app, 'topup'),
    support: botUrl(app, 'help'),
    statusPath: `/pay/${topup.handle}/status`,
    confirmPath: `/pay/${topup.handle}/confirm`,
    script: '/scripts/pay.js',
  }
}

/** What the payer can do; a payment to another address is not recorded. */
function afterRejection({ supportUrl }: App, t: Translate, { reason }: Topup): string {
  if (reason === 'wrong_recipient') return t('pages:pay.elsewhere')
  return t(supportUrl === undefined ? 'pages:pay.recorded' : 'pages:pay.support')
}

/** @param page `isUnpaid`: whether the quote, or what is left of it, can be paid now */
function titleOf(t: Translate, topup: Topup, page: { readonly isUnpaid: boolean }): string {
  if (PAYABLE.includes(topup.status) && !page.isUnpaid) return t('pages:pay.title.expired')
  if (topup.status === 'expired') return t('pages:pay.title.expired')
  if (ON_ITS_WAY.includes(topup.status)) return t('pages:pay.title.sent')
  if (topup.status !== 'credited') {
    return t('pages:pay.title', { amount: roundedAmountText(t, topup, topup.amount) })
  }
  const credits = creditsWithUsd(t, topup.creditedCredits)
  return t('pages:pay.title.credited', { credits })
}

/** Remaining time, counted down by the page's script. */
function countdown(t: Translate, { expiresAt }: Topup, now: Date) {
  return {
    totalSeconds: QUOTE_SECONDS,
    seconds: Math.max(1, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000)),
    announcements: ANNOUNCED_SECONDS.map((seconds) => ({
      seconds,
      text: t('pages:pay.left', { count: seconds / 60 }),
    })),
  }
}

/** State of the payment, in one sentence or two. */
export function statusLine(t: Translate, topup: Topup): string {
  const { status, wallet, creditedCredits, confirmations, requiredConfirmations } = topup
  if (status === 'draft' && topup.reason === TX_NOT_FOUND) return notFound(t, topup)
  return t(`pages:pay.status.${status}`, {
    paid: topup.paidAmount === null ? '' : roundedAmountText(t, topup, topup.paidAmount),
    credits: creditsWithUsd(t, creditedCredits),
    wallet: id(shortAddress(wallet)),
    count: Math.min(confirmations, requiredConfirmations),
    total: requiredConfirmations,
    reason: reasonText(t, topup.reason),
    reference: id(shortAddress(topup.handle)),
  })
}

/** Text for a submitted transaction that no endpoint knows: it may be mistyped. */
function notFound(t: Translate, { txHash }: Topup): string {
  return t('pages:pay.notFound', { hash: id(shortAddress(txHash ?? '')) })
}

/** Known reasons as a sentence; other revert reasons verbatim. */
function reasonText(t: Translate, reason: string | null) {
  if (reason === null) return ''
  const key = `pages:pay.reason.${payerProblem(reason) ?? reason}`
  return hasText(key) ? t(checkedKey(key)) : id(reason)
}

/** Remarks about the payment. */
function remarks(t: Translate, { topup, rest, receipts, timezone }: PayPage): readonly string[] {
  const { status, paidAmount, amount, expiresAt } = topup
  if (status === 'expired' && topup.reason === TX_NOT_FOUND) return [notFound(t, topup)]
  if (status !== 'credited' || paidAmount === null) return []
  const isLate = receipts.some(({ paidAt }) => paidAt >= expiresAt)
  const values = {
    paid: roundedAmountText(t, topup, paidAmount),
    amount: roundedAmountText(t, topup, amount),
  }
  return [
    ...(paidAmount < amount ? [t('pages:pay.less', values)] : []),
    ...(rest === undefined ? [] : [restLine(t, rest, timezone)]),
    ...(paidAmount > amount ? [t('pages:pay.more', values)] : []),
    ...(isLate ? [t('pages:pay.late')] : []),
    ...waitingPurchase(t, topup),
  ]
}

/** Sentence with the reason why the slots are not bought yet. */
function waitingPurchase(t: Translate, { then }: Topup): readonly string[] {
  if (then === null || then.status === 'done' || then.reason === null) return []
  const slots = t('units:slots', { count: then.slots })
  return [t('bot:topup.slotsWaiting', { slots, reason: refusalTitle(t, then.reason) })]
}

function restLine(t: Translate, rest: Topup, timezone: string): string {
  const time = formatTime(rest.expiresAt, t.locale, timezone, { offset: true })
  return t('pages:pay.rest', { rest: roundedAmountText(t, rest, rest.amount), time })
}

/** Data that the page's script passes to a wallet. */
function walletData(topup: Topup) {
  const { asset, decimals, transaction, contractWallet, approval, amount } = topup
  return JSON.stringify({
    chain: chainParams(),
    asset,
    decimals,
    amount: numberToHex(amount),
    payment: transaction && { ...transaction, value: numberToHex(transaction.value) },
    contractPayment: contractWallet && {
      ...contractWallet,
      value: numberToHex(contractWallet.value),
    },
    approval: approval && {
      token: approval.token,
      spender: approval.spender,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: [approval.spender, approval.amount],
      }),
    },
  })
}

/** Sentences of the wallet part as HTML, with placeholders that its script fills. */
function walletTexts(t: Translate, topup: Topup) {
  const place = (name: string) => html(`<bdi data-fill="${name}"></bdi>`)
  const chain = servedChain().name
  return {
    chain: t.html('pages:pay.wallet.chain', { chain, current: place('current') }),
    balance: t.html('pages:pay.wallet.balance', {
      need: roundedAmountText(t, topup, topup.amount),
      have: place('have'),
    }),
    gas: t.html('pages:pay.wallet.gas', { need: place('need'), have: place('have') }),
  }
}
