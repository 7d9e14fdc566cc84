import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { feedName, findFeed, nearestFeeds } from '#src/chain/feeds/feed-names.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineWatchType, type Prefilter } from '../define.ts'
import type { NumberField, SignalForm } from '../form.ts'
import { defineSignal, type Evaluation, type ExampleWatch, type WatchView } from '../signal.ts'
import { exampleMove, PERCENT_DECIMALS, PRICE_EXAMPLE, WHOLE_PERCENT } from './feed-example.ts'
import { feedHistory } from './feed-history.ts'
import {
  decimalTextOf,
  movePercent,
  type Price,
  PricePoint,
  toCommonDecimals,
} from './feed-prices.ts'
import {
  FeedSettings,
  FeedTarget,
  KeySettings,
  LEVEL_MAX,
  LEVEL_MIN,
  PERCENT_MAX,
  PERCENT_MIN,
  PriceObservation,
  WINDOW_SECONDS_MAX,
  WINDOW_SECONDS_MIN,
  windowOf,
} from './feed-settings.ts'
import { LevelState } from './level.ts'
import { PRICE_MARGIN_PERCENT, priceAbove, priceBelow } from './price-levels.ts'

const State = z.object({
  /** The first price observed. */
  baseline: PricePoint.nullable(),
  /** Time of the last alert. */
  firedAt: Instant.nullable(),
})
type State = z.output<typeof State>

/** `data` of `feed-move.threshold`. Prices are US dollars for one whole unit. */
const PriceMoveData = z.object({
  feed: z.string(),
  feedId: z.string(),
  fromPrice: z.string(),
  toPrice: z.string(),
  movePercent: z.number(),
  thresholdPercent: z.number(),
  windowSeconds: z.int(),
  direction: z.enum(['any', 'up', 'down']),
  fromTime: Instant,
  toTime: Instant,
  blockNumber: z.int(),
})

/**
 * Fires when the price moved by at least the percentage since the oldest valid price inside the window, in
 * the chosen direction, at most once per window; at twice the percentage it is critical.
 *
 * The first price only sets the baseline, and earlier prices do not count.
 */
export function evaluatePriceMove(
  previous: State,
  observation: PriceObservation,
  { settings }: Pick<WatchView<FeedTarget, FeedSettings>, 'settings'>,
): Evaluation<State> {
  const { at, price, oldest } = observation
  const { baseline, firedAt } = previous
  const { percent } = settings
  if (percent == null) return { state: previous, phase: 'unknown', firings: [] }
  if (baseline === null) {
    return { state: { baseline: { ...price, at }, firedAt: null }, phase: 'ok', firings: [] }
  }
  const windowMs = windowOf(settings) * 1000
  const from = isInside(baseline.at, at, windowMs) ? baseline : oldest
  const isCooling = firedAt !== null && at.getTime() - firedAt.getTime() < windowMs
  const wanted = { percent, direction: settings.direction }
  if (isCooling || !reaches(from, price, wanted, 1n)) {
    return { state: previous, phase: 'ok', firings: [] }
  }
  const severity = reaches(from, price, wanted, 2n) ? 'critical' : 'warning'
  const data = z.encode(PriceMoveData, {
    feed: observation.feed,
    feedId: observation.feedId,
    fromPrice: decimalTextOf(from),
    toPrice: decimalTextOf(price),
    movePercent: movePercent(from, price),
    thresholdPercent: percent,
    windowSeconds: windowOf(settings),
    direction: settings.direction,
    fromTime: from.at,
    toTime: at,
    blockNumber: observation.position,
  })
  const firing = { event: 'feed-move.threshold', severity, data } as const
  return { state: { baseline, firedAt: at }, phase: 'ok', firings: [firing] }
}

function isInside(point: Date, now: Date, windowMs: number): boolean {
  return now.getTime() - point.getTime() <= windowMs
}

