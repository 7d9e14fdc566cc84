import { z } from 'zod'
import { Instant, Units } from '#src/kernel/units.ts'

/** A price: `value / 10 ** decimals` US dollars. Decimals may be negative, and differ between prices. */
export const Price = z.object({ value: Units, decimals: z.int() })
export type Price = z.output<typeof Price>

/** A price with the time of the block it was read at. */
export const PricePoint = Price.extend({ at: Instant })

/** Converts two prices to the larger of their numbers of decimals. */
export function toCommonDecimals(a: Price, b: Price): readonly [bigint, bigint] {
  const decimals = Math.max(a.decimals, b.decimals)
  const scaled = (price: Price) => price.value * 10n ** BigInt(decimals - price.decimals)
  return [scaled(a), scaled(b)]
}

/** Relative move in percent, 4 decimals. */
export function movePercent(from: Price, to: Price): number {
  const [before, after] = toCommonDecimals(from, to)
  if (before === 0n) return 0
  return Number(((after - before) * 1_000_000n) / before) / 10_000
}

/** A price as decimal text. */
export function decimalTextOf({ value, decimals }: Price): string {
  if (decimals <= 0) return `${value * 10n ** BigInt(-decimals)}`
  const digits = value.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return `${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`
}
