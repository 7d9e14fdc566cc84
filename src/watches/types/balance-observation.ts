/** What a balance watch observes: one balance, or all assets of a wallet that have a price. */
import { z } from 'zod'
import { Address, AssetDecimals, Hash, Instant, Units } from '#src/kernel/units.ts'
import { usdCents } from '../usd-value.ts'
import { WalletAsset } from './own-coin.ts'

/** A signed amount in the smallest unit: decimal text in JSON. */
const SignedUnits = z.codec(z.string().regex(/^-?\d{1,78}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (units) => units.toString(),
})

/** US dollars for one whole unit: `value / 10 ** decimals`. */
const UsdPrice = z.object({ value: Units, decimals: z.int() })

/** Cause of the change since the last observation, and the price by which the change is valued. */
export const Movement = z.object({
  /** The balance before the change, in the smallest unit. */
  fromUnits: Units,
  transactionHash: Hash.nullable(),
  counterparty: Address.nullable(),
  /** The first ten transactions behind the change, and how many there are. */
  transactions: z.array(
    z.object({ hash: Hash, units: SignedUnits, counterparty: Address.nullable() }),
  ),
  transactionCount: z.int(),
  /** Null without a feed. */
  usdPrice: UsdPrice.nullable(),
})
export type Movement = z.output<typeof Movement>

/** One asset of a wallet. */
export const Holding = z.object({
  asset: WalletAsset,
  symbol: z.string(),
  decimals: AssetDecimals,
  balanceUnits: Units,
  /** Null for a token that the watch names and that has no price. */
  usdPrice: UsdPrice.nullable(),
  movement: Movement.nullable(),
})
export type Holding = z.output<typeof Holding>

export const BalanceObservation = z.object({
  position: z.int(),
  at: Instant,
  /** Of all assets: their value in US cents. */
  balanceUnits: Units,
  symbol: z.string(),
  decimals: z.int(),
  /** Null if nothing changed, or the change was never looked up: on the first observation, and in past ones. */
  movement: Movement.nullable(),
  /** The assets, of a watch of all assets. */
  holdings: z.array(Holding).exactOptional(),
})
export type BalanceObservation = z.output<typeof BalanceObservation>

/** Symbol and decimals of the value of several assets. */
export const USD = { symbol: 'USD', decimals: 2 } as const

/** Number of digits of a price by which several assets are valued. */
const PRICE_DIGITS = 3

/**
 * A price with three digits. A watch of all assets is judged when a balance or such a price changes; feeds change with
 * every block.
 */
export function roundedPrice(price: z.output<typeof UsdPrice>): z.output<typeof UsdPrice> {
  const surplus = price.value.toString().length - PRICE_DIGITS
  if (surplus <= 0) return price
  const step = 10n ** BigInt(surplus)
  return { value: (price.value + step / 2n) / step, decimals: price.decimals - surplus }
}

/** Value of all assets that have a price, in US cents. */
export function totalCents(holdings: readonly Holding[]): bigint {
  return holdings.reduce(
    (sum, { balanceUnits, decimals, usdPrice }) =>
      usdPrice === null ? sum : sum + usdCents(balanceUnits, decimals, usdPrice),
    0n,
  )
}

/** A text that is equal for equal balances and prices. */
export function balanceText({ balanceUnits, holdings = [] }: BalanceObservation): string {
  const parts = holdings.map(
    ({ asset, balanceUnits: units, usdPrice }) =>
      `${asset} ${units} ${usdPrice?.value}/${usdPrice?.decimals}`,
  )
  return [balanceUnits, ...parts].join(' ')
}
