/**
 * A top-up is a wallet's quote to buy credits: an asset, an amount and a price that is locked for ten
 * minutes. A payment names its top-up by the handle: in a parameter of the router, in the data of a plain
 * transfer, or by a destination tag on the XRP Ledger.
 *
 * A payment is a fact of a chain. Each payment is judged once, when it is deep enough, and is either
 * credited or recorded as unmatched. The state of a top-up is not stored: it follows from its payments, the
 * transactions that were submitted for it, and the clock.
 */
import { z } from 'zod'
import { DAY_SECONDS } from '#src/kernel/durations.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { Address, Hash, hashProblem, Id, Instant, Units } from '#src/kernel/units.ts'
import { MIN_TOPUP_CREDITS, type PaymentTokenKey, SLOTS_MAX } from '../price-list.ts'
import { PERIODS_MAX } from '../subscriptions/model.ts'

/** Channel that notifies of changed payments, with the top-up's handle. */
export const TOPUPS_CHANNEL = 'topups'

/** Validity of a quote. */
export const QUOTE_SECONDS = 600
/** Maximum number of credits of one top-up or payment, worth a billion US dollars. */
export const TOPUP_CREDITS_MAX = 1_000_000_000_000
/** Reason for a transaction that no endpoint has known so far. */
export const TX_NOT_FOUND = 'transaction_not_found'
/** Time for which the service looks for a transaction that no endpoint knows. */
export const UNKNOWN_TRANSACTION_SECONDS = 600
/** Time for which the service looks for a pending transaction. */
export const PENDING_TRANSACTION_SECONDS = DAY_SECONDS

/** Addresses and tokens of payments, as configured. */
export interface PaymentSetup {
  readonly router: Address | undefined
  /** Address for plain transfers of FLR. */
  readonly nativePayTo: Address | undefined
  /** Contracts of the tokens that are paid through the router. */
  readonly tokens: Readonly<Record<PaymentTokenKey, Address | undefined>>
  /** Price of one unit of the service's own token, in micro-dollars. */
  readonly serviceTokenUsdMicros: bigint | undefined
  /** Address for deposits on the XRP Ledger. */
  readonly xrpDepositAddress: string | undefined
}

export const TOPUP_STATUSES = [
  'draft',
  'submitted',
  'confirming',
  'credited',
  'expired',
  'failed',
  'rejected',
] as const
export type TopupStatus = (typeof TOPUP_STATUSES)[number]

export const SETTLEMENT_NAMES = {
  router: 'onchain_router_prepaid',
  native: 'native_transfer_prepaid',
  xrpl: 'xrpl_tag_prepaid',
  authorization: 'x402_exact',
} as const

/** Reasons why a payment is not credited, or why a submitted transaction contains no payment. */
export const PAYMENT_REFUSALS = [
  /** The payment names no known top-up. */
  'unknown_reference',
  'wrong_asset',
  /** The payment was an internal call of a contract, an escrow or a payment channel. */
  'unsupported_transfer',
  /** The transaction paid nothing to the service's addresses. */
  'wrong_recipient',
  'over_cap',
  /** The payment is worth less than one credit. */
  'too_small',
  /** The payment is worth more credits than `TOPUP_CREDITS_MAX`. */
  'too_large',
] as const
export type PaymentRefusal = (typeof PAYMENT_REFUSALS)[number]

/** Slots to buy when a top-up is credited. */
export const NewPurchase = z
  .strictObject({
    slots: z.int().min(1).max(SLOTS_MAX),
    periods: z.int().min(1).max(PERIODS_MAX).meta({ description: 'operations:field.periods' }),
    autoRenew: z.boolean().optional().meta({ description: 'operations:field.autoRenew' }),
  })
  .meta({ id: 'PurchaseRequest' })
export type NewPurchase = z.output<typeof NewPurchase>

/** State of a purchase that follows a top-up. */
export const Purchase = z
  .object({
    slots: z.int(),
    periods: z.int().meta({ description: 'operations:field.periods' }),
    autoRenew: z.boolean(),
    status: z.enum(['waiting', 'done']),
    subscriptionId: Id.nullable(),
    reason: z.string().nullable().meta({ description: 'operations:field.purchaseReason' }),
  })
  .meta({ id: 'Purchase' })
export type Purchase = z.output<typeof Purchase>

/** Body of `POST /topup`. */
export const NewTopup = z
  .strictObject({
    asset: z
      .string()
      .max(32)
      .optional()
      .meta({ description: 'operations:field.asset', examples: ['FLR'] }),
    credits: z.int().min(MIN_TOPUP_CREDITS).max(TOPUP_CREDITS_MAX).optional(),
    then: NewPurchase.optional().meta({ description: 'operations:field.purchase' }),
  })
  .meta({ id: 'TopupRequest' })
export type NewTopup = z.output<typeof NewTopup>

const draft = {
  handle: Hash.meta({ description: 'operations:field.paymentReference' }),
  status: z.enum(TOPUP_STATUSES),
  wallet: Address,
  asset: z.string(),
  credits: z.int(),
  bonusCredits: z.int().meta({ description: 'operations:field.bonusCredits' }),
  amount: Units.meta({ description: 'operations:field.smallestUnit' }),
  decimals: z.int().meta({ description: 'operations:field.assetDecimals' }),
  payTo: z.string().meta({ description: 'operations:field.payTo' }),
  destinationTag: z.int().nullable().meta({ description: 'operations:field.destinationTag' }),
  settlement: z.enum(Object.values(SETTLEMENT_NAMES)),
  chainId: z.int().meta({ description: 'operations:field.topupChain' }),
  transaction: z
    .object({ to: Address, value: Units, data: z.string() })
    .nullable()
    .meta({ description: 'operations:field.transaction' }),
  contractWallet: z
    .object({ to: Address, value: Units, data: z.string() })
    .nullable()
    .meta({ description: 'operations:field.contractWallet' }),
  approval: z
    .object({ token: Address, spender: Address, amount: Units })
    .nullable()
    .meta({ description: 'operations:field.approval' }),
  page: z.url(),
  pageQr: z.url().meta({ description: 'operations:field.pageQr' }),
  expiresAt: Instant.meta({ description: 'operations:field.quoteEnd' }),
  instructions: z.string(),
  then: Purchase.nullable().meta({ description: 'operations:field.purchase' }),
}

/** Response of `POST /topup`. */
export const TopupDraft = z.object(draft).meta({ id: 'TopupDraft' })
export type TopupDraft = z.output<typeof TopupDraft>

/** Response of `GET /topup/{handle}` and of a confirmation. */
export const Topup = z
  .object({
    ...draft,
    txHash: z.string().nullable(),
    confirmations: z.int(),
    requiredConfirmations: z.int(),
    paidAmount: Units.nullable().meta({ description: 'operations:field.paidAmount' }),
    creditedCredits: z.int().meta({ description: 'operations:field.creditedCredits' }),
    reason: z.string().nullable().meta({ description: 'operations:field.topupReason' }),
  })
  .meta({ id: 'Topup' })
export type Topup = z.output<typeof Topup>

/** Body of `POST /topup/{handle}/confirm`. */
export const ConfirmTopup = z
  .strictObject({
    txHash: textFormat(/^(0x)?[0-9a-fA-F]{64}$/, hashProblem).meta({
      description: 'operations:field.txHash',
    }),
  })
  .meta({ id: 'ConfirmTopup' })
export type ConfirmTopup = z.output<typeof ConfirmTopup>
