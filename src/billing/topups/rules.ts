import { formatUnits } from 'viem/utils'
import type { Payment } from '#src/chain/chain.ts'
import { servedChain } from '#src/kernel/chains.ts'
import {
  type AssetKey,
  DIRECT_ASSET,
  PAYMENT_ASSETS,
  type PaymentAsset,
  USD_PER_1000_CREDITS_MICROS,
} from '../price-list.ts'
import { type PaymentRefusal, TOPUP_CREDITS_MAX } from './model.ts'
import type { CursorRow } from './payment-store.ts'

/** US dollars for one whole unit: `value / 10 ** decimals`, exactly; decimals may be negative. */
export interface UsdPrice {
  readonly value: bigint
  readonly decimals: number
}

/** Prices of an asset and of credits, from which the credits of an amount follow. */
export interface CreditRate {
  readonly price: UsdPrice
  /** Decimals of the asset's smallest unit. */
  readonly decimals: number
  readonly usdPer1000CreditsMicros: number
}

/** Price of `DIRECT_ASSET`. */
export const ONE_DOLLAR: UsdPrice = { value: 1n, decimals: 0 }

const UINT256_MAX = 2n ** 256n - 1n
const BPS = 10_000n

/** The entry of the price list. */
export function paymentAssetOf(key: AssetKey): PaymentAsset {
  const asset = [...PAYMENT_ASSETS, DIRECT_ASSET].find((paymentAsset) => paymentAsset.key === key)
  if (asset === undefined) throw new Error(`no payment asset ${key}`)
  return asset
}

/** The chain on which an asset is paid. */
export function chainOf(asset: AssetKey): CursorRow['chain'] {
  return paymentAssetOf(asset).way === 'xrpl' ? 'xrpl' : 'flare'
}

/** Confirmations on the XRP Ledger, where a validated ledger is final. */
export const XRPL_CONFIRMATIONS = 1

/** Confirmations that a payment needs before it is credited. */
export function requiredConfirmations(way: Payment['way'], confirmations: number): number {
  return way === 'xrpl' ? XRPL_CONFIRMATIONS : confirmations
}

/** A transaction hash in the notation of the asset's chain. */
export function transactionHashOf(key: AssetKey, text: string): string {
  const digits = text.replace(/^0x/, '')
  return paymentAssetOf(key).way === 'xrpl' ? digits.toUpperCase() : `0x${digits.toLowerCase()}`
}

/** Ticker of an asset. */
export function symbolOf(key: AssetKey, serviceTokenSymbol: string): string {
  if (key === 'service') return serviceTokenSymbol
  const { symbol } = servedChain()
  if (key === 'FLR') return symbol
  return key === 'WFLR' ? `W${symbol}` : key
}

/** Rate of an asset at a price, with today's price of credits. */
export function usdRateOf(key: AssetKey, price: UsdPrice): CreditRate {
  const { decimals } = paymentAssetOf(key)
  return { price, decimals, usdPer1000CreditsMicros: USD_PER_1000_CREDITS_MICROS }
}

/**
 * Price of credits in the asset's smallest unit, rounded up once; undefined when it exceeds the amounts of
 * the chain.
 */
export function unitsForCredits(credits: number, rate: CreditRate): bigint | undefined {
  return roundedUp(credits, rate, 1n)
}

/** Decimals that a person types, of an amount of at least one whole unit. */
const TYPED_DECIMALS = 2

/**
 * Amount of a quote: like `unitsForCredits`, but rounded up to few digits, because people type it. It is rounded to the
 * largest power of ten that is worth at most one credit, and from one whole unit upward to two decimals if that is
 * coarser. The payer is credited for the whole amount, so what rounding adds is not lost.
 */