/** Whether the price moved by `times` the percentage, in the chosen direction. Exact arithmetic. */
function reaches(
  from: Price,
  to: Price,
  {
    percent,
    direction,
  }: { readonly percent: number; readonly direction: FeedSettings['direction'] },
  times: bigint,
): boolean {
  const [before, after] = toCommonDecimals(from, to)
  const change = after - before
  if (change === 0n || (direction !== 'any' && (direction === 'up') !== change > 0n)) return false
  const far = (change < 0n ? -change : change) * parseUnits('100', PERCENT_DECIMALS)
  return far >= before * parseUnits(`${percent}`, PERCENT_DECIMALS) * times
}

/**
 * Summary of all watches on a feed and window: the nearest prices and times at which a watch could fire.
 */
const Summary = z.object({
  /**
   * Smallest percentages, upwards and downwards, of watches that compare with the window's oldest price.
   */
  up: z.number().nullable(),
  down: z.number().nullable(),
  /** Nearest prices at which a watch that compares with its baseline fires. */
  above: z.number().nullable(),
  below: z.number().nullable(),
  /**
   * Earliest time at which a cooldown ends, or a watch compares with the window instead of its baseline.
   */
  dueAt: Instant.nullable(),
})
type Summary = z.output<typeof Summary>

/** Relative rounding error of prices as floating-point numbers. A price this close to a threshold is judged. */
const ROUNDING = 1e-9

const prefilter: Prefilter<FeedSettings, PriceObservation, Summary> = {
  schema: Summary,
  empty: { up: null, down: null, above: null, below: null, dueAt: null },
  add(before, { settings, states }, { at }) {
    const summary = withLevels(before, settings, states)
    const stored = states.get('price-move')
    const { percent, direction } = settings
    if (stored === undefined || percent == null) return summary
    const { baseline, firedAt } = State.parse(stored)
    const windowMs = windowOf(settings) * 1000
    const due = (since: Date, extraMs = 0) =>
      least(summary.dueAt, new Date(since.getTime() + windowMs + extraMs))
    if (firedAt !== null && at.getTime() - firedAt.getTime() < windowMs) {
      return { ...summary, dueAt: due(firedAt) }
    }
    const goesUp = direction !== 'down'
    const goesDown = direction !== 'up'
    if (baseline === null || !isInside(baseline.at, at, windowMs)) {
      return {
        ...summary,
        ...(goesUp && { up: Math.min(summary.up ?? percent, percent) }),
        ...(goesDown && { down: Math.min(summary.down ?? percent, percent) }),
      }
    }
    const price = Number(decimalTextOf(baseline))
    const above = price * (1 + percent / WHOLE_PERCENT)
    const below = price * (1 - percent / WHOLE_PERCENT)
    return {
      ...summary,
      dueAt: due(baseline.at, 1),
      ...(goesUp && { above: Math.min(summary.above ?? above, above) }),
      ...(goesDown && { below: Math.max(summary.below ?? below, below) }),
    }
  },
  isQuiet({ up, down, above, below, dueAt }, { at, price, oldest }) {
    if (dueAt !== null && at >= dueAt) return false
    const now = Number(decimalTextOf(price))
    if (above !== null && now >= above * (1 - ROUNDING)) return false
    if (below !== null && now <= below * (1 + ROUNDING)) return false
    const isReached = (percent: number | null, direction: 'up' | 'down') =>
      percent !== null && reaches(oldest, price, { percent, direction }, 1n)
    return !isReached(up, 'up') && !isReached(down, 'down')
  },
}

