/** Texts and buttons about slots that are paid for with a top-up. */

import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { PERIOD_DAYS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import type { Topup } from '#src/billing/topups/model.ts'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { refusalTitle } from '#src/i18n/refusal.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { linkHtml } from '../../views/markup.ts'
import { renewalLine, waitingLine } from '../../views/purchase-lines.ts'
import { act, back, inRows, type Reader } from '../../views/view.ts'
import { typeButtons } from '../new/view.ts'
import { resumeButton } from '../start/resume-view.ts'
import type { OfferedAsset } from './asset-view.ts'

/** Slots that are bought when a top-up is credited. */
export interface SlotPurchase extends ArgumentsOf<'topup.slots'> {
  /** Price of the slots. */
  readonly totalCredits: number
  /** Credits that the wallet has now. */
  readonly balanceCredits: number
  /** Labels of the watches that wait for a slot, oldest first. */
  readonly waiting: readonly string[]
}

/** Callback data of an asset's button. */
export function chosenData(
  asset: OfferedAsset['key'],
  credits: number | undefined,
  purchase: SlotPurchase | undefined,
): string {
  if (credits === undefined) return packed('topup.asset', { asset })
  if (purchase === undefined) return packed('topup.quote', { asset, credits })
  const { quantity, periods, renew } = purchase
  return packed('topup.buy', { asset, credits, quantity, periods, renew })
}

/** Lines with the watches, their price and renewal, and what is left of the top-up that pays for them. */
export function purchaseLines(
  t: Translate,
  purchase: SlotPurchase,
  topup: number,
): readonly (string | undefined)[] {
  const { quantity, periods, totalCredits, balanceCredits } = purchase
  const line = t.html('bot:topup.forSlots', {
    watches: t('units:watches', { count: quantity }),
    duration: formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'short'),
    price: creditsWithUsd(t, totalCredits),
    balance: creditsWithUsd(t, Math.max(0, balanceCredits + topup - totalCredits)),
  })
  return [line, renewalLine(t, purchase), waitingLine(t, purchase.waiting, quantity)]
}

/** Lines of an unpaid quote about the watches that it will pay for; empty if it pays for none. */
export function slotOrderLines(t: Translate, { then }: Topup): readonly string[] {
  if (then === null) return []
  const { slots: quantity, periods, autoRenew: renew } = then
  const line = t.html('bot:topup.buysSlots', {
    watches: t('units:watches', { count: quantity }),
    duration: formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'short'),
    price: creditsWithUsd(t, priceSlots(quantity, periods).totalCredits),
  })
  return [`🎟️ ${line}`, renewalLine(t, { quantity, periods, renew })]
}

/** Button back to the choice of the payment asset. It keeps the slots that the quote buys. */
export function backToAssets(t: Translate, { then }: Topup): Button {
  const data =
    then === null
      ? packed('topup')
      : packed('topup.slots', {
          quantity: then.slots,
          periods: then.periods,
          renew: then.autoRenew,
        })
  return back(t('bot:button.asset'), data)
}

/** Line with the paid amount, and a link to the receipt if the page's address works from outside. */
export function paidLine(t: Translate, page: string, paid: string): string {
  if (!isOpenLink(page)) return t.html('bot:topup.paid', { paid })
  const receipt = linkHtml(t('bot:topup.receipt'), page)
  return t.html('bot:topup.paidReceipt', { paid, receipt })
}

/** Line that says whether the slots of a credited top-up were bought, with the spent credits if known. */
export function boughtLine(
  t: Translate,
  { then }: Topup,
  spentCredits: number | undefined,
): string | undefined {
  if (then === null) return undefined
  const slots = t('units:slots', { count: then.slots })
  if (then.status === 'done') {
    const added =
      spentCredits === undefined
        ? t.html('bot:topup.slotsBought', { slots })
        : t.html('bot:topup.slotsPaid', { slots, price: creditsWithUsd(t, spentCredits) })
    const { slots: quantity, periods, autoRenew: renew } = then
    return `🎟️ ${added}\n${renewalLine(t, { quantity, periods, renew })}`
  }
  const reason = then.reason === null ? '' : refusalTitle(t, then.reason)
  return `⚠️ ${t.html('bot:topup.slotsWaiting', { slots, reason })}`
}

/** A credited top-up, with the remainder that can still be paid, and a pending draft of a watch. */
interface CreditedTopup {
  readonly topup: Topup
  readonly rest: Topup | undefined
  readonly resume: { readonly rev: number; readonly type: string } | undefined
}

/**
 * Whether the wizard for a new watch comes next: the slots were bought, no draft is pending and nothing
 * remains to be paid.
 */
export function isWizardNext({ topup, resume, rest }: CreditedTopup): boolean {
  return topup.then?.status === 'done' && resume === undefined && rest === undefined
}

/** Buttons for the next step: the pending draft, a new watch, or the slots. */
export function nextRows(
  reader: Reader,
  credited: CreditedTopup,
  style: 'primary' | undefined,
): Rows {
  const { t } = reader
  const { topup, resume } = credited
  if (resume !== undefined) return [[resumeButton(t, resume, style)]]
  if (isWizardNext(credited)) return inRows(typeButtons(reader), 2)
  return topup.then?.status === 'done'
    ? [[act(t('bot:button.newWatch'), packed('new.start'), style)]]
    : [[act(t('bot:button.slots'), packed('slots'), style)]]
}
