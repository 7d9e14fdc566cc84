/** Prices and allowances. Credits are whole; prices in USD are micro-dollars. */

/** Micro-USD per 1000 credits. */
export const USD_PER_1000_CREDITS_MICROS = 1_000_000
export const MIN_TOPUP_CREDITS = 10_000
/** Free metered calls per UTC day. */
export const FREE_TIER_DAILY_CALLS = 50

/** Metered resources. Their descriptions: `operations:resource.<id>`. */
export const RESOURCES = [
  'rewards-intelligence-reports',
  'providers-rewards',
  'ftso-analytics',
] as const
export type ResourceId = (typeof RESOURCES)[number]

/** Path below which the operations of a resource are called. */
export function resourcePath(id: ResourceId): string {
  return `/data/${id}`
}

/** Price of one call, in credits. */
export const RESOURCE_PRICES_CREDITS: Readonly<Record<ResourceId, number>> = {
  'rewards-intelligence-reports': 10,
  'providers-rewards': 2,
  'ftso-analytics': 1,
}

/** Price of a slot for one period of 30 days, in credits. */
export const SLOT_PRICE_CREDITS = 500
/** Days of 24 hours in one period. */
export const PERIOD_DAYS = 30
/** Maximum number of a wallet's slots. */
export const SLOTS_MAX = 20

/** Maximum number of a wallet's watches where billing is disabled and slots are not counted. */
export const FREE_WATCHES_MAX = 200

/** Discounts in basis points, by minimum number of periods. */
export const DURATION_DISCOUNTS = [
  { minPeriods: 12, discountBps: 2000 },
  { minPeriods: 6, discountBps: 1000 },
] as const

/** Discounts in basis points, by minimum number of slots. */
export const VOLUME_DISCOUNTS = [
  { minQuantity: 10, discountBps: 1000 },
  { minQuantity: 5, discountBps: 500 },
] as const

/** Numbers of periods offered to people. */
export const OFFERED_PERIODS = [1, 6, 12] as const

/** Slots of the one-time free trial. */
export const TRIAL_SLOTS = 1
export const TRIAL_DAYS = 14

/** Limits in whole XRP or FXRP: of one top-up, and of the service's holdings. */
const XRP_CAPS = { capPerTopup: 1000, holdingsCap: 5000 } as const
const NO_CAPS = { capPerTopup: null, holdingsCap: null } as const

/**
 * Every payment asset, in the order of the pricing document: tokens that are paid through the router, then
 * coins.
 */
export const PAYMENT_ASSETS = [
  /** The service's own token. Its price is configured, not read from a feed. */
  { key: 'service', way: 'router', decimals: 18, feed: null, bonusBps: 1000, ...NO_CAPS },
  { key: 'WFLR', way: 'router', decimals: 18, feed: 'FLR/USD', bonusBps: 0, ...NO_CAPS },
  { key: 'FXRP', way: 'router', decimals: 6, feed: 'XRP/USD', bonusBps: 0, ...XRP_CAPS },
  { key: 'FLR', way: 'native', decimals: 18, feed: 'FLR/USD', bonusBps: 0, ...NO_CAPS },
  { key: 'XRP', way: 'xrpl', decimals: 6, feed: 'XRP/USD', bonusBps: 0, ...XRP_CAPS },
] as const

/**
 * The token that calls are paid with directly (x402, scheme `exact`). It has no quotes: its payer signs a transfer. One unit
 * counts as one US dollar.
 */
export const DIRECT_ASSET = {
  key: 'USDT0',
  way: 'authorization',
  decimals: 6,
  feed: null,
  bonusBps: 0,
  ...NO_CAPS,
} as const

/** One payment asset. Caps are in whole units. */
export type PaymentAsset = (typeof PAYMENT_ASSETS)[number] | typeof DIRECT_ASSET
export type AssetKey = PaymentAsset['key']
/** An asset with quotes. */
export type QuotedAssetKey = (typeof PAYMENT_ASSETS)[number]['key']
export type PaymentTokenKey = Extract<PaymentAsset, { way: 'router' }>['key']
