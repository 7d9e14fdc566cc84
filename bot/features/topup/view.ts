import { formatUnits } from 'viem/utils'
import { packed } from '#src/actions/codec.ts'
import { type AssetKey, MIN_TOPUP_CREDITS } from '#src/billing/price-list.ts'
import { creditsWithUsd, usdText } from '#src/billing/price-text.ts'
import { type Topup, TX_NOT_FOUND } from '#src/billing/topups/model.ts'
import { payerProblem } from '#src/billing/topups/rules.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { formatPrice, shortAddress } from '#src/i18n/format.ts'
import { checkedKey, type Html, hasText, id, type Translate } from '#src/i18n/translate.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { codeHtml, pageHtml } from '../../views/markup.ts'
import { clockTime } from '../../views/time.ts'
import {
  act,
  back,
  menuButton,
  type Reader,
  screen,
  type View,
  walletName,
  wholeAddress,
} from '../../views/view.ts'
import { topupAmountText } from './amount-text.ts'
import { contractWalletLine } from './asset-view.ts'
import { leftText } from './countdown.ts'
import { topupPageUrl } from './page-link.ts'
import { copyRows, linkButton, payRows } from './payment-buttons.ts'
import {
  backToAssets,
  boughtLine,
  isWizardNext,
  nextRows,
  paidLine,
  slotOrderLines,
} from './purchase-view.ts'
import { payableOf, type ShownTopup } from './shown-topup.ts'

/** A quote in its current state. */
export function topupScreen(reader: Reader, shown: ShownTopup, now: Date): View {
  const payable = payableOf(shown)
  if (shown.isOnWays && payable !== undefined) return otherWays(reader, payable, now)
  switch (shown.topup.status) {
    case 'draft':
      return quote(reader, shown, now)
    case 'submitted':
    case 'confirming':
      return onItsWay(reader, shown)
    case 'credited':
      return credited(reader, shown)
    case 'expired':
      return expired(reader, shown)
    case 'failed':
    case 'rejected':
      return notPaid(reader, shown)
    default:
      return shown.topup.status satisfies never
  }
}

function quote(reader: Reader, { topup, isBack }: ShownTopup, now: Date): View {
  const { t } = reader
  const lines = [
    `💳 ${payLine(t, topup)}`,
    ...slotOrderLines(t, topup),
    lockedLine(reader, topup, now),
    isOpenLink(topup.page) ? undefined : pageHtml(topupPageUrl(reader, topup)),
    '',
    isBack || topup.reason !== TX_NOT_FOUND
      ? `⏳ ${t.html(isBack ? 'bot:topup.replaced' : 'bot:topup.waiting')}`
      : notFoundLine(t, topup),
  ]
  return screen(lines, [...payRows(reader, topup), [backToAssets(t, topup)]])
}

function lockedLine(reader: Reader, topup: Topup, now: Date): string {
  return reader.t.html('bot:topup.locked', {
    time: clockTime(reader, topup.expiresAt),
    duration: leftText(reader.t, topup, now),
  })
}

/** What a person needs who pays without the page: amount, address, and what carries the reference. */
function otherWays(reader: Reader, topup: Topup, now: Date): View {
  const { t } = reader
  const { handle, transaction } = topup
  const data = codeHtml(transaction?.data ?? handle)
  const lines = [
    `💳 ${payLine(t, topup)}`,
    priceLine(t, topup),
    lockedLine(reader, topup, now),
    '',
    howLine(t, topup),
    ...byHand(t, topup),
    isNative(topup) ? t.html('bot:topup.data', { data }) : undefined,
    isOpenLink(topup.page) ? undefined : pageHtml(topupPageUrl(reader, topup)),
  ]
  return screen(lines, [
    ...copyRows(reader, topup),
    [back(t('bot:button.payment'), packed('topup.check', { handle }))],
  ])
}

/** A quote that a newer quote has replaced, without countdown and buttons. */
export function retiredQuote({ t }: Reader, { topup }: ShownTopup): View {
  return screen([`💳 ${payLine(t, topup)}`, t.html('bot:topup.retired')], [])
}