/** The summary with the prices at which the levels of a watch are passed, or passed back. */
function withLevels(
  summary: Summary,
  settings: FeedSettings,
  states: ReadonlyMap<string, unknown>,
): Summary {
  const isBeyond = (side: 'below' | 'above') =>
    LevelState.catch({ isBeyond: false }).parse(states.get(`price-${side}`)).isBeyond
  const margin = Number(PRICE_MARGIN_PERCENT) / WHOLE_PERCENT
  const { above, below } = settings
  const upwards = [
    ...(above == null || isBeyond('above') ? [] : [Number(above)]),
    ...(below != null && isBeyond('below') ? [Number(below) * (1 + margin)] : []),
  ]
  const downwards = [
    ...(below == null || isBeyond('below') ? [] : [Number(below)]),
    ...(above != null && isBeyond('above') ? [Number(above) * (1 - margin)] : []),
  ]
  return {
    ...summary,
    ...(upwards.length > 0 && { above: Math.min(...upwards, summary.above ?? Infinity) }),
    ...(downwards.length > 0 && { below: Math.max(...downwards, summary.below ?? -Infinity) }),
  }
}

function least(time: Date | null, otherTime: Date): Date {
  return time === null || otherTime < time ? otherTime : time
}

function presentPriceMove(_event: string, data: JsonObject): Presentation {
  const moved = PriceMoveData.parse(data)
  return {
    facts: {
      feed: { kind: 'name', text: moved.feed },
      move: { kind: 'percent', value: moved.movePercent / WHOLE_PERCENT, signed: true },
      window: { kind: 'duration', seconds: moved.windowSeconds },
      priceThen: { kind: 'price', value: moved.fromPrice, symbol: 'USD' },
      priceNow: { kind: 'price', value: moved.toPrice, symbol: 'USD' },
      since: { kind: 'instant', at: moved.fromTime },
      threshold: { kind: 'percent', value: moved.thresholdPercent / WHOLE_PERCENT },
    },
    fields: ['priceThen', 'priceNow', 'threshold'],
  }
}

/** Data of an example: the smallest move that fires and ends at the last observed price. */
function ownExample(watch: ExampleWatch<FeedTarget, FeedSettings, PriceObservation>): JsonObject {
  const { baseline, now } = exampleMove(watch)
  return (
    evaluatePriceMove({ baseline, firedAt: null }, now, watch).firings[0]?.data ?? PRICE_EXAMPLE
  )
}

const priceMoveSignal = defineSignal<FeedTarget, FeedSettings, PriceObservation, State>({
  id: 'price-move',
  group: 'alerts',
  events: { alerts: ['feed-move.threshold'] },
  setting: 'percent',
  canBeCritical: true,
  firesOnce: true,
  state: State,
  data: PriceMoveData.meta({ id: 'PriceMoveData' }),
  initial: { baseline: null, firedAt: null },
  evaluate: evaluatePriceMove,
  present: presentPriceMove,
  examples: { 'feed-move.threshold': PRICE_EXAMPLE },
  ownExample,
})

/** The fields of a level, but for its name. */
const levelField = {
  ...{ kind: 'decimal', unit: 'usd', min: LEVEL_MIN, max: LEVEL_MAX, decimals: 18 },
  ...{ presets: [], suggested: '1', as: 'text' },
} as const satisfies Partial<NumberField>

