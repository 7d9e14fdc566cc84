/** Prices on buttons. */
import { usdText } from '#src/billing/price-text.ts'
import { formatNumber } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { LABEL_BUDGETS, labelWidth } from '#src/telegram/buttons.ts'

/** Credits with their price in US dollars, in the short form of buttons. */
export function priceOnButton(t: Translate, credits: number): string {
  return `${formatNumber(credits, t.locale)} · ${usdText(t, credits)}`
}

/**
 * A label with a price. If the row is too narrow for credits and dollars, it has the dollars; the text above
 * has both.
 *
 * @param write inserts the price into the label
 */
export function labelWithPrice(
  t: Translate,
  credits: number,
  write: (price: string) => string,
): string {
  const whole = write(priceOnButton(t, credits))
  return labelWidth(whole) <= LABEL_BUDGETS[0] ? whole : write(usdText(t, credits))
}