/** Line about a submitted transaction that no endpoint knows: it may be mistyped. */
function notFoundLine(t: Translate, { txHash }: Topup): string {
  return `🔎 ${t.html('pages:pay.notFound', { hash: hashText(txHash ?? '') })}`
}

/** Line with the amount and its credits. */
function payLine(t: Translate, { amount, asset, decimals, credits, bonusCredits }: Topup): string {
  const values = {
    amount: topupAmountText(t, { asset, decimals }, amount),
    credits: creditsWithUsd(t, credits),
  }
  if (bonusCredits === 0) return t.html('bot:topup.pay', values)
  return t.html('bot:topup.payBonus', { ...values, bonus: creditsWithUsd(t, bonusCredits) })
}

/** Line with the wallet, and the price in total and per unit. */
function priceLine(t: Translate, { wallet, credits, amount, asset, decimals }: Topup): string {
  const perUnit = credits / 1000 / Number(formatUnits(amount, decimals))
  return t.html('bot:topup.to', {
    wallet: walletName(wallet),
    price: usdText(t, credits),
    asset: id(asset),
    unit: formatPrice({ value: perUnit.toFixed(12), symbol: 'USD' }, t.locale),
  })
}

/** Line with the payment instructions. */
function howLine(t: Translate, { approval, transaction }: Topup): string {
  if (approval !== null) return t.html('bot:topup.howToken')
  return t.html(transaction === null ? 'bot:topup.howXrp' : 'bot:topup.howNative')
}

/** Whether the payment is a plain transfer, which has the reference as data. */
function isNative({ approval, transaction }: Topup): boolean {
  return approval === null && transaction !== null
}

/** Lines for a manual payment, which is impossible with a token. */
function byHand(t: Translate, topup: Topup): readonly string[] {
  const { amount, decimals, asset, payTo, approval, destinationTag, contractWallet } = topup
  if (approval !== null) return []
  const exact = codeHtml(formatUnits(amount, decimals))
  return [
    t.html('bot:topup.exact', { amount: exact, asset: id(asset) }),
    t.html('bot:topup.address', { address: wholeAddress(payTo) }),
    ...(destinationTag === null
      ? []
      : [t.html('bot:topup.tag', { tag: codeHtml(String(destinationTag)) })]),
    ...(isNative(topup) ? [contractWalletLine(t, contractWallet)] : []),
  ]
}

/** Screen of a payment that was seen and has too few confirmations. */
function onItsWay({ t }: Reader, { topup, isBack }: ShownTopup): View {
  const { status, txHash, confirmations, requiredConfirmations } = topup
  const state =
    status === 'submitted'
      ? `👀 ${t.html(isBack ? 'bot:topup.replaced' : 'bot:topup.seen')}`
      : `⏳ ${t.html('bot:topup.confirming', {
          number: Math.min(confirmations, requiredConfirmations),
          total: requiredConfirmations,
        })}`
  const lines = [
    `💳 ${payLine(t, topup)}`,
    ...slotOrderLines(t, topup),
    state,
    txHash === null ? undefined : t.html('bot:topup.transaction', { hash: hashText(txHash) }),
  ]
  return screen(lines, [[menuButton(t)]])
}

function credited(reader: Reader, shown: ShownTopup): View {
  const { t } = reader
  const { topup, rest, balanceCredits, spentCredits } = shown
  const { creditedCredits, paidAmount } = topup
  const paid = topupAmountText(t, topup, paidAmount ?? topup.amount)
  const lines = [
    `✅ ${t.html('bot:topup.credited', { credits: creditsWithUsd(t, creditedCredits) })}`,
    paidLine(t, topupPageUrl(reader, topup), paid),
    remark(t, shown),
    boughtLine(t, topup, spentCredits),
    balanceCredits === undefined
      ? undefined
      : t.html('bot:topup.balance', { balance: creditsWithUsd(t, balanceCredits) }),
    ...(rest === undefined ? [] : restLines(reader, rest)),
  ]
  const next = nextRows(reader, shown, rest === undefined ? 'primary' : undefined)
  const rows =
    rest === undefined ? [...next, [againButton(t, shown)]] : [...payRows(reader, rest), ...next]
  const question = isWizardNext(shown) ? ['', t.html('bot:new.what')] : []
  return screen([...lines, ...question], [...rows, [menuButton(t)]])
}

