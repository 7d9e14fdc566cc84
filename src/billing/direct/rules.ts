import type { Hex } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import {
  DIRECT_ASSET,
  MIN_TOPUP_CREDITS,
  RESOURCE_PRICES_CREDITS,
  type ResourceId,
} from '../price-list.ts'
import { ONE_DOLLAR, unitsForCredits, usdRateOf } from '../topups/rules.ts'
import {
  CLOCK_SKEW_SECONDS,
  type DirectOffer,
  EXACT_SCHEME,
  LEAST_SECONDS,
  PAYMENT_SECONDS,
  PaymentPayload,
  type PaymentReason,
  type SignedPayment,
  USDT0,
} from './model.ts'

/** What the offers of direct payments contain. */
export interface OfferTerms {
  readonly chainId: number
  readonly payTo: Address
  readonly terms: { readonly version: string; readonly url: string }
}

/** Offers for a call of a resource: for this call alone, and for the smallest top-up. */
export function directOffers(
  resource: ResourceId,
  { chainId, payTo, terms }: OfferTerms,
): readonly DirectOffer[] {
  const offerOf = (credits: number, needsTerms: boolean): DirectOffer => ({
    scheme: EXACT_SCHEME,
    network: networkOf(chainId),
    amount: String(unitsForCredits(credits, usdRateOf(DIRECT_ASSET.key, ONE_DOLLAR)) ?? 0n),
    asset: USDT0.address,
    payTo,
    maxTimeoutSeconds: PAYMENT_SECONDS,
    extra: {
      name: USDT0.name,
      version: USDT0.version,
      assetTransferMethod: 'eip3009',
      assetSymbol: DIRECT_ASSET.key,
      assetDecimals: DIRECT_ASSET.decimals,
      credits,
      termsVersion: terms.version,
      termsUrl: terms.url,
      needsTerms,
    },
  })
  return [offerOf(RESOURCE_PRICES_CREDITS[resource], false), offerOf(MIN_TOPUP_CREDITS, true)]
}

/** CAIP-2 id of an EVM chain. */
export function networkOf(chainId: number): string {
  return `eip155:${chainId}`
}

/** Maximum length of a payment header. A signature of a contract wallet takes most of it. */
const HEADER_LENGTH_MAX = 16_384

/** The payload in a header `PAYMENT-SIGNATURE`; undefined if it is no JSON in base64. */
export function payloadOf(header: string): unknown {
  if (header.length > HEADER_LENGTH_MAX) return undefined
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
  } catch {
    return undefined
  }
}

/** Whether a payload names the scheme of direct payments. */
export function isDirect(payload: unknown): boolean {
  const { accepted } = (payload ?? {}) as {
    readonly accepted?: { readonly scheme?: unknown } | null
  }
  return accepted?.scheme === EXACT_SCHEME
}

/**
 * Compares a payment with the offers, and its time with the clock: everything that needs neither the chain nor a
 * signature.
 */
export function readPayment(
  payload: unknown,
  offers: readonly DirectOffer[],
  now: Date,
): SignedPayment | PaymentReason {
  const parsed = PaymentPayload.safeParse(payload)
  if (!parsed.success) return 'invalid_payload'
  const { accepted, payload: signed } = parsed.data
  const { authorization } = signed
  const [first] = offers
  if (accepted.network !== first?.network) return 'invalid_network'
  const offer = offers.find(
    ({ amount, asset, payTo }) =>
      amount === accepted.amount && asset === accepted.asset && payTo === accepted.payTo,
  )
  if (offer === undefined) return 'invalid_payment_requirements'
  if (authorization.to !== offer.payTo) return 'invalid_exact_evm_payload_recipient_mismatch'
  if (authorization.value !== BigInt(offer.amount)) {
    return 'invalid_exact_evm_payload_authorization_value'
  }
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  if (authorization.validAfter > seconds) {
    return 'invalid_exact_evm_payload_authorization_valid_after'
  }
  const latest = seconds + BigInt(PAYMENT_SECONDS + CLOCK_SKEW_SECONDS)
  if (authorization.validBefore < seconds || authorization.validBefore > latest) {
    return 'invalid_exact_evm_payload_authorization_valid_before'
  }
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { asset: token } = offer
  return {
    authorization: { token, from, to, value, validAfter, validBefore, nonce },
    signature: signed.signature as Hex,
    offer,
    payload,
  }
}

/** Whether an authorization is valid for long enough to get into a block. */
export function isInTime({ authorization }: SignedPayment, now: Date): boolean {
  return authorization.validBefore >= BigInt(Math.floor(now.getTime() / 1000) + LEAST_SECONDS)
}

/** Reference of the ledger entry of the call that a direct payment pays, by the number of the attempt. */
export function directUsageReference(handle: string, attempt: number): string {
  return `usage:x402:${handle}:${attempt}`
}