const form: SignalForm<FeedTarget, FeedSettings, PriceObservation> = {
  icon: '📈',
  target: [{ key: 'feed', kind: 'feed' }],
  settings: [
    {
      key: 'percent',
      code: 'pct',
      kind: 'decimal',
      unit: 'percent',
      min: `${PERCENT_MIN}`,
      max: `${PERCENT_MAX}`,
      decimals: 2,
      presets: ['1', '2', '5', '10', '20'],
      suggested: '5',
      as: 'number',
    },
    {
      key: 'windowSeconds',
      code: 'win',
      kind: 'duration',
      min: WINDOW_SECONDS_MIN,
      max: WINDOW_SECONDS_MAX,
      presets: [900, 3600, 21_600, 86_400, WINDOW_SECONDS_MAX],
      suggested: 3600,
    },
    {
      key: 'direction',
      code: 'dir',
      kind: 'choice',
      options: ['any', 'up', 'down'],
      suggested: 'any',
    },
    { ...levelField, key: 'below', code: 'bel', shares: { of: 'price', parts: [0.95, 0.9, 0.8] } },
    { ...levelField, key: 'above', code: 'abv', shares: { of: 'price', parts: [1.05, 1.1, 1.2] } },
  ],
  rules: [
    { key: 'moves', fields: ['percent', 'windowSeconds', 'direction'] },
    { key: 'below', fields: ['below'] },
    { key: 'above', fields: ['above'] },
  ],
  presets: {
    calm: { percent: '10', windowSeconds: '86400' },
    usual: { percent: '5', windowSeconds: '3600' },
    nervous: { percent: '2', windowSeconds: '900' },
  },
  facts: ({ target: { feed }, settings, observation }) => ({
    feed: { kind: 'name', text: observation?.feed ?? feedName(feed) ?? feed },
    ...(settings?.percent != null && {
      percent: { kind: 'percent', value: settings.percent / WHOLE_PERCENT },
      window: { kind: 'duration', seconds: windowOf(settings) },
    }),
    ...(settings?.below != null && {
      below: { kind: 'price', value: settings.below, symbol: 'USD' },
    }),
    ...(settings?.above != null && {
      above: { kind: 'price', value: settings.above, symbol: 'USD' },
    }),
    ...(observation && {
      price: { kind: 'price', value: decimalTextOf(observation.price), symbol: 'USD' },
      time: { kind: 'instant', at: observation.updatedAt },
      move: {
        kind: 'percent',
        value: movePercent(observation.oldest, observation.price) / WHOLE_PERCENT,
        signed: true,
      },
      since: { kind: 'instant', at: observation.oldest.at },
    }),
  }),
}

/** Watch type of the USD price of one feed. */
export const feedMove = defineWatchType<
  FeedTarget,
  FeedSettings,
  PriceObservation,
  KeySettings,
  Summary
>({
  name: 'feed-move',
  target: FeedTarget,
  settings: FeedSettings,
  observation: PriceObservation,
  keySettings: { schema: KeySettings, of: (settings) => ({ windowSeconds: windowOf(settings) }) },
  async observe({ facts, fence }, requests, { upTo }, signal) {
    const windows = requests.map(({ target, keySettings }) => ({ ...target, ...keySettings }))
    const feedWindows = await facts.feedWindows(windows, upTo, signal, fence)
    return feedWindows.map((window) => {
      if (window === undefined) return undefined
      const { now, oldest } = window
      const price = { value: now.value, decimals: now.decimals }
      const feed = { feed: now.name, feedId: now.id, updatedAt: now.at }
      return [{ position: upTo.number, at: upTo.at, ...feed, price, oldest }]
    })
  },
  async check({ chain }, { feed }, { percent, direction }) {
    const list = await chain.feedList()
    if (list !== undefined && findFeed(list, feed) === undefined) {
      const values = { nearest: nearestFeeds(list, feedName(feed) ?? feed).join(', ') }
      return [{ pointer: '/target/feed', code: 'feed', values }]
    }
    if (direction !== 'down' || percent == null || percent < WHOLE_PERCENT) return []
    const values = { maximum: WHOLE_PERCENT - PERCENT_MIN }
    return [{ pointer: '/settings/percent', code: 'too_big', values }]
  },
  async resolve({ chain }, target) {
    const list = await chain.feedList()
    const feed = list && findFeed(list, target.feed)
    if (list === undefined || feed === undefined) return target
    // A name that two categories share identifies neither feed.
    const isOnly = list.feeds.filter(({ name }) => name === feed.name).length === 1
    return { feed: isOnly ? feed.name : feed.id }
  },
  defaultLabel: ({ feed }) => feedName(feed) ?? feed,
  form: form,
  history: feedHistory,
  prefilter: prefilter,
  signals: [priceMoveSignal, priceBelow, priceAbove],
})
