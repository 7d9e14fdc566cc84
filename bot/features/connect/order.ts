/** Lines of HTML about the purchase for which a chat requests the right to spend, for the screen with the code. */
import { unpacked } from '#src/actions/codec.ts'
import { PERIOD_DAYS } from '#src/billing/price-list.ts'
import { creditsWithUsd } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { expectedUnits } from '#src/billing/topups/payment-options.ts'
import { paymentAssetOf, symbolOf } from '#src/billing/topups/rules.ts'
import { formatAmount, formatDuration } from '#src/i18n/format.ts'
import { id } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { getWalletStatus } from '#src/operations/chat/status.ts'
import type { BotContext } from '../../core/context.ts'
import { waitingLabels } from '../../core/watches.ts'
import { renewalLine } from '../../views/purchase-lines.ts'
import { findAssetKey } from '../topup/assets.ts'
import { purchaseLines } from '../topup/purchase-view.ts'

type Lines = readonly (string | undefined)[]

/** Lines of the order; empty if the chat does not continue with a purchase. */
export async function orderLines(ctx: BotContext, goesOn: string | undefined): Promise<Lines> {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  if (press?.verb === 'slots.quote') {
    return fromCredits(ctx, press.args)
  }
  if (press?.verb !== 'topup.buy') return []
  const asked = press.args
  const { quantity, periods, asset, credits } = asked
  const { balanceCredits } = await ctx.call(getWalletStatus)
  const { totalCredits } = priceSlots(quantity, periods)
  const waiting = await waitingLabels(ctx)
  return [
    ...purchaseLines(ctx.t, { ...asked, totalCredits, balanceCredits, waiting }, credits),
    await payLine(ctx, asset, credits),
  ]
}

/** What is paid: the amount at today's price, or only the asset while it has none. */
async function payLine({ app, t }: BotContext, asset: string, credits: number): Promise<string> {
  const key = findAssetKey(asset)
  const symbol = key === undefined ? asset : symbolOf(key, app.billing.serviceTokenSymbol)
  const units = key && (await expectedUnits(app, key, credits))
  if (key === undefined || units === undefined) {
    return t.html('pages:connect.allow.paidIn', { asset: id(symbol) })
  }
  const amount = formatAmount({ units, decimals: paymentAssetOf(key).decimals, symbol }, t.locale)
  return t.html('pages:connect.allow.paidAbout', { amount })
}

function fromCredits(
  { t }: BotContext,
  asked: { readonly quantity: number; readonly periods: number; readonly renew: boolean },
): Lines {
  const { quantity, periods } = asked
  const line = t.html('bot:connect.order', {
    watches: t('units:watches', { count: quantity }),
    duration: formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'short'),
    price: creditsWithUsd(t, priceSlots(quantity, periods).totalCredits),
  })
  return [line, renewalLine(t, asked), t.html('pages:connect.allow.fromCredits')]
}
