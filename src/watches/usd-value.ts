/** Computes the value of an amount in US dollars. Pure. */

/** US dollars for one whole unit of an asset: `value / 10 ** decimals`; decimals may be negative. */
export interface UnitPrice {
  readonly value: bigint
  readonly decimals: number
}

/**
 * Value of an amount in US cents, halves rounded up.
 *
 * @param units the amount in the asset's smallest unit, not negative
 * @param decimals decimals of the asset
 */
export function usdCents(units: bigint, decimals: number, price: UnitPrice): bigint {
  const exponent = decimals + price.decimals - 2
  if (exponent <= 0) return units * price.value * 10n ** BigInt(-exponent)
  return (units * price.value + 10n ** BigInt(exponent) / 2n) / 10n ** BigInt(exponent)
}
