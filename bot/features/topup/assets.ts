import type { z } from 'zod'
import { type AssetKey, PAYMENT_ASSETS } from '#src/billing/price-list.ts'
import { paymentAssetOf, symbolOf, usdRateOf } from '#src/billing/topups/rules.ts'
import { ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { App } from '#src/operations/define.ts'
import { getPricing } from '#src/operations/rest/pricing.ts'
import { PricingDocument } from '#src/operations/rest/pricing-document.ts'
import type { BotContext } from '../../core/context.ts'
import type { OfferedAsset } from './asset-view.ts'

/** Order in which assets are shown. */
const ORDER: readonly AssetKey[] = ['service', 'WFLR', 'FLR', 'FXRP', 'XRP']

/** Every payment asset, in its current state. */
export async function offeredAssets(ctx: BotContext): Promise<readonly OfferedAsset[]> {
  const pricing = Pricing.parse(await ctx.call(getPricing))
  const states = await ctx.app.paymentOptions.list()
  return ORDER.map((key) => {
    const price = states.find(({ asset }) => asset.key === key)?.price
    return offered(ctx, pricing, { key, rate: price && usdRateOf(key, price) })
  })
}

const Pricing = PricingDocument.pick({ assets: true, nativeFlr: true, nativeXrp: true })
type Pricing = z.output<typeof Pricing>

type Terms = Pick<
  Pricing['nativeFlr'],
  'available' | 'paused' | 'amountPer1000Credits' | 'capPerTopup'
> & { readonly place: string }

function offered(
  { app }: BotContext,
  pricing: Pricing,
  { key, rate }: Pick<OfferedAsset, 'key' | 'rate'>,
): OfferedAsset {
  const { decimals, bonusBps } = paymentAssetOf(key)
  const symbol = symbolOf(key, app.billing.serviceTokenSymbol)
  const terms = termsOf(pricing, key, symbol)
  const { capPerTopup } = terms
  return {
    key,
    symbol,
    decimals,
    bonusBps,
    state: rate === undefined ? stateOf({ ...terms, available: false }) : stateOf(terms),
    rate,
    per1000Units: BigInt(terms.amountPer1000Credits),
    capUnits: capPerTopup === null ? undefined : BigInt(capPerTopup) * 10n ** BigInt(decimals),
  }
}

function termsOf({ assets, nativeFlr, nativeXrp }: Pricing, key: AssetKey, symbol: string): Terms {
  if (key === 'FLR') return { ...nativeFlr, place: nativeFlr.payTo }
  if (key === 'XRP') return { ...nativeXrp, place: nativeXrp.address }
  const token = assets.find((asset) => asset.symbol === symbol)
  if (token === undefined) throw new Error(`${symbol} has no price`)
  return { ...token, place: token.address }
}

function stateOf({ place, available, paused }: Terms): OfferedAsset['state'] {
  if (place === '' || place === ZERO_ADDRESS) return 'off'
  if (paused) return 'paused'
  return available ? 'open' : 'unpriced'
}

/** Key of an asset by its name in button data; undefined for an unknown name. */
export function findAssetKey(nameInButton: string): AssetKey | undefined {
  return PAYMENT_ASSETS.find(({ key }) => key === nameInButton)?.key
}

/** Key of an asset by its ticker. */
export function assetKeyOfSymbol({ billing }: Pick<App, 'billing'>, symbol: string): AssetKey {
  const key = findAssetKey(symbol === billing.serviceTokenSymbol ? 'service' : symbol)
  if (key === undefined) throw new Error(`nothing is paid with ${symbol}`)
  return key
}
