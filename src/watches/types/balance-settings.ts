/** Target and settings of a balance watch. */
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import { decimalBetween, isLess } from './decimal-text.ts'
import { WatchedAsset } from './own-coin.ts'

export const AMOUNT_MIN = '0.000001'
export const AMOUNT_MAX = '1000000000000000'
export const DAYS_LEFT_MAX = 90
/** Number of tokens that a watch of all assets names. */
const TOKENS_MAX = 10

/** An amount in whole units of the asset: 0.000001 to 10^15. */
const Amount = decimalBetween(AMOUNT_MIN, AMOUNT_MAX).meta({ examples: ['250', '1250.5'] })

export const BalanceTarget = z.strictObject({
  address: Address,
  asset: WatchedAsset,
  /** With `*`: further tokens, which need no price. */
  tokens: z.array(Address).max(TOKENS_MAX).exactOptional(),
})
export type BalanceTarget = z.output<typeof BalanceTarget>

export const BalanceSettings = z
  .strictObject({
    threshold: Amount.nullish(),
    direction: z.enum(['any', 'up', 'down']).default('any'),
    floor: Amount.nullish(),
    ceiling: Amount.nullish(),
    daysLeft: z.int().min(1).max(DAYS_LEFT_MAX).nullish(),
  })
  .check(({ value, issues }) => {
    const { threshold, floor, ceiling, daysLeft } = value
    if ((threshold ?? floor ?? ceiling ?? daysLeft ?? null) === null) {
      issues.push({
        ...{ code: 'custom', path: ['threshold'], input: undefined, continue: false },
        params: { code: 'required' },
      })
    }
    if (floor == null || ceiling == null) return
    if (isLess(floor, ceiling)) return
    issues.push({
      ...{ code: 'custom', path: ['floor'], input: floor, continue: false },
      params: { code: 'too_big', maximum: ceiling },
    })
  })
export type BalanceSettings = z.output<typeof BalanceSettings>
