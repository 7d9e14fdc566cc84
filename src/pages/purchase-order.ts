/** Texts of the purchase that a chat requested together with the right to spend. */
import { argumentsOf, unpacked } from '#src/actions/codec.ts'
import { MIN_TOPUP_CREDITS, PAYMENT_ASSETS } from '#src/billing/price-list.ts'
import { creditsWithUsd, renewalText, usdText } from '#src/billing/price-text.ts'
import { priceSlots } from '#src/billing/subscriptions/rules.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { id, type Translate } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import type { ConnectOffer } from '#src/recipients/connect.ts'
import { minimumText, type OrderLine, slotsText } from './pay-order.ts'

/** Slots that the chat buys once it may spend. */
interface AskedPurchase {
  readonly slots: number
  readonly periods: number
  readonly autoRenew: boolean
  /** The top-up that pays for them; undefined if the wallet has the credits. */
  readonly topup: { readonly credits: number; readonly asset: string } | undefined
}

/** The requested purchase as an order; undefined without one. */
export function askedOrder(
  t: Translate,
  app: Pick<App, 'billing'>,
  { goesOn, spendOf }: Pick<ConnectOffer, 'goesOn' | 'spendOf'>,
): { readonly lines: readonly OrderLine[]; readonly remarks: readonly string[] } | undefined {
  const asked = askedPurchase(app, goesOn)
  if (asked === undefined) return undefined
  return { lines: linesOf(t, asked, spendOf), remarks: remarksOf(t, asked) }
}

function askedPurchase(
  { billing }: Pick<App, 'billing'>,
  goesOn: string | undefined,
): AskedPurchase | undefined {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  if (press?.verb === 'slots.quote') {
    const { quantity, periods, renew } = argumentsOf<'slots.quote'>({ ...press, verb: press.verb })
    return { slots: quantity, periods, autoRenew: renew, topup: undefined }
  }
  if (press?.verb !== 'topup.buy') return undefined
  const asked = argumentsOf<'topup.buy'>({ ...press, verb: press.verb })
  const known = PAYMENT_ASSETS.find(({ key }) => key === asked.asset)
  const asset = known === undefined ? asked.asset : symbolOf(known.key, billing.serviceTokenSymbol)
  return {
    slots: asked.quantity,
    periods: asked.periods,
    autoRenew: asked.renew,
    topup: { credits: asked.credits, asset },
  }
}

function linesOf(
  t: Translate,
  { slots, periods, topup }: AskedPurchase,
  wallet: ConnectOffer['spendOf'],
): readonly OrderLine[] {
  const what = slotsText(t, { slots, periods })
  const { totalCredits } = priceSlots(slots, periods)
  const whole = topup?.credits ?? totalCredits
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
    { label: t('pages:pay.order.total'), value: usdText(t, whole), isTotal: true },
  ]
}

function remarksOf(
  t: Translate,
  { slots, periods, autoRenew, topup }: AskedPurchase,
): readonly string[] {
  return [
    topup === undefined
      ? t('pages:connect.allow.fromCredits')
      : t('pages:connect.allow.paidIn', { asset: id(topup.asset) }),
    renewalText(t, { quantity: slots, periods, renew: autoRenew }),
    ...(topup?.credits === MIN_TOPUP_CREDITS ? [minimumText(t)] : []),
  ]
}
