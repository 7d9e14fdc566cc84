import { formatUnits } from 'viem/utils'
import {
  type AssetKey,
  PAYMENT_ASSETS,
  type PaymentAsset,
  USD_PER_1000_CREDITS_MICROS,
} from '../price-list.ts'
import { type Refusal, TOPUP_CREDITS_MAX } from './model.ts'

/** US dollars for one whole unit: `value / 10 ** decimals`, exactly; decimals may be negative. */
export interface UsdPrice {
  readonly value: bigint
  readonly decimals: number
}

/** A price and what it is counted in. */
export interface Rate {
  readonly price: UsdPrice
  /** Of the asset's smallest unit. */
  readonly decimals: number
  readonly usdPer1000CreditsMicros: number
}

const UINT256_MAX = 2n ** 256n - 1n
const BPS = 10_000n

/** The price list's entry. */
export function assetOf(key: AssetKey): PaymentAsset {
  const asset = PAYMENT_ASSETS.find((one) => one.key === key)
  if (asset === undefined) throw new Error(`no payment asset ${key}`)
  return asset
}

/** What people call an asset: its ticker. */
export function symbolOf(key: AssetKey, serviceTokenSymbol: string): string {
  return key === 'service' ? serviceTokenSymbol : key
}

/** The rate of an asset at a price, credits costing what they cost today. */
export function usdRateOf(key: AssetKey, price: UsdPrice): Rate {
  const { decimals } = assetOf(key)
  return { price, decimals, usdPer1000CreditsMicros: USD_PER_1000_CREDITS_MICROS }
}

/**
 * What credits cost in the asset's smallest unit, rounded up once; undefined when there is no such
 * amount on the chain.
 */
export function unitsFor(credits: number, rate: Rate): bigint | undefined {
  const { units, credits: per } = exactRate(rate)
  if (units <= 0n || per <= 0n) return undefined
  const amount = (BigInt(credits) * units + per - 1n) / per
  return amount <= UINT256_MAX ? amount : undefined
}

/** Whole credits that an amount is worth, rounded down; the remainder is not kept. */
export function creditsFor(amountUnits: bigint, rate: Rate): bigint {
  const { units, credits } = exactRate(rate)
  return units <= 0n ? 0n : (amountUnits * credits) / units
}

/** Credits on top, rounded down. */
export function bonusFor(credits: bigint, key: AssetKey): bigint {
  return (credits * BigInt(assetOf(key).bonusBps)) / BPS
}

/** So many units are worth so many credits, without any rounding. */
function exactRate({ price, decimals, usdPer1000CreditsMicros }: Rate) {
  const { value, decimals: places } = price
  const scale = 10n ** BigInt(Math.abs(places))
  return {
    units: BigInt(usdPer1000CreditsMicros) * 10n ** BigInt(decimals) * (places > 0 ? scale : 1n),
    // 1000 credits, and a million micro-dollars to the dollar.
    credits: 1_000_000_000n * value * (places < 0 ? scale : 1n),
  }
}

/** A cap of the price list in the smallest unit; undefined where there is none. */
export function capUnits(asset: PaymentAsset, cap: 'capPerTopup' | 'holdingsCap') {
  const whole = asset[cap]
  return whole === null ? undefined : BigInt(whole) * 10n ** BigInt(asset.decimals)
}

/** How a quote or a payment is worth its credits. */
export interface Worth {
  readonly credits: number
  readonly bonusCredits: number
}

/** Bonus and all, for a quote of so many credits. */
export function worthOf(credits: number, key: AssetKey): Worth {
  return { credits, bonusCredits: Number(bonusFor(BigInt(credits), key)) }
}

/** What a judge needs of a payment and of the top-up it names. */
export interface Case {
  readonly asset: string
  readonly amountUnits: bigint
  /** It came in a way that we do not credit. */
  readonly isUnsupported?: boolean
  /** Undefined when the payment names none of ours. */
  readonly topup: { readonly asset: AssetKey; readonly token: string | null } | undefined
  readonly rate: Rate | undefined
  /** Of a payment at the locked price: how far that reaches. */
  readonly lock?: Lock | undefined
}

