import { formatAmount } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { USD_PER_1000_CREDITS_MICROS } from './price-list.ts'

/** Price of credits in US dollars. */
export function usdText(t: Translate, credits: number): string {
  const units = BigInt(credits) * BigInt(USD_PER_1000_CREDITS_MICROS)
  // Micro-dollars of a thousand credits are 10 ** -9 dollars of one.
  return formatAmount({ units, decimals: 9, symbol: 'USD' }, t.locale)
}
