/** Prices on buttons. */
import { usdText } from '#src/billing/price-text.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { LABEL_BUDGETS, labelWidth } from '#src/telegram/buttons.ts'

/**
 * A label with a price in credits, or in dollars if the row is too narrow for it; the text above has both.
 *
 * @param write inserts the price into the label
 */
export function labelWithPrice(
  t: Translate,
  credits: number,
  write: (price: string) => string,
): string {
  const label = write(t('units:credits', { count: credits }))
  return labelWidth(label) <= LABEL_BUDGETS[0] ? label : write(usdText(t, credits))
}
