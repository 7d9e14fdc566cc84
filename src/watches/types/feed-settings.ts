/** Target, settings and observation of a price watch. */
import { z } from 'zod'
import { textFormat } from '#src/kernel/text-format.ts'
import { Instant } from '#src/kernel/units.ts'
import { decimalBetween, isLess } from './decimal-text.ts'
import { Price, PricePoint } from './feed-prices.ts'

export const PERCENT_MIN = 0.01
export const PERCENT_MAX = 1000
export const WINDOW_SECONDS_MIN = 60
export const WINDOW_SECONDS_MAX = 604_800

export const FeedTarget = z.strictObject({
  feed: textFormat(/^(0x[0-9a-fA-F]{42}|[\w.+-]{1,16}(\/[\w.+-]{1,16})?)$/, () => ({
    code: 'feed_name',
  })).meta({ examples: ['FLR/USD', '0x01464c522f55534400000000000000000000000000'] }),
})
export type FeedTarget = z.output<typeof FeedTarget>

/** Window by which moves are told, for watches that ask for levels only. */
const WINDOW_SECONDS = 3600
export const LEVEL_MIN = '0.000000001'
export const LEVEL_MAX = '1000000000'

/** US dollars for one whole unit. */
const Level = decimalBetween(LEVEL_MIN, LEVEL_MAX).meta({ examples: ['0.02', '125000'] })

const windowSeconds = z.int().min(WINDOW_SECONDS_MIN).max(WINDOW_SECONDS_MAX)

export const FeedSettings = z
  .strictObject({
    percent: z.number().min(PERCENT_MIN).max(PERCENT_MAX).multipleOf(PERCENT_MIN).nullish(),
    windowSeconds: windowSeconds.exactOptional(),
    direction: z.enum(['any', 'up', 'down']).default('any'),
    below: Level.nullish(),
    above: Level.nullish(),
  })
  .check(({ value: { percent, windowSeconds: window, below, above }, issues }) => {
    const hasRule = (percent ?? below ?? above ?? null) !== null
    const missing = [
      ...(hasRule ? [] : ['percent']),
      ...(window === undefined && (percent != null || !hasRule) ? ['windowSeconds'] : []),
    ]
    for (const key of missing) {
      issues.push({
        ...{ code: 'custom', path: [key], input: undefined, continue: false },
        params: { code: 'required' },
      })
    }
    if (below == null || above == null || isLess(below, above)) return
    issues.push({
      ...{ code: 'custom', path: ['below'], input: below, continue: false },
      params: { code: 'too_big', maximum: above },
    })
  })
export type FeedSettings = z.output<typeof FeedSettings>

/** The window in which moves are looked for; one that many watches have for a watch that asks for levels only. */
export function windowOf({ windowSeconds: window }: { readonly windowSeconds?: number }): number {
  return window ?? WINDOW_SECONDS
}

export const KeySettings = z.strictObject({ windowSeconds })
export type KeySettings = z.output<typeof KeySettings>

export const PriceObservation = z.object({
  position: z.int(),
  at: Instant,
  /** Current name of the feed. */
  feed: z.string(),
  feedId: z.string(),
  price: Price,
  /** Time of the feed's last update. */
  updatedAt: Instant,
  /** The oldest valid price inside the window. */
  oldest: PricePoint,
})
export type PriceObservation = z.output<typeof PriceObservation>