/** How far the locked price of a quote reaches. */
export interface Lock {
  /** The quote's amount. */
  readonly quoteUnits: bigint
  /** What was credited of the quote at its locked price before. */
  readonly usedUnits: bigint
  /** The price of the moment. */
  readonly beyond: Rate
}

/** What may be paid at the locked price: so many fourths of the quote. */
const LOCK_FOURTHS = 5n

/**
 * Whether payments come to more than 1.25 times their quote: then the locked price is good up to the quote
 * alone, or a small quote would be an option on any amount.
 */
export function exceedsLock(quoteUnits: bigint, paidUnits: bigint): boolean {
  return paidUnits * 4n > quoteUnits * LOCK_FOURTHS
}

function creditsAt(amountUnits: bigint, rate: Rate, lock: Lock | undefined): bigint {
  if (lock === undefined || !exceedsLock(lock.quoteUnits, lock.usedUnits + amountUnits)) {
    return creditsFor(amountUnits, rate)
  }
  const left = lock.quoteUnits > lock.usedUnits ? lock.quoteUnits - lock.usedUnits : 0n
  const locked = left < amountUnits ? left : amountUnits
  return creditsFor(locked, rate) + creditsFor(amountUnits - locked, lock.beyond)
}

/** What open quotes of a capped asset may still bring, in its smallest unit. */
export interface OpenQuotes {
  /** Of the asking wallet. */
  readonly own: bigint
  /** Of other wallets that have paid before. */
  readonly payers: bigint
  /** Of all others together. */
  readonly others: bigint
}

/** The part of the room that quotes of wallets which never paid can hold together. */
const ROOM_SHARE = 5n

/**
 * Whether we may hold a quote's amount when what is open is paid. Wallets cost nothing: quotes of other
 * wallets that never paid hold a fifth of the room at most, all together.
 */
export function fitsHoldings(
  amountUnits: bigint,
  { capUnits: cap, heldUnits }: { readonly capUnits: bigint; readonly heldUnits: bigint },
  { own, payers, others }: OpenQuotes,
): boolean {
  const room = cap > heldUnits ? cap - heldUnits : 0n
  const share = room / ROOM_SHARE
  return own + payers + (others < share ? others : share) + amountUnits <= room
}

export type PaymentVerdict =
  | { readonly ok: true; readonly worth: Worth }
  | { readonly ok: false; readonly reason: Refusal }

/**
 * What becomes of a payment: its credits, or why there are none. It is refused as a whole.
 */
export function judgePayment(payment: Case): PaymentVerdict {
  const { asset, amountUnits, topup, rate, lock } = payment
  if (payment.isUnsupported === true) return refused('unsupported_transfer')
  if (topup === undefined || rate === undefined) return refused('unknown_reference')
  if (asset !== (topup.token ?? topup.asset)) return refused('wrong_asset')
  const cap = capUnits(assetOf(topup.asset), 'capPerTopup')
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

function refused(reason: Refusal): PaymentVerdict {
  return { ok: false, reason }
}

/** What contracts say of failures that a payer can do something about. */
const PAYER_PROBLEMS = [
  ['allowance', /allowance/i],
  ['balance', /insufficient ?balance|exceeds balance|^tecUNFUNDED/i],
  ['paused', /^IsPaused$|^EnforcedPause$|^Pausable: paused$/],
  ['token', /^TokenNotAllowed$/],
] as const

/**
 * What the reason of a failed payment comes to for its payer; undefined where only the words of the
 * contract say something.
 *
 * @see OpenZeppelin, `ERC20`, `Pausable`; `router/PrepaidRouter.sol`; the XRP Ledger's `tec` codes
 */
export function payerProblem(reason: string): (typeof PAYER_PROBLEMS)[number][0] | undefined {
  return PAYER_PROBLEMS.find(([, said]) => said.test(reason))?.[0]
}

/** What a wallet on the XRP Ledger opens to pay. @see Xaman, "Payment Request Link" */
export function xrpWalletLink(address: string, tag: number, drops: bigint): string {
  const query = new URLSearchParams({
    amount: formatUnits(drops, 6),
    network: 'XRPL',
    dt: String(tag),
  })
  return `https://xaman.app/detect/request:${address}?${query}`
}
