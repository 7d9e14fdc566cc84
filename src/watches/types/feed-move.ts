import { parseUnits } from 'viem/utils'
import { z } from 'zod'
import { feedName, findFeed, nearestFeeds } from '#src/chain/feeds/feed-names.ts'
import type { Presentation } from '#src/kernel/display-values.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { Instant, type JsonObject } from '#src/kernel/units.ts'
import { defineWatchType, type Prefilter } from '../define.ts'
import type { SignalForm } from '../form.ts'
import { defineSignal, type Evaluation, type ExampleWatch, type WatchView } from '../signal.ts'
import { exampleMove, PERCENT_DECIMALS, PRICE_EXAMPLE, WHOLE_PERCENT } from './feed-example.ts'
import { feedHistory } from './feed-history.ts'
import { decimalTextOf, movePercent, Price, PricePoint, toCommonDecimals } from './feed-prices.ts'

const PERCENT_MIN = 0.01
const PERCENT_MAX = 1000
const WINDOW_SECONDS_MIN = 60
const WINDOW_SECONDS_MAX = 604_800

const Target = z.strictObject({
  feed: textFormat(/^(0x[0-9a-fA-F]{42}|[\w.+-]{1,16}(\/[\w.+-]{1,16})?)$/, () => ({
    code: 'feed_name',
  })).meta({ examples: ['FLR/USD', '0x01464c522f55534400000000000000000000000000'] }),
})
type Target = z.output<typeof Target>

const Settings = z.strictObject({
  percent: z.number().min(PERCENT_MIN).max(PERCENT_MAX).multipleOf(PERCENT_MIN),
  windowSeconds: z.int().min(WINDOW_SECONDS_MIN).max(WINDOW_SECONDS_MAX),
  direction: z.enum(['any', 'up', 'down']).default('any'),
})
type Settings = z.output<typeof Settings>

const KeySettings = Settings.pick({ windowSeconds: true })
type KeySettings = z.output<typeof KeySettings>

const Observation = z.object({
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
type Observation = z.output<typeof Observation>

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
  direction: Settings.shape.direction.unwrap(),
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
  observation: Observation,
  { settings }: Pick<WatchView<Target, Settings>, 'settings'>,
): Evaluation<State> {
  const { at, price, oldest } = observation
  const { baseline, firedAt } = previous
  if (baseline === null) {
    return { state: { baseline: { ...price, at }, firedAt: null }, phase: 'ok', firings: [] }
  }
  const windowMs = settings.windowSeconds * 1000
  const from = isInside(baseline.at, at, windowMs) ? baseline : oldest
  const isCooling = firedAt !== null && at.getTime() - firedAt.getTime() < windowMs
  if (isCooling || !reaches(from, price, settings, 1n)) {
    return { state: previous, phase: 'ok', firings: [] }
  }
  const severity = reaches(from, price, settings, 2n) ? 'critical' : 'warning'
  const data = z.encode(PriceMoveData, {
    feed: observation.feed,
    feedId: observation.feedId,
    fromPrice: decimalTextOf(from),
    toPrice: decimalTextOf(price),
    movePercent: movePercent(from, price),
    thresholdPercent: settings.percent,
    windowSeconds: settings.windowSeconds,
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
  { percent, direction }: Pick<Settings, 'percent' | 'direction'>,
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

const prefilter: Prefilter<Settings, Observation, Summary> = {
  schema: Summary,
  empty: { up: null, down: null, above: null, below: null, dueAt: null },
  add(summary, { settings, states }, { at }) {
    const stored = states.get('price-move')
    if (stored === undefined) return summary
    const { baseline, firedAt } = State.parse(stored)
    const { percent, windowSeconds, direction } = settings
    const windowMs = windowSeconds * 1000
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
function ownExample(watch: ExampleWatch<Target, Settings, Observation>): JsonObject {
  const { baseline, now } = exampleMove(watch)
  return (
    evaluatePriceMove({ baseline, firedAt: null }, now, watch).firings[0]?.data ?? PRICE_EXAMPLE
  )
}

const priceMoveSignal = defineSignal<Target, Settings, Observation, State>({
  id: 'price-move',
  group: 'alerts',
  events: { alerts: ['feed-move.threshold'] },
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

const form: SignalForm<Target, Settings, Observation> = {
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
  ],
  presets: {
    calm: { percent: '10', windowSeconds: '86400' },
    usual: { percent: '5', windowSeconds: '3600' },
    nervous: { percent: '2', windowSeconds: '900' },
  },
  facts: ({ target: { feed }, settings, observation }) => ({
    feed: { kind: 'name', text: observation?.feed ?? feedName(feed) ?? feed },
    ...(settings && {
      percent: { kind: 'percent', value: settings.percent / WHOLE_PERCENT },
      window: { kind: 'duration', seconds: settings.windowSeconds },
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
export const feedMove = defineWatchType<Target, Settings, Observation, KeySettings, Summary>({
  name: 'feed-move',
  target: Target,
  settings: Settings,
  observation: Observation,
  keySettings: { schema: KeySettings, of: ({ windowSeconds }) => ({ windowSeconds }) },
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
    if (direction !== 'down' || percent < WHOLE_PERCENT) return []
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
  signals: [priceMoveSignal],
})
