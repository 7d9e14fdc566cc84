/** The numbers of what is sold. Credits are whole; prices in USD are micro-dollars. */

/** Micro-USD per 1000 credits. */
export const USD_PER_1000_CREDITS_MICROS = 1_000_000
export const MIN_TOPUP_CREDITS = 10_000
/** Metered calls per UTC day that cost nothing. */
export const FREE_TIER_DAILY_CALLS = 50

/** What can be called for credits. Their descriptions: `operations:resource.<id>`. */
export const RESOURCES = [
  'rewards-intelligence-reports',
  'providers-rewards',
  'ftso-analytics',
] as const
export type ResourceId = (typeof RESOURCES)[number]

/** Where a resource and all below it is called, on this service's address. */
export function resourcePath(id: ResourceId): string {
  return `/data/${id}`
}

/** What one call costs. */
export const RESOURCE_PRICES_CREDITS: Readonly<Record<ResourceId, number>> = {
  'rewards-intelligence-reports': 10,
  'providers-rewards': 2,
  'ftso-analytics': 1,
}

/** What a slot costs for one period of 30 days. */
export const SLOT_PRICE_CREDITS = 500
/** Days of 24 hours in one period. */
export const PERIOD_DAYS = 30
/** Slots a wallet can have in all. */
export const SLOTS_MAX = 20

/** Watches a wallet can have where nothing is charged and slots are not counted. */
export const FREE_WATCHES_MAX = 200

/** Basis points off from so many periods on. */
export const DURATION_DISCOUNTS = [
  { minPeriods: 12, discountBps: 2000 },
  { minPeriods: 6, discountBps: 1000 },
] as const

/** Basis points off from so many slots on. */
export const VOLUME_DISCOUNTS = [
  { minQuantity: 10, discountBps: 1000 },
  { minQuantity: 5, discountBps: 500 },
] as const

/** Periods offered to people. */
export const UI_DURATIONS = [1, 6, 12] as const

/** The one-time free start. */
export const TRIAL_SLOTS = 1
export const TRIAL_DAYS = 14

/** Whole XRP or FXRP that one top-up may bring, and that we may hold of each. */
const XRP_CAPS = { capPerTopup: 1000, holdingsCap: 5000 } as const
const NO_CAPS = { capPerTopup: null, holdingsCap: null } as const

/** Every way to pay, in the order of the pricing document: tokens through the router, then the coins. */
export const PAYMENT_ASSETS = [
  /** The service's own token. Its price is set, not read from a feed. */
  { key: 'service', way: 'router', decimals: 18, feed: null, bonusBps: 1000, ...NO_CAPS },
  { key: 'WFLR', way: 'router', decimals: 18, feed: 'FLR/USD', bonusBps: 0, ...NO_CAPS },
  { key: 'FXRP', way: 'router', decimals: 6, feed: 'XRP/USD', bonusBps: 0, ...XRP_CAPS },
  { key: 'FLR', way: 'native', decimals: 18, feed: 'FLR/USD', bonusBps: 0, ...NO_CAPS },
  { key: 'XRP', way: 'xrpl', decimals: 6, feed: 'XRP/USD', bonusBps: 0, ...XRP_CAPS },
] as const

/** One way to pay. Caps are in whole units. */
export type PaymentAsset = (typeof PAYMENT_ASSETS)[number]
export type AssetKey = PaymentAsset['key']
export type PaymentTokenKey = Extract<PaymentAsset, { way: 'router' }>['key']
