/** Offers that tell a payer the price of a call and how to get credits, in both versions of x402. */
import { z } from 'zod'
import { checkedKey, translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { DirectOffer, PaymentReason } from '../direct/model.ts'
import { networkOf } from '../direct/rules.ts'
import {
  MIN_TOPUP_CREDITS,
  RESOURCE_PRICES_CREDITS,
  type ResourceId,
  resourcePath,
  USD_PER_1000_CREDITS_MICROS,
} from '../price-list.ts'
import { SETTLEMENT_NAMES } from '../topups/model.ts'
import type { AssetState } from '../topups/payment-options.ts'
import { capUnits, symbolOf, unitsForCredits, usdRateOf } from '../topups/rules.ts'

/** The x402 scheme of this service: credits are bought in advance, and a call carries no payment. */
export const X402_SCHEME = 'flare-watchdog-prepaid' as const
const MAX_TIMEOUT_SECONDS = 600
const MIME_TYPE = 'application/json'
/** Amount that is due with the call itself: nothing, because credits are prepaid. */
const NOTHING_DUE = '0'

/** Properties of the service and its chain that the offers contain. */
export interface OfferContext {
  readonly publicUrl: string
  readonly chainId: number
  readonly chainName: string
  readonly serviceTokenSymbol: string
}

/** One way to pay for a resource. */
export const Offer = z
  .object({
    scheme: z.literal(X402_SCHEME),
    network: z.string(),
    maxAmountRequired: z.string(),
    resource: z.url(),
    description: z.string(),
    mimeType: z.string(),
    payTo: z.string(),
    asset: z.string(),
    maxTimeoutSeconds: z.int(),
    extra: z.object({
      settlement: z.enum(Object.values(SETTLEMENT_NAMES)),
      docs: z.string(),
      chainId: z.int(),
      assetSymbol: z.string(),
      assetDecimals: z.int(),
      bonusBps: z.int(),
      priceCredits: z.int(),
      usdPer1000CreditsMicros: z.string(),
      minTopupCredits: z.int(),
      authEndpoint: z.string(),
      tokenEndpoint: z.string(),
      topupEndpoint: z.string(),
      accountEndpoint: z.string(),
      pricingEndpoint: z.string(),
      flow: z.string(),
    }),
  })
  .meta({ id: 'PaymentOffer' })
export type Offer = z.output<typeof Offer>

/** A metered resource with its price and offers. */
export interface ResourceEntry {
  readonly resource: ResourceId
  readonly priceCredits: number
  readonly description: string
  readonly accepts: Offer[]
}

/** Price of a resource, with an offer for each asset of the EVM chain that can pay now. */
export function resourceEntry(
  resource: ResourceId,
  place: OfferContext,
  assets: readonly AssetState[],
  locale: Locale,
): ResourceEntry {
  const priceCredits = RESOURCE_PRICES_CREDITS[resource]
  const description = translate(locale, checkedKey(`operations:resource.${resource}`))
  const common = {
    scheme: X402_SCHEME,
    network: place.chainName,
    maxAmountRequired: NOTHING_DUE,
    resource: `${place.publicUrl}${PATHS.pricingEndpoint}#${resource}`,
    description,
    mimeType: MIME_TYPE,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
  }
  const accepts = assets.flatMap((state): Offer[] => {
    const { asset, place: to } = state
    if (asset.way === 'xrpl' || asset.way === 'authorization') return []
    if (to === undefined || !canBePaidNow(state)) return []
    const extra = {
      settlement: SETTLEMENT_NAMES[asset.way],
      docs: '/docs',
      chainId: place.chainId,
      assetSymbol: symbolOf(asset.key, place.serviceTokenSymbol),
      assetDecimals: asset.decimals,
      bonusBps: asset.bonusBps,
      priceCredits,
      usdPer1000CreditsMicros: String(USD_PER_1000_CREDITS_MICROS),
      minTopupCredits: MIN_TOPUP_CREDITS,
      ...PATHS,
      flow: translate(locale, `operations:flow.${asset.way}`),
    }
    return [{ ...common, payTo: to.payTo, asset: to.token ?? ZERO_ADDRESS, extra }]
  })
  return { resource, priceCredits, description, accepts }
}

/** Whether the smallest top-up can be quoted and paid in this asset at this moment. */
function canBePaidNow({ asset, available, paused, price, holdingsUnits }: AssetState): boolean {
  if (!available || paused || price === undefined) return false
  const smallest = unitsForCredits(MIN_TOPUP_CREDITS, usdRateOf(asset.key, price))
  if (smallest === undefined) return false
  const cap = capUnits(asset, 'holdingsCap')
  return cap === undefined || (holdingsUnits ?? 0n) + smallest <= cap
}

/** Paths of the operations that the purchase sequence needs. */
const PATHS = {
  authEndpoint: '/api/x402/auth/challenge',
  tokenEndpoint: '/api/x402/auth/token',
  topupEndpoint: '/api/x402/topup',
  accountEndpoint: '/api/x402/account',
  pricingEndpoint: '/api/x402/pricing',
} as const

/** Error of an unpaid call, in the words of x402. */
export type PaymentError = 'payment_required' | 'unsupported_scheme' | PaymentReason

/** The members of a 402 body for x402 version 1, and the rest of the resource's entry. */
export function paymentRequiredV1(error: PaymentError, entry: ResourceEntry) {
  return { x402Version: 1, error, ...entry } as const
}

/** Value of the header `PAYMENT-REQUIRED`: x402 version 2 in base64. The prepaid offers come first. */
export function paymentRequiredV2(
  error: PaymentError,
  { resource, accepts, description }: ResourceEntry,
  direct: readonly DirectOffer[],
  place: OfferContext,
): string {
  const url = `${place.publicUrl}${resourcePath(resource)}`
  const required = {
    x402Version: 2,
    error,
    resource: { url, description, mimeType: MIME_TYPE },
    accepts: [
      ...accepts.map(({ scheme, maxAmountRequired, asset, payTo, maxTimeoutSeconds, extra }) => ({
        scheme,
        network: networkOf(place.chainId),
        amount: maxAmountRequired,
        asset,
        payTo,
        maxTimeoutSeconds,
        extra,
      })),
      ...direct,
    ],
  }
  return Buffer.from(JSON.stringify(required)).toString('base64')
}
