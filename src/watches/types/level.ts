/** Whether a value is beyond a level that a person has chosen. Pure. */
import { z } from 'zod'
import type { Evaluation } from '../signal.ts'

/** Side of a level on which a value causes an alert. */
export type LevelSide = 'below' | 'above'

/** State of a signal about a level. */
export const LevelState = z.object({
  /** Whether the value was beyond the level and has not come back far enough since. */
  isBeyond: z.boolean(),
})
export type LevelState = z.output<typeof LevelState>

const PERCENT = 100n

/**
 * Whether a value is beyond a level. A value that was beyond counts so until it has come back by `marginPercent` of the
 * level, so that small movements around the level cause no alerts. Value and level have the same number of decimals.
 */
export function isBeyondLevel(
  { isBeyond }: LevelState,
  side: LevelSide,
  {
    value,
    level,
    marginPercent,
  }: { readonly value: bigint; readonly level: bigint; readonly marginPercent: bigint },
): boolean {
  const scaled = value * PERCENT
  const margin = isBeyond ? marginPercent : 0n
  return side === 'below'
    ? scaled < level * (PERCENT + margin)
    : scaled > level * (PERCENT - margin)
}

/** Result of a fold step of a signal about a level: an alert while the value is beyond it, else the recovery. */
export function levelEvaluation(
  isBeyond: boolean,
  event: string,
  data: Evaluation<LevelState>['firings'][number]['data'],
): Evaluation<LevelState> {
  return isBeyond
    ? { state: { isBeyond }, phase: 'firing', firings: [{ event, severity: 'warning', data }] }
    : {
        state: { isBeyond },
        phase: 'ok',
        firings: [{ event: `${event}.recovered`, severity: 'info', data }],
      }
}
