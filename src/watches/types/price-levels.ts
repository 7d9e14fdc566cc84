/** The signals about a price below or above a level. */
import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { feedName } from '#src/chain/feeds/feed-names.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineSignal, type Evaluation, type ExampleWatch } from '../signal.ts'
import { PRICE_EXAMPLE } from './feed-example.ts'
import { decimalTextOf, type Price, toCommonDecimals } from './feed-prices.ts'
import type { FeedSettings, FeedTarget, PriceObservation } from './feed-settings.ts'
import { isBeyondLevel, type LevelSide, LevelState, levelEvaluation } from './level.ts'

/** A price counts as back when it is 1 % beyond its level. */
export const PRICE_MARGIN_PERCENT = 1n
const LEVEL_DECIMALS = 18

/** `data` of the alerts and recoveries about a level. Prices are US dollars for one whole unit. */
const PriceLevelData = z
  .object({
    feed: z.string(),
    feedId: z.string(),
    price: z.string(),
    level: z.string(),
    blockNumber: z.int(),
    blockTime: Instant,
  })
  .meta({ id: 'PriceLevelData' })

const EVENTS = { below: 'feed-move.below', above: 'feed-move.above' } as const

type Seen = Pick<PriceObservation, 'feed' | 'feedId' | 'price' | 'position' | 'at'>

function dataOf({ feed, feedId, price, position, at }: Seen, level: string): JsonObject {
  return z.encode(PriceLevelData, {
    ...{ feed, feedId, level, price: decimalTextOf(price) },
    ...{ blockNumber: position, blockTime: at },
  })
}

function priceOf(level: string): Price {
  return { value: parseUnits(level, LEVEL_DECIMALS), decimals: LEVEL_DECIMALS }
}

/** Judges a price by the level on one side; the first price, too. */
export function evaluatePriceLevel(
  side: LevelSide,
  previous: LevelState,
  seen: Seen,
  { settings }: { readonly settings: Pick<FeedSettings, LevelSide> },
): Evaluation<LevelState> {
  const level = settings[side]
  if (level == null) return { state: previous, phase: 'unknown', firings: [] }
  const [value, limit] = toCommonDecimals(seen.price, priceOf(level))
  const marginPercent = PRICE_MARGIN_PERCENT
  const isBeyond = isBeyondLevel(previous, side, { value, level: limit, marginPercent })
  return levelEvaluation(isBeyond, EVENTS[side], dataOf(seen, level))
}

function present(_event: string, data: JsonObject): Presentation {
  const { feed, price, level } = PriceLevelData.parse(data)
  return {
    facts: {
      feed: { kind: 'name', text: feed },
      priceNow: { kind: 'price', value: price, symbol: 'USD' },
      level: { kind: 'price', value: level, symbol: 'USD' },
    },
    fields: ['priceNow', 'level'],
  }
}

/** Data of an example: the last observed price, or the level itself, one percent beyond the level. */
function ownExample(
  side: LevelSide,
  { target, settings, observation, at }: ExampleWatch<FeedTarget, FeedSettings, PriceObservation>,
): JsonObject {
  const level = settings[side] ?? '1'
  const { value, decimals } = priceOf(level)
  const price = { value: (value * (side === 'below' ? 99n : 101n)) / 100n, decimals }
  const feed = observation?.feed ?? feedName(target.feed) ?? target.feed
  const feedId = observation?.feedId ?? PRICE_EXAMPLE.feedId
  return dataOf({ feed, feedId, price, position: observation?.position ?? 0, at }, level)
}

const { feed, feedId, blockNumber, toTime: blockTime } = PRICE_EXAMPLE
const EXAMPLE = { feed, feedId, blockNumber, blockTime }

function levelSignal(side: LevelSide, examples: Readonly<Record<string, JsonObject>>) {
  const event = EVENTS[side]
  return defineSignal<FeedTarget, FeedSettings, PriceObservation, LevelState>({
    id: `price-${side}`,
    group: 'alerts',
    events: { alerts: [event], recovery: `${event}.recovered` },
    setting: side,
    state: LevelState,
    data: PriceLevelData,
    initial: { isBeyond: false },
    evaluate: (previous, observation, watch) =>
      evaluatePriceLevel(side, previous, observation, watch),
    present,
    examples,
    ownExample: (watch) => ownExample(side, watch),
  })
}

export const priceBelow = levelSignal('below', {
  'feed-move.below': { ...EXAMPLE, price: '0.01873', level: '0.02' },
  'feed-move.below.recovered': { ...EXAMPLE, price: '0.02041', level: '0.02' },
})

export const priceAbove = levelSignal('above', {
  'feed-move.above': { ...EXAMPLE, price: '0.03112', level: '0.03' },
  'feed-move.above.recovered': { ...EXAMPLE, price: '0.02958', level: '0.03' },
})
