/**
 * Direct payments: a call of a metered resource carries the payment itself, by the scheme `exact` of x402 version 2. The
 * payer signs a transfer of USD₮0 (EIP-3009), which the service or a facilitator sends.
 *
 * What was transferred becomes credits of the payer, whatever becomes of the call. The call is then charged like every
 * other.
 *
 * @see x402, `specs/x402-specification-v2.md` and `specs/schemes/exact/scheme_exact_evm.md`
 */
import type { Hex } from 'viem'
import { z } from 'zod'
import type { TransferAuthorization } from '#src/chain/chain.ts'
import { MINUTE_SECONDS } from '#src/kernel/durations.ts'
import { Address, Hash, Units } from '#src/kernel/units.ts'

export const X402_VERSION = 2
export const EXACT_SCHEME = 'exact'

/**
 * The token of direct payments. It exists on Flare only.
 * @see x402, `@x402/evm`, default assets of `eip155:14`
 */
export const USDT0 = {
  chainId: 14,
  address: '0xe7cd86e13AC4309349F30B3435a9d337750fC82D',
  /** With the version and the chain, what a signature for this token names besides its address (EIP-712). */
  name: 'USD₮0',
  version: '1',
} as const

/** Seconds for which a client is asked to make its authorization valid. */
export const PAYMENT_SECONDS = 5 * MINUTE_SECONDS
/** The clocks of clients may be this much ahead. A longer authorization would have to be followed for longer. */
export const CLOCK_SKEW_SECONDS = 5 * MINUTE_SECONDS
/** Least time that an authorization must be valid for, so that it can still get into a block. */
export const LEAST_SECONDS = 10

/** A way to pay for a call now. */
export interface DirectOffer {
  readonly scheme: typeof EXACT_SCHEME
  /** CAIP-2 id of the chain. */
  readonly network: string
  /** In the token's smallest unit. */
  readonly amount: string
  readonly asset: Address
  readonly payTo: Address
  readonly maxTimeoutSeconds: number
  readonly extra: {
    readonly name: string
    readonly version: string
    readonly assetTransferMethod: 'eip3009'
    readonly assetSymbol: string
    readonly assetDecimals: number
    /** Credits that the payer gets; the call is paid from them. */
    readonly credits: number
    readonly termsVersion: string
    readonly termsUrl: string
    /** Whether the payer must have accepted the terms before. */
    readonly needsTerms: boolean
  }
}

/** The used members of a payment in the header `PAYMENT-SIGNATURE`. */
export const PaymentPayload = z.looseObject({
  x402Version: z.literal(X402_VERSION),
  accepted: z.looseObject({
    scheme: z.literal(EXACT_SCHEME),
    network: z.string(),
    amount: z.string(),
    asset: Address,
    payTo: Address,
  }),
  payload: z.looseObject({
    signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/),
    authorization: z.looseObject({
      from: Address,
      to: Address,
      value: Units,
      validAfter: Units,
      validBefore: Units,
      nonce: Hash,
    }),
  }),
})

/** A payment that fits an offer. Neither its signature nor the payer's balance is checked yet. */
export interface SignedPayment {
  readonly authorization: TransferAuthorization
  readonly signature: Hex
  readonly offer: DirectOffer
  /** The payload as the client sent it, for a facilitator. */
  readonly payload: unknown
}

/** Why a payment is refused, in the words of x402. */
export type PaymentReason =
  | 'invalid_payload'
  | 'invalid_network'
  | 'invalid_payment_requirements'
  | 'invalid_exact_evm_payload_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_value'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_payload_signature'
  | 'invalid_transaction_state'

/** Checks payments whose signature is checked, and has them sent. */
export interface Settler {
  /**
   * Why the payment cannot be made now; undefined if it can.
   * @throws AppError upstream `settlement_unavailable`, `dependency_unavailable`
   */
  check(payment: SignedPayment, signal?: AbortSignal): Promise<PaymentReason | undefined>
  /**
   * Has the transfer sent. What is said about it proves nothing: only the chain does.
   * @throws AppError upstream `settlement_unavailable`, `dependency_unavailable` if nothing was sent
   */
  settle(payment: SignedPayment, signal?: AbortSignal): Promise<void>
}