/** Lines about paying the remainder. */
function restLines(reader: Reader, rest: Topup): readonly string[] {
  const { t } = reader
  return [
    '',
    t.html('bot:topup.rest', {
      amount: topupAmountText(t, rest, rest.amount),
      time: clockTime(reader, rest.expiresAt),
    }),
    ...(isOpenLink(rest.page) ? [] : [pageHtml(topupPageUrl(reader, rest))]),
  ]
}

/** Line about a payment that is late, or differs from the amount of the quote; else undefined. */
function remark(t: Translate, { topup, isLate }: ShownTopup): string | undefined {
  const { paidAmount, amount } = topup
  if (isLate) return t.html('bot:topup.late')
  if (paidAmount === null || paidAmount === amount) return undefined
  if (paidAmount > amount) return t.html('bot:topup.more')
  return t.html('bot:topup.less', {
    paid: topupAmountText(t, topup, paidAmount),
    amount: topupAmountText(t, topup, amount),
  })
}

/** Button for another top-up; after a partly paid quote expired, for the remainder if it can be bought. */
function againButton(t: Translate, { topup, asset }: ShownTopup): Button {
  const missing = topup.credits + topup.bonusCredits - topup.creditedCredits
  if (missing < MIN_TOPUP_CREDITS) return act(t('bot:button.topUpAgain'), packed('topup'))
  return act(t('bot:button.topUpRest'), quoteData(asset, missing))
}

/** Maximum number of credits in button data. */
export const BUTTON_CREDITS_MAX = 999_999_999

function quoteData(asset: AssetKey, credits: number): string {
  return packed('topup.quote', { asset, credits: Math.min(credits, BUTTON_CREDITS_MAX) })
}

function expired({ t }: Reader, { topup, asset }: ShownTopup): View {
  const lines = [
    `⌛ ${t.html('bot:topup.expired')}`,
    payLine(t, topup),
    '',
    t.html('bot:topup.expiredHelp'),
    topup.reason === TX_NOT_FOUND ? notFoundLine(t, topup) : undefined,
  ]
  return screen(lines, [
    [act(t('bot:button.newQuote'), quoteData(asset, topup.credits), 'primary')],
    [menuButton(t)],
  ])
}

/** Screen of a failed transaction, or a rejected payment. */
function notPaid(reader: Reader, shown: ShownTopup): View {
  const { t } = reader
  const { topup, asset } = shown
  const { status, reason, txHash } = topup
  const page = topupPageUrl(reader, topup)
  const isFailed = status === 'failed'
  const lines = [
    `⚠️ ${isFailed ? failedText(t, reason) : t.html('bot:topup.rejected', { reason: reasonText(t, reason) })}`,
    txHash === null ? undefined : t.html('bot:topup.transaction', { hash: hashText(txHash) }),
    isFailed ? undefined : afterRejection(t, topup),
  ]
  const retry =
    isFailed && isOpenLink(page) ? [linkButton(t('bot:button.payInBrowser'), page, 'primary')] : []
  return screen(lines, [
    retry,
    [act(t('bot:button.newQuote'), quoteData(asset, topup.credits))],
    [menuButton(t)],
  ])
}

/** Line about what the payer can do; a payment to another address is not recorded. */
function afterRejection(t: Translate, { reason, handle }: Topup): string {
  if (reason === 'wrong_recipient') return t.html('pages:pay.elsewhere')
  const reference = codeHtml(shortAddress(handle))
  return t.html('bot:topup.recorded', { reference })
}

function failedText(t: Translate, reason: string | null): string {
  if (reason === null) return t.html('bot:topup.failed')
  return t.html('bot:topup.failedReason', { reason: reasonText(t, reason) })
}

/** Known reasons as a sentence; other revert reasons verbatim. */
function reasonText(t: Translate, reason: string | null) {
  const key = `pages:pay.reason.${payerProblem(reason ?? '') ?? reason}`
  return hasText(key) ? t(checkedKey(key)) : (reason ?? '')
}

function hashText(hash: string): Html {
  return codeHtml(hash)
}
