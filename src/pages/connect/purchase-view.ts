/** Texts of the purchase that a chat requested together with the right to spend. */
import { unpacked } from '#src/actions/codec.ts'
import { type AssetKey, MIN_TOPUP_CREDITS, PAYMENT_ASSETS } from '#src/billing/price-list.ts'
import { creditsWithUsd, renewalText, usdText } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { expectedUnits } from '#src/billing/topups/payment-options.ts'
import { paymentAssetOf, symbolOf } from '#src/billing/topups/rules.ts'
import { formatAmount, shortAddress } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import type { ConnectOffer } from '#src/recipients/connect.ts'
import { minimumText, type OrderLine, slotsText } from '../pay/order.ts'

/** Slots that the chat buys once it may spend. */
export interface AskedPurchase {
  readonly slots: number
  readonly periods: number
  readonly autoRenew: boolean
  /** The top-up that pays for them; undefined if the wallet has the credits. */
  readonly topup: AskedTopup | undefined
}

interface AskedTopup {
  readonly credits: number
  /** Ticker of the asset. */
  readonly asset: string
  /** The amount at today's price; undefined while there is none. */
  readonly amount:
    | { readonly units: bigint; readonly decimals: number; readonly symbol: string }
    | undefined
}

/** The purchase with which the chat continues; undefined without one. */
export async function readAskedPurchase(
  app: Pick<App, 'billing' | 'paymentOptions'>,
  { goesOn }: Pick<ConnectOffer, 'goesOn'>,
): Promise<AskedPurchase | undefined> {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  if (press?.verb === 'slots.quote') {
    const { quantity, periods, renew } = press.args
    return { slots: quantity, periods, autoRenew: renew, topup: undefined }
  }
  if (press?.verb !== 'topup.buy') return undefined
  const asked = press.args
  const { quantity: slots, periods, renew: autoRenew, credits } = asked
  const key = PAYMENT_ASSETS.find((known) => known.key === asked.asset)?.key
  const topup =
    key === undefined
      ? { credits, asset: asked.asset, amount: undefined }
      : await readTopup(app, key, credits)
  return { slots, periods, autoRenew, topup }
}

async function readTopup(
  app: Pick<App, 'billing' | 'paymentOptions'>,
  key: AssetKey,
  credits: number,
): Promise<AskedTopup> {
  const symbol = symbolOf(key, app.billing.serviceTokenSymbol)
  const units = await expectedUnits(app, key, credits)
  const amount =
    units === undefined ? undefined : { units, decimals: paymentAssetOf(key).decimals, symbol }
  return { credits, asset: symbol, amount }
}

/** The requested purchase as an order. `spendOf`: the wallet that pays, if it is known. */
export function askedOrder(
  t: Translate,
  asked: AskedPurchase,
  { spendOf }: Pick<ConnectOffer, 'spendOf'>,
): { readonly lines: readonly OrderLine[]; readonly remarks: readonly string[] } {
  return { lines: linesOf(t, asked, spendOf), remarks: remarksOf(t, asked) }
}

function linesOf(
  t: Translate,
  asked: AskedPurchase,
  wallet: ConnectOffer['spendOf'],
): readonly OrderLine[] {
  const { slots, periods, topup } = asked
  const what = slotsText(t, { slots, periods })
  const { totalCredits } = priceSlots(slots, periods)
  const price = creditsWithUsd(t, totalCredits)
  return [
    ...(topup === undefined
      ? [{ label: what, value: price }]
      : [
          {
            label: t('units:credits', { count: topup.credits }),
            value: usdText(t, topup.credits),
          },
          { label: t('pages:pay.order.part', { what }), value: price, isPart: true },
        ]),
    ...(wallet === undefined
      ? []
      : [{ label: t('pages:pay.order.wallet'), value: shortAddress(wallet), isCode: true }]),
    { label: t('pages:pay.order.total'), value: totalText(t, asked), isTotal: true },
  ]
}

/** What is paid: credits, or the asset as long as it has a price, with dollars. */
function totalText(t: Translate, { slots, periods, topup }: AskedPurchase): string {
  if (topup === undefined) return creditsWithUsd(t, priceSlots(slots, periods).totalCredits)
  const usd = usdText(t, topup.credits)
  return topup.amount === undefined ? usd : `≈ ${formatAmount(topup.amount, t.locale)} · ${usd}`
}

function remarksOf(
  t: Translate,
  { slots, periods, autoRenew, topup }: AskedPurchase,
): readonly string[] {
  const { totalCredits } = priceSlots(slots, periods)
  const leavesCredits = topup !== undefined && topup.credits > totalCredits
  return [
    topup === undefined ? t('pages:connect.allow.fromCredits') : payText(t, topup),
    renewalText(t, { quantity: slots, periods, renew: autoRenew }),
    ...(topup?.credits === MIN_TOPUP_CREDITS && leavesCredits ? [minimumText(t)] : []),
  ]
}

function payText(t: Translate, { asset, amount }: AskedTopup): string {
  return amount === undefined
    ? t('pages:connect.allow.paidIn', { asset: id(asset) })
    : t('pages:connect.allow.paidAbout', { amount: formatAmount(amount, t.locale) })
}
