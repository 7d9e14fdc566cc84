/** What a top-up would cost now, for texts that come before its quote. */
import type { AssetKey } from '../price-list.ts'
import type { PaymentOptions } from './payment-options.ts'
import { quotedUnitsFor, usdRateOf } from './rules.ts'

/**
 * Amount of a quote for these credits at today's price, in the asset's smallest unit, at most 15 s old; undefined while
 * the asset cannot be quoted.
 */
export async function expectedUnits(
  { paymentOptions }: { readonly paymentOptions: PaymentOptions },
  key: AssetKey,
  credits: number,
): Promise<bigint | undefined> {
  const state = (await paymentOptions.list()).find(({ asset }) => asset.key === key)
  if (state?.price === undefined || !state.available || state.paused) return undefined
  return quotedUnitsFor(credits, usdRateOf(key, state.price))
}