export function quotedUnitsFor(credits: number, rate: CreditRate): bigint | undefined {
  const { units, credits: per } = exactRate(rate)
  if (per <= 0n) return undefined
  const ofCredit = 10n ** BigInt(String(units / per).length - 1)
  const amount = roundedUp(credits, rate, ofCredit)
  const typed = 10n ** BigInt(Math.max(0, rate.decimals - TYPED_DECIMALS))
  const isWhole = amount !== undefined && amount >= 10n ** BigInt(rate.decimals)
  return isWhole && typed > ofCredit ? roundedUp(credits, rate, typed) : amount
}

function roundedUp(credits: number, rate: CreditRate, step: bigint): bigint | undefined {
  const { units, credits: per } = exactRate(rate)
  if (units <= 0n || per <= 0n) return undefined
  const wanted = BigInt(credits) * units
  const amount = ((wanted + per * step - 1n) / (per * step)) * step
  return amount <= UINT256_MAX ? amount : undefined
}

/** Whole credits for an amount, rounded down; the remainder is dropped. */
export function creditsForUnits(amountUnits: bigint, rate: CreditRate): bigint {
  const { units, credits } = exactRate(rate)
  return units <= 0n ? 0n : (amountUnits * credits) / units
}

/** Bonus credits, rounded down. */
export function bonusFor(credits: bigint, key: AssetKey): bigint {
  return (credits * BigInt(paymentAssetOf(key).bonusBps)) / BPS
}

/** A rate as units and the credits they are worth, without rounding. */
function exactRate({ price, decimals, usdPer1000CreditsMicros }: CreditRate) {
  const { value, decimals: places } = price
  const scale = 10n ** BigInt(Math.abs(places))
  return {
    units: BigInt(usdPer1000CreditsMicros) * 10n ** BigInt(decimals) * (places > 0 ? scale : 1n),
    // 1000 credits, times a million micro-dollars per dollar.
    credits: 1_000_000_000n * value * (places < 0 ? scale : 1n),
  }
}

/** A cap of the price list in the smallest unit; undefined where the asset has no cap. */
export function capUnits(asset: PaymentAsset, cap: 'capPerTopup' | 'holdingsCap') {
  const whole = asset[cap]
  return whole === null ? undefined : BigInt(whole) * 10n ** BigInt(asset.decimals)
}

/** Credits and bonus of a quote or payment. */
export interface CreditsWithBonus {
  readonly credits: number
  readonly bonusCredits: number
}

/** Credits and bonus of a quote. */
export function creditsWithBonusOf(credits: number, key: AssetKey): CreditsWithBonus {
  return { credits, bonusCredits: Number(bonusFor(BigInt(credits), key)) }
}

/** Input of judging a payment: the payment and the top-up it names. */
export interface PaymentCase {
  readonly asset: string
  readonly amountUnits: bigint
  /** Whether the payment was made in a way that is not credited. */
  readonly isUnsupported?: boolean
  /** Undefined when the payment names no known top-up. */
  readonly topup: { readonly asset: AssetKey; readonly token: string | null } | undefined
  readonly rate: CreditRate | undefined
  /** Limit of the locked price, for a payment at that price. */
  readonly lock?: PriceLock | undefined
}

/** Limit of a quote's locked price. */
export interface PriceLock {
  /** Amount of the quote. */
  readonly quoteUnits: bigint
  /** Amount of the quote that earlier payments have used up at its locked price. */
  readonly usedUnits: bigint
  /** The current rate, for the part beyond the locked amount. */
  readonly beyond: CreditRate
}

/** Limit of the amount at the locked price, in quarters of the quote. */
const LOCK_FOURTHS = 5n

/**
 * Whether payments exceed 1.25 times their quote. Then the locked price applies only up to the amount of
 * the quote. Otherwise a small quote would give anybody the locked price for any amount.
 */
export function exceedsPriceLock(quoteUnits: bigint, paidUnits: bigint): boolean {
  return paidUnits * 4n > quoteUnits * LOCK_FOURTHS
}

