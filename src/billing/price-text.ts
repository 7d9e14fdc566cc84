import { formatAmount, formatDuration } from '#src/i18n/format.ts'
import type { TextValues, Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { ErrorCode } from '#src/kernel/errors.ts'
import {
  PERIOD_DAYS,
  SLOT_PRICE_CREDITS,
  SLOTS_MAX,
  USD_PER_1000_CREDITS_MICROS,
} from './price-list.ts'
import { priceSlots } from './subscriptions/rules.ts'

/** Price of credits in US dollars. */
export function usdText(t: Translate, credits: number): string {
  const units = BigInt(credits) * BigInt(USD_PER_1000_CREDITS_MICROS)
  // The price is in 10 ** -6 dollars for 1000 credits, so the product is in 10 ** -9 dollars.
  return formatAmount({ units, decimals: 9, symbol: 'USD' }, t.locale)
}

/** Credits with their price in US dollars. */
export function creditsWithUsd(t: Translate, credits: number): string {
  return t('units:creditsUsd', {
    credits: t('units:credits', { count: credits }),
    usd: usdText(t, credits),
  })
}

/** Values of the text that explains slots: price and term of one, and how many a wallet may have. */
export function slotTerms(t: Translate) {
  return {
    price: creditsWithUsd(t, SLOT_PRICE_CREDITS),
    duration: formatDuration(PERIOD_DAYS * DAY_SECONDS, t.locale, 'long'),
    max: SLOTS_MAX,
  }
}

/** Refusals whose text names a number of credits (`count`) and its price. */
const PRICED: readonly ErrorCode[] = ['insufficient_credits', 'price_changed', 'payment_required']

/** The values of a refusal's text, with the price of the credits that it names. */
export function withUsdPrice(t: Translate, code: ErrorCode, values: TextValues = {}): TextValues {
  const { count } = values
  const isPriced = PRICED.includes(code) && typeof count === 'number'
  return isPriced ? { ...values, usd: usdText(t, count) } : values
}

/** Says what a renewal costs, and how many credits are missing. */
export function missingCreditsText(
  t: Translate,
  { price, count }: { readonly price: string; readonly count: number },
): string {
  return count === 0
    ? t('notices:slots-end.covered', { price })
    : t('notices:slots-end.missing', { price, count, usd: usdText(t, count) })
}

/** Says what automatic renewal costs if it is turned on. */
export function renewalOfferText(
  t: Translate,
  { credits, periods }: { readonly credits: number; readonly periods: number },
): string {
  const duration = formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
  return t('notices:slots-end.offer', { price: creditsWithUsd(t, credits), duration })
}

/** Says whether slots are renewed at the end of their term, and at what price. */
export function renewalText(
  t: Translate,
  {
    quantity,
    periods,
    renew,
  }: { readonly quantity: number; readonly periods: number; readonly renew: boolean },
): string {
  if (!renew) return t('bot:slots.renewalOff')
  const duration = formatDuration(periods * PERIOD_DAYS * DAY_SECONDS, t.locale, 'long')
  const { totalCredits } = priceSlots(quantity, periods)
  return t('bot:slots.renewalOn', { duration, price: creditsWithUsd(t, totalCredits) })
}
