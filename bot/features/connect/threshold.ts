import { formatUnits } from 'viem/utils'

/** Smallest suggestion, in whole units. */
const SUGGESTION_MIN = 1

/**
 * Suggested threshold for a balance: one percent of the balance, rounded to 1, 2 or 5 times a power of ten,
 * at least one whole unit.
 *
 * @returns whole units, as decimal text
 */
export function suggestedThreshold(balanceUnits: bigint, decimals: number): string {
  const whole = Number(formatUnits(balanceUnits, decimals)) / 100
  if (whole <= SUGGESTION_MIN) return String(SUGGESTION_MIN)
  const power = 10 ** Math.floor(Math.log10(whole))
  const steps = [1, 2, 5, 10].map((step) => step * power)
  const near = (step: number) => Math.abs(Math.log(step / whole))
  const best = steps.reduce((a, b) => (near(b) < near(a) ? b : a))
  return best.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 0 })
}