function creditsAt(amountUnits: bigint, rate: CreditRate, lock: PriceLock | undefined): bigint {
  if (lock === undefined || !exceedsPriceLock(lock.quoteUnits, lock.usedUnits + amountUnits)) {
    return creditsForUnits(amountUnits, rate)
  }
  const left = lock.quoteUnits > lock.usedUnits ? lock.quoteUnits - lock.usedUnits : 0n
  const locked = left < amountUnits ? left : amountUnits
  return creditsForUnits(locked, rate) + creditsForUnits(amountUnits - locked, lock.beyond)
}

/** Amounts that may still be paid for open quotes of a capped asset, in its smallest unit. */
export interface OpenQuotes {
  /** For quotes of the requesting wallet. */
  readonly own: bigint
  /** For quotes of other wallets that have paid before. */
  readonly payers: bigint
  /** For quotes of all other wallets. */
  readonly others: bigint
}

/** Divisor of the free holdings: quotes of wallets that never paid share this part. */
const ROOM_SHARE = 5n

/**
 * Whether holdings stay below their cap if this quote and the open quotes are paid. Because wallets cost
 * nothing to create, the quotes of all other wallets that never paid count for at most a fifth of the free
 * holdings.
 */
export function fitsHoldingsCap(
  amountUnits: bigint,
  { capUnits: cap, heldUnits }: { readonly capUnits: bigint; readonly heldUnits: bigint },
  { own, payers, others }: OpenQuotes,
): boolean {
  const room = cap > heldUnits ? cap - heldUnits : 0n
  const share = room / ROOM_SHARE
  return own + payers + (others < share ? others : share) + amountUnits <= room
}

export type PaymentVerdict =
  | { readonly ok: true; readonly worth: CreditsWithBonus }
  | { readonly ok: false; readonly reason: PaymentRefusal }

/** Verdict on a payment: its credits, or the reason of a refusal. A refusal concerns the whole payment. */
export function judgePayment(payment: PaymentCase): PaymentVerdict {
  const { asset, amountUnits, topup, rate, lock } = payment
  if (payment.isUnsupported === true) return refused('unsupported_transfer')
  if (topup === undefined || rate === undefined) return refused('unknown_reference')
  if (asset !== (topup.token ?? topup.asset)) return refused('wrong_asset')
  const cap = capUnits(paymentAssetOf(topup.asset), 'capPerTopup')
  if (cap !== undefined && amountUnits > cap) return refused('over_cap')
  const credits = creditsAt(amountUnits, rate, lock)
  const bonusCredits = bonusFor(credits, topup.asset)
  if (credits < 1n) return refused('too_small')
  if (credits + bonusCredits > BigInt(TOPUP_CREDITS_MAX)) return refused('too_large')
  return {
    ok: true,
    worth: { credits: Number(credits), bonusCredits: Number(bonusCredits) },
  }
}

function refused(reason: PaymentRefusal): PaymentVerdict {
  return { ok: false, reason }
}

/** Revert reasons of contracts that a payer can act on. */
const PAYER_PROBLEMS = [
  ['allowance', /allowance/i],
  ['balance', /insufficient ?balance|exceeds balance|^tecUNFUNDED/i],
  ['paused', /^IsPaused$|^EnforcedPause$|^Pausable: paused$/],
  ['token', /^TokenNotAllowed$/],
] as const

/**
 * Classifies the reason of a failed payment for its payer; undefined where only the contract's error text
 * explains it.
 *
 * @see OpenZeppelin, `ERC20`, `Pausable`; `src/chain/router/PrepaidRouter.sol`; the XRP Ledger's `tec`
 * codes
 */
export function payerProblem(reason: string): (typeof PAYER_PROBLEMS)[number][0] | undefined {
  return PAYER_PROBLEMS.find(([, problem]) => problem.test(reason))?.[0]
}

/**
 * Link that opens a payment in a wallet on the XRP Ledger.
 * @see Xaman, "Payment Request Link"
 */
export function xrpWalletLink(address: string, tag: number, drops: bigint): string {
  const query = new URLSearchParams({
    amount: formatUnits(drops, 6),
    network: 'XRPL',
    dt: String(tag),
  })
  return `https://xaman.app/detect/request:${address}?${query}`
}
