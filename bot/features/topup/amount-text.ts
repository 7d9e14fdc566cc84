import type { Topup } from '#src/billing/topups/model.ts'
import { formatAmount } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'

/** An amount of a top-up's asset as text, rounded; not for copying into a payment. */
export function topupAmountText(
  t: Translate,
  { asset, decimals }: Pick<Topup, 'asset' | 'decimals'>,
  units: bigint,
): string {
  return formatAmount({ units, decimals, symbol: asset }, t.locale)
}
