import {
  DURATION_DISCOUNTS,
  FREE_TIER_DAILY_CALLS,
  MIN_TOPUP_CREDITS,
  PERIOD_DAYS,
  RESOURCE_PRICES_CREDITS,
  RESOURCES,
  SLOT_PRICE_CREDITS,
  TRIAL_DAYS,
  TRIAL_SLOTS,
  VOLUME_DISCOUNTS,
} from '#src/billing/price-list.ts'
import { usdText } from '#src/billing/price-text.ts'
import type { AssetState } from '#src/billing/topups/payment-options.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import { formatDuration, formatList, formatPercent } from '#src/i18n/format.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import type { App } from '#src/operations/define.ts'

/** A price and the goods that it buys. */
interface PriceCard {
  readonly title: string
  readonly price: string
  /** The price in dollars, and the unit that it is for. */
  readonly below: readonly string[]
  /** Description of the goods. */
  readonly about?: string
  readonly rows: readonly Row[]
  readonly note: string | undefined
}

interface Row {
  readonly label: string
  readonly value: string
  /** Whether the value contains no letters, so that its direction must be set. */
  readonly isNumber?: boolean
  readonly usd?: string
}

const BPS = 10_000

/**
 * Prices of the free tier, a slot and a call, from the price list; the call only where metered data
 * is available.
 */
export function priceCards(
  app: Pick<App, 'billing'>,
  t: Translate,
  assets: readonly AssetState[],
): readonly PriceCard[] {
  const offersData = app.billing.resources.length > 0
  return [freeCard(t, offersData), slotCard(app, t, assets), ...(offersData ? [callCard(t)] : [])]
}

function freeCard(t: Translate, offersData: boolean): PriceCard {
  return {
    title: t('pages:home.price.free'),
    price: usdText(t, 0),
    below: [t('pages:home.price.sign')],
    rows: [
      { label: slots(t, TRIAL_SLOTS), value: days(t, TRIAL_DAYS) },
      ...(offersData
        ? [
            {
              label: t('pages:home.price.calls'),
              value: t('pages:home.price.daily', { max: FREE_TIER_DAILY_CALLS }),
            },
          ]
        : []),
    ],
    note: undefined,
  }
}

function slotCard(
  app: Pick<App, 'billing'>,
  t: Translate,
  assets: readonly AssetState[],
): PriceCard {
  const off = (bps: number) => formatPercent(-bps / BPS, t.locale)
  return {
    title: t('pages:home.price.slot'),
    price: credits(t, SLOT_PRICE_CREDITS),
    below: [usdText(t, SLOT_PRICE_CREDITS), days(t, PERIOD_DAYS)],
    about: t('pages:home.price.room'),
    rows: [
      ...DURATION_DISCOUNTS.toReversed().map(({ minPeriods, discountBps }) => ({
        label: days(t, minPeriods * PERIOD_DAYS),
        value: off(discountBps),
        isNumber: true,
      })),
      ...VOLUME_DISCOUNTS.toReversed().map(({ minQuantity, discountBps }) => ({
        label: t('pages:home.price.orMore', { slots: slots(t, minQuantity) }),
        value: off(discountBps),
        isNumber: true,
      })),
      priceRow(t, t('pages:home.price.topup'), MIN_TOPUP_CREDITS),
    ],
    note: payments(app, t, assets),
  }
}

function callCard(t: Translate): PriceCard {
  const least = Math.min(...RESOURCES.map((id) => RESOURCE_PRICES_CREDITS[id]))
  return {
    title: t('pages:home.price.calls'),
    price: credits(t, least),
    below: [t('pages:home.price.perCall')],
    rows: RESOURCES.map((id) => {
      const label = t(checkedKey(`pages:home.price.resource.${id}`))
      return priceRow(t, label, RESOURCE_PRICES_CREDITS[id])
    }),
    note: undefined,
  }
}

/** Payment assets available now, with bonuses. */
function payments(
  { billing }: Pick<App, 'billing'>,
  t: Translate,
  assets: readonly AssetState[],
): string | undefined {
  const usable = assets.filter(({ available, paused }) => available && !paused)
  if (usable.length === 0) return undefined
  const names = usable.map(({ asset }) => {
    const symbol = symbolOf(asset.key, billing.serviceTokenSymbol)
    if (asset.bonusBps === 0) return symbol
    const percent = formatPercent(asset.bonusBps / BPS, t.locale, { signed: true })
    return `${symbol} (${percent})`
  })
  return t('pages:home.cost.assets', { assets: formatList(names, t.locale) })
}

function priceRow(t: Translate, label: string, price: number): Row {
  return { label, value: credits(t, price), usd: usdText(t, price) }
}

function credits(t: Translate, count: number): string {
  return t('units:credits', { count })
}

function slots(t: Translate, count: number): string {
  return t('units:slots', { count })
}

function days(t: Translate, count: number): string {
  return formatDuration(count * DAY_SECONDS, t.locale, 'long')
}
